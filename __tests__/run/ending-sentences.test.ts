import { expect, it } from 'vitest';
import {
  ContractError,
  InputError,
  ProviderError,
  type ProviderFailure,
  ReplayError,
  SandboxError,
} from '../../src/errors.ts';
import { type Ending, preview, type VerdictFacts, verdictOf } from '../../src/run/ending-sentences.ts';
import type { GateResult } from '../../src/types.ts';

const settings = { maxTurns: 3, timeoutMs: 90_000, maxTotalTokens: 1_000, maxCostUsd: 0.5 };
const facts: VerdictFacts = {
  turns: 3,
  gate: { status: 'none', issues: [] },
  config: { ...settings, excludeTools: [] },
  entry: 'action',
};
const submitted: Ending = { kind: 'submitted', payload: {}, repaired: null };
const failed = (error: unknown): Ending => ({ kind: 'failed', error });
const provider = (failure: ProviderFailure) => failed(new ProviderError(failure, 'x'));
const exhausted = (limit: 'turns' | 'time' | 'tokens' | 'cost') =>
  ({ kind: 'exhausted', limit, lastIssues: [] }) satisfies Ending;
const clauses = ['`/passed` must be true, is false', 'the payload has no "score"'];
const issues = clauses.map((message) => ({ path: '', keyword: 'const', message }));
const unmet: GateResult = { status: 'not_met', issues };
const plainText: Ending = { kind: 'plain_text', text: 'All good.', empty: false, truncated: false };

it.each<[Ending, string, Partial<VerdictFacts>?]>([
  [submitted, 'success accepted 0 success, published'],
  [submitted, 'success accepted 0 success, published', { gate: { status: 'met', issues: [] } }],
  [submitted, 'failure gate_not_met 1 gate_not_met, published', { gate: unmet }],
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
])('the verdict of %j is %s', (ending, expected, more) => {
  const { error, published, ...verdict } = verdictOf(ending, { ...facts, ...more });
  const { conclusion, reason, exitCode, subtype } = verdict;
  const row = `${conclusion} ${reason} ${exitCode} ${subtype}${published ? ', published' : ''}`;
  expect([row, error === null]).toEqual([expected, conclusion === 'success']);
});

const LIMITS = (['turns', 'time', 'tokens', 'cost'] as const).map(exhausted);
const PENDING = { to: 'api.test:443', seconds: 6, notice: null };
const silent = (more: object): Ending => ({ ...exhausted('time'), pending: { ...PENDING, ...more } });
const busy = silent({ notice: 'api.test:443 answered 503: try 4 of 11' });
const gone = silent({ notice: 'api.test:443 could not be reached (ECONNREFUSED): try 4 of 11' });
const lastIssues = [{ path: '', keyword: 'required', missing: 'summary', message: 'QUOTED' }];
const long = `a\n\n b ${'c'.repeat(300)}`;
const noGate = failed(new ContractError('gate', 'root', 'It checks nothing.'));
const flags = { entry: 'command-line' } as const;
const without = { config: { ...settings, excludeTools: ['structured_output'] } };

const SENTENCES: readonly (readonly [of: string, readonly Ending[], facts?: Partial<VerdictFacts>])[] = [
  ['a limit', LIMITS],
  ['a repeated call', [{ ...exhausted('turns'), lastIssues, repeated: true }]],
  ['a last request, and one that takes long', [silent({}), silent({ seconds: 240 })]],
  ['a first request, and what is known of it', [silent({}), busy, gone], { turns: 0 }],
  ['plain text that was cut off', [{ ...plainText, text: long, truncated: true }]],
  ['an empty answer', [' \n', 'No network.'].map((text) => ({ ...plainText, text, empty: true }))],
  ['a run without structured_output', [plainText, ...LIMITS], without],
  ['an unmet gate', [submitted], { gate: unmet }],
  ['inputs that are flags', [exhausted('turns'), { ...plainText, truncated: true }, noGate], flags],
  ['an excluded tool that is a flag', [plainText], { ...without, ...flags }],
];

it('a verdict says what ended the run, and quotes no issue of a payload', async () => {
  const entries = SENTENCES.map(([of, endings, more]) => {
    const verdicts = endings.map((ending) => verdictOf(ending, { ...facts, ...more }));
    return `${of}\n${verdicts.map(({ reason, error }) => `  ${reason}: ${error}\n`).join('')}`;
  });
  expect(entries.join('')).not.toContain('QUOTED');
  await expect(entries.join('\n')).toMatchFileSnapshot('../golden/endings.txt');
});

it('a preview is one line of at most 200 characters without a split surrogate pair', () => {
  expect(preview('  a\r\n\tb  ')).toBe('a b');
  const long = preview('😀'.repeat(150));
  expect([long.length <= 200, long.isWellFormed()]).toEqual([true, true]);
});
