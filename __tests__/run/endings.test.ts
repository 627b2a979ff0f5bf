import { describe, expect, it } from 'vitest';
import {
  ContractError,
  InputError,
  ProviderError,
  type ProviderFailure,
  ReplayError,
  SandboxError,
} from '../../src/errors.ts';
import { type Ending, preview, type VerdictFacts, verdictOf } from '../../src/run/endings.ts';

const facts: VerdictFacts = {
  turns: 3,
  gate: { status: 'none', issues: [] },
  limits: { turns: '3 turns (max-turns)', time: '10 minutes', tokens: '1000 tokens', cost: '$2' },
  entry: 'action',
};
const submitted: Ending = { kind: 'submitted', payload: {}, repaired: null };
const issues = [{ path: '/passed', keyword: 'type', message: 'Must be boolean, not "QUOTED".' }];

function row(ending: Ending, more: Partial<VerdictFacts> = {}): string {
  const verdict = verdictOf(ending, { ...facts, ...more });
  const { conclusion, reason, exitCode, subtype, published } = verdict;
  return `${conclusion} ${reason} ${exitCode} ${subtype}${published ? ', published' : ''}`;
}

const failed = (error: unknown): Ending => ({ kind: 'failed', error });
const provider = (failure: ProviderFailure) => failed(new ProviderError(failure, 'x'));
const exhausted = (limit: 'turns' | 'time' | 'tokens' | 'cost') =>
  ({ kind: 'exhausted', limit, lastIssues: [] }) satisfies Ending;
const plainText: Ending = { kind: 'plain_text', text: 'All good.', empty: false, truncated: false };

describe('the verdict of an ending', () => {
  it.each<[Ending, string, Partial<VerdictFacts>?]>([
    [submitted, 'success accepted 0 success, published'],
    [submitted, 'success accepted 0 success, published', { gate: { status: 'met', issues: [] } }],
    [submitted, 'failure gate_not_met 1 gate_not_met, published', { gate: { status: 'not_met', issues } }],
    [
      { ...submitted, kind: 'interrupted', signal: 'SIGTERM' },
      'inconclusive cancelled 130 error_cancelled, published',
    ],
    [{ kind: 'cancelled', signal: 'SIGINT' }, 'inconclusive cancelled 130 error_cancelled'],
    [plainText, 'inconclusive plain_text 1 error_plain_text'],
    [{ kind: 'refused', text: 'x' }, 'inconclusive refusal 1 error_refusal'],
    [exhausted('turns'), 'inconclusive max_turns 53 error_max_turns'],
    [exhausted('time'), 'inconclusive timeout 55 error_budget'],
    [exhausted('tokens'), 'inconclusive max_tokens 55 error_budget'],
    [exhausted('cost'), 'inconclusive max_cost 55 error_budget'],
    [{ kind: 'secret', where: 'plain at /note' }, 'inconclusive secret_in_payload 1 error_security'],
    [{ kind: 'tampered', file: '.git/config' }, 'inconclusive tampered 1 error_security'],
    [provider('auth'), 'inconclusive provider_auth 1 error_provider'],
    [provider('rate_limit'), 'inconclusive provider_rate_limit 1 error_provider'],
    [provider('overloaded'), 'inconclusive provider_overloaded 1 error_provider'],
    [provider('context_overflow'), 'inconclusive context_overflow 1 error_provider'],
    [provider('tool_choice'), 'inconclusive provider_error 1 error_provider'],
    [provider('error'), 'inconclusive provider_error 1 error_provider'],
    [failed(new ReplayError('x')), 'inconclusive replay_mismatch 1 error_replay'],
    [failed(new SandboxError('x')), 'inconclusive sandbox 44 error_sandbox'],
    [failed(new InputError('model', 'x')), 'inconclusive config 52 error_config'],
    [failed(new ContractError('root', 'x')), 'inconclusive config 52 error_config'],
    [failed(new TypeError('x')), 'inconclusive internal 1 error_internal'],
    [failed('thrown text'), 'inconclusive internal 1 error_internal'],
  ])('for %j is %s', (ending, expected, more) => {
    expect(row(ending, more)).toBe(expected);
    const { error } = verdictOf(ending, { ...facts, ...more });
    expect(error === null).toBe(expected.startsWith('success'));
  });

  it('for max_turns names the last issue without its message, a likely cause, and a call that was repeated', () => {
    const lastIssues = [{ path: '', keyword: 'required', missing: 'summary', message: 'QUOTED' }];
    const ending = { kind: 'exhausted', limit: 'turns', lastIssues, repeated: true } as const;
    expect(verdictOf(ending, facts)).toMatchObject({
      reason: 'max_turns',
      exitCode: 53,
      error:
        'Stopped after 3 turns: the model repeated the same rejected call of structured_output. ' +
        'The last call of structured_output was rejected at the root (required: summary). ' +
        'Likely cause: the schema cannot be met, or its descriptions do not say what it wants.',
    });
    const excluded = verdictOf({ ...ending, lastIssues: [] }, { ...facts, structuredOutputExcluded: true });
    expect(excluded.error).toMatch(
      /^The run could not .*exclude-tools.* Stopped after 3 turns: the model repeated/u,
    );
  });

  it.each([
    [0, 6, 'Check that the server is up, and `base-url` if it is set.'],
    [3, 240, 'Check that the server is up, and `base-url` if it is set.'],
    [3, 6, 'Raise it, or give the agent a smaller task.'],
  ])('for a timeout after %i turns names the host that gave no answer for %i s', (turns, seconds, advice) => {
    const pending = { to: 'api.test:443', seconds };
    const { error } = verdictOf(
      { kind: 'exhausted', limit: 'time', lastIssues: [], pending },
      { ...facts, turns },
    );
    expect(error).toContain(
      `api.test:443 had given no answer to the last request for ${seconds} s. ${advice}`,
    );
  });

  it('for plain text contains the number of turns and a preview', () => {
    const { error } = verdictOf(
      { kind: 'plain_text', text: `a\n\n b ${'c'.repeat(300)}`, empty: false, truncated: true },
      facts,
    );
    expect(error).toContain('3 turns');
    expect(error).toContain('a b ccc');
    expect(error).toContain('max-output-tokens');
    expect(error).not.toContain('c'.repeat(200));
  });

  it('for an empty response contains a preview of the last text before it', () => {
    const empty = { kind: 'plain_text', empty: true, truncated: false } as const;
    expect(verdictOf({ ...empty, text: 'The tests need a network.' }, facts).error).toBe(
      'The model ended with an empty answer instead of calling structured_output, after 3 turns. Before that it wrote: "The tests need a network."',
    );
    expect(verdictOf({ ...empty, text: ' \n' }, facts).error).toBe(
      'The model ended with an empty answer instead of calling structured_output, after 3 turns.',
    );
  });

  it.each([plainText, ...(['turns', 'time', 'tokens', 'cost'] as const).map(exhausted)])(
    'names an excluded structured_output as the cause of %j',
    (ending) => {
      const { error } = verdictOf(ending, { ...facts, structuredOutputExcluded: true });
      expect(error).toMatch(
        /^The run could not deliver a verdict: structured_output is excluded \(exclude-tools\), .*Remove it from exclude-tools\./u,
      );
      expect(error).not.toMatch(/instead of calling|Likely causes|Raise/u);
      expect(row(ending, { structuredOutputExcluded: true })).toBe(row(ending));
      expect(verdictOf(ending, facts).error).not.toContain('is excluded');
    },
  );

  it('for an unmet gate lists all issues in one sentence', () => {
    const broken = ['`/passed` must be true, is false', 'the payload has no "score"'].map((message) => ({
      path: '',
      keyword: 'const',
      message,
    }));
    const { error } = verdictOf(submitted, { ...facts, gate: { status: 'not_met', issues: broken } });
    expect(error).toBe('The gate is not met: `/passed` must be true, is false; the payload has no "score".');
  });
});

describe('preview', () => {
  it('returns one line of at most 200 characters without a split surrogate pair', () => {
    expect(preview('  a\r\n\tb  ')).toBe('a b');
    const long = preview('😀'.repeat(150));
    expect(long.length).toBeLessThanOrEqual(200);
    expect(long.isWellFormed()).toBe(true);
    expect(preview('x'.repeat(200))).toBe('x'.repeat(200));
  });
});
