import { describe, expect, it } from 'vitest';
import {
  ContractError,
  InputError,
  ProviderError,
  type ProviderFailure,
  ReplayError,
  SandboxError,
} from '../../src/errors.ts';
import { type Ending, preview, type VerdictFacts, verdictOf } from '../../src/run/ending-sentences.ts';

const settings = { maxTurns: 3, timeoutMs: 90_000, maxTotalTokens: 1_000, maxCostUsd: 0.5 };
const excluding = { ...settings, excludeTools: ['structured_output'] } as const;
const facts: VerdictFacts = {
  turns: 3,
  gate: { status: 'none', issues: [] },
  config: { ...settings, excludeTools: [] },
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
    [submitted, 'inconclusive cancelled 130 error_cancelled, published', { signal: 'SIGTERM' }],
    [{ kind: 'cancelled', signal: 'SIGINT' }, 'inconclusive cancelled 130 error_cancelled'],
    [plainText, 'inconclusive plain_text 1 error_plain_text'],
    [{ kind: 'refused', text: 'x' }, 'inconclusive refusal 1 error_refusal'],
    [exhausted('turns'), 'inconclusive max_turns 53 error_max_turns'],
    [exhausted('time'), 'inconclusive timeout 55 error_budget'],
    [exhausted('tokens'), 'inconclusive max_tokens 55 error_budget'],
    [exhausted('cost'), 'inconclusive max_cost 55 error_budget'],
    [{ kind: 'no_verdict', reason: 'tampered', text: 'x' }, 'inconclusive tampered 1 error_security'],
    [provider('auth'), 'inconclusive provider_auth 1 error_provider'],
    [provider('rate_limit'), 'inconclusive provider_rate_limit 1 error_provider'],
    [provider('overloaded'), 'inconclusive provider_overloaded 1 error_provider'],
    [provider('context_overflow'), 'inconclusive context_overflow 1 error_provider'],
    [provider('tool_choice'), 'inconclusive provider_error 1 error_provider'],
    [provider('error'), 'inconclusive provider_error 1 error_provider'],
    [failed(new ReplayError('x')), 'inconclusive replay_mismatch 1 error_replay'],
    [failed(new SandboxError('x')), 'inconclusive sandbox 44 error_sandbox'],
    [failed(new InputError('model', 'x')), 'inconclusive config 52 error_config'],
    [failed(new ContractError('gate', 'root', 'x')), 'inconclusive config 52 error_config'],
    [failed(new TypeError('x')), 'inconclusive internal 1 error_internal'],
    [failed('thrown text'), 'inconclusive internal 1 error_internal'],
  ])('for %j is %s', (ending, expected, more) => {
    expect(row(ending, more)).toBe(expected);
    const { error } = verdictOf(ending, { ...facts, ...more });
    expect(error === null).toBe(expected.startsWith('success'));
  });

  const missing = { path: '', keyword: 'required', missing: 'summary', message: 'QUOTED' };
  const server = 'Check that the server is up, and `base-url` if it is set.';
  const silent = (seconds: number, notice: string | null = null): Ending => ({
    ...exhausted('time'),
    pending: { to: 'api.test:443', seconds, notice },
  });
  const busy = 'api.test:443 answered 503: try 4 of 11';
  const gone = 'api.test:443 could not be reached (ECONNREFUSED): try 4 of 11';
  const said = (seconds: number) => `api.test:443 had given no answer to the last request for ${seconds} s. `;
  it.each<[string, Ending, string, number?]>([
    [
      'a repeated call, and the last issue without its message',
      { ...exhausted('turns'), lastIssues: [missing], repeated: true },
      'Stopped after 3 turns: the model repeated the same rejected call of structured_output. ' +
        'The last call of structured_output was rejected at the root (required: summary). ' +
        'Likely cause: the schema cannot be met, or its descriptions do not say what it wants.',
    ],
    [
      'the limit',
      exhausted('turns'),
      'Stopped after 3 turns: the limit of 3 turns (max-turns) is reached. Likely causes: the schema cannot be met, or max-turns is too small for the task.',
    ],
    ['the limit of time', exhausted('time'), 'the limit of 1.5 minutes (timeout-minutes) is reached.'],
    ['the limit of tokens', exhausted('tokens'), 'the limit of 1,000 tokens (max-total-tokens) is reached.'],
    ['the limit of money', exhausted('cost'), 'the limit of $0.5 (max-cost-usd) is reached.'],
    ['a server that never answered', silent(6), `is reached. ${said(6)}${server}`, 0],
    ['a server that gave no answer for long', silent(240), `${said(240)}${server}`],
    [
      'what a server answered',
      silent(6, busy),
      `after 6 s: ${busy}. Run again later, or raise timeout-minutes.`,
      0,
    ],
    ['why a server cannot be reached', silent(6, gone), `after 6 s: ${gone}. ${server}`, 0],
    ['a last request', silent(6), `${said(6)}Raise it, or give the agent a smaller task.`],
  ])('of a run that is out of something names %s', (_, ending, says, turns = 3) => {
    expect(verdictOf(ending, { ...facts, turns }).error).toContain(says);
  });

  const instead = 'instead of calling structured_output, after 3 turns.';
  const cut = '(cut off by the output-token limit: see max-output-tokens)';
  const long = `a\n\n b ${'c'.repeat(300)}`;
  it.each<[string, boolean, boolean, string]>([
    [long, false, true, `plain text ${cut} ${instead} It wrote: "a b ${'c'.repeat(195)}…"`],
    [' \n', true, false, `an empty answer ${instead}`],
    ['No network.', true, false, `an empty answer ${instead} Before that it wrote: "No network."`],
  ])('for the text %j has the number of turns, and a preview', (text, empty, truncated, says) => {
    const { error } = verdictOf({ kind: 'plain_text', text, empty, truncated }, facts);
    expect(error).toBe(`The model ended with ${says}`);
  });

  it.each([plainText, ...(['turns', 'time', 'tokens', 'cost'] as const).map(exhausted)])(
    'names an excluded structured_output as the cause of %j',
    (ending) => {
      const { error } = verdictOf(ending, { ...facts, config: excluding });
      expect(error).toMatch(
        /^structured_output is excluded \(exclude-tools\), .*could not deliver one\. Remove it from exclude-tools\./u,
      );
      expect(error).not.toMatch(/instead of calling|Likely causes|Raise/u);
      expect(row(ending, { config: excluding })).toBe(row(ending));
    },
  );

  it.each<[Ending, Partial<VerdictFacts>, string]>([
    [exhausted('turns'), {}, 'or --max-turns is too small'],
    [{ ...plainText, truncated: true }, {}, 'see --max-output-tokens'],
    [plainText, { config: excluding }, 'Remove it from --exclude-tools.'],
    [failed(new ContractError('gate', 'root', 'It checks nothing.')), {}, '--gate: It checks nothing.'],
  ])('names the inputs as flags on the command line, after %j', (ending, more, says) => {
    expect(verdictOf(ending, { ...facts, ...more, entry: 'command-line' }).error).toContain(says);
  });

  it('for an unmet gate lists all issues in one sentence', () => {
    const messages = ['`/passed` must be true, is false', 'the payload has no "score"'];
    const broken = messages.map((message) => ({ path: '', keyword: 'const', message }));
    const { error } = verdictOf(submitted, { ...facts, gate: { status: 'not_met', issues: broken } });
    expect(error).toBe('The gate is not met: `/passed` must be true, is false; the payload has no "score".');
  });
});

it('a preview is one line of at most 200 characters without a split surrogate pair', () => {
  expect(preview('  a\r\n\tb  ')).toBe('a b');
  const long = preview('😀'.repeat(150));
  expect([long.length <= 200, long.isWellFormed()]).toEqual([true, true]);
});
