/** Reports of every ending without a verdict, to be looked at: see `scripts/render-summary.ts`. */
import { sampleReport, unpublished } from '../__tests__/reporters/sample-report.ts';
import {
  ContractError,
  InputError,
  MissingKeyError,
  ProviderError,
  type ProviderFailure,
  SandboxError,
} from '../src/errors.ts';
import { providerError } from '../src/providers/errors.ts';
import type { Report, TurnRecord } from '../src/reporters/report-types.ts';
import { type Ending, verdictOf } from '../src/run/verdict.ts';
import { describeMissingSandbox } from '../src/sandbox/isolation/host.ts';

/** The limits that the sentences speak of. */
export const LIMITS = {
  turns: '30 turns (max-turns)',
  time: '10 minutes',
  tokens: '50000 tokens',
  cost: '$0.5',
};

/** A turn with its calls; later ones are slower and larger. */
export function turn(number: number, ...calls: TurnRecord['calls']): TurnRecord {
  return {
    turn: number,
    forced: false,
    durationMs: 1400 + number * 37,
    usage: {
      inputTokens: 2000 + 900 * number,
      outputTokens: 90,
      cachedInputTokens: 1000,
      cacheWriteTokens: 0,
    },
    calls,
  };
}

/** A call and how it went. */
export function call(
  name: string,
  target: string,
  durationMs: number,
  decision: 'ok' | 'error' = 'ok',
): TurnRecord['calls'][number] {
  return { name, target, decision, durationMs };
}

const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
/** A run that ended before a model was asked. */
const unstarted: Partial<Report> = {
  turns: [],
  turnCount: 0,
  usage: noUsage,
  costUsd: null,
  durationMs: 38,
  changedFiles: null,
};

function ended(ending: Ending, changes: Partial<Report> = {}): Report {
  const turns = changes.turnCount ?? 2;
  const verdict = verdictOf(ending, { turns, gate: null, limits: LIMITS, door: 'action' });
  return sampleReport({ ...unpublished(''), ...changes, verdict });
}

function thrown(error: unknown, changes: Partial<Report> = {}): Report {
  return ended({ kind: 'failed', error }, changes);
}

function provider(failure: ProviderFailure, message: string): Report {
  return thrown(new ProviderError(failure, message, { status: null }));
}

const refusedKey = providerError(
  {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    param: null,
    message: 'Incorrect API key provided: sk-c***.',
    requestId: null,
    cause: null,
  },
  {
    model: 'gpt-5',
    keySource: 'the input api-key',
    hasKey: true,
    hasDefaultHost: false,
    chatHint: false,
    host: 'api.openai.com',
    forced: false,
  },
);

/** The reports by name. */
export const endingReports: Readonly<Record<string, Report>> = {
  'plain-text': ended(
    {
      kind: 'plain_text',
      text: 'I have finished the review. Everything looks **good** to me, @octocat! The tests pass.',
      empty: false,
      truncated: false,
    },
    { turns: [turn(1), { ...turn(2), forced: true }] },
  ),
  refusal: ended({ kind: 'refused', text: '' }),
  'provider-auth': thrown(refusedKey, { ...unstarted, model: 'gpt-5' }),
  'provider-rate-limit': provider(
    'rate_limit',
    'api.openai.com answered 429 for gpt-5 in every try: Rate limit reached. Run again later, or run fewer jobs at a time.',
  ),
  'provider-overloaded': provider(
    'overloaded',
    'api.anthropic.com answered 529 for claude-sonnet-4-5 in every try: Overloaded. Run again later.',
  ),
  'provider-error': provider(
    'error',
    'No connection to 127.0.0.1:11434 (ECONNREFUSED). Check base-url; in a container job localhost is the container.',
  ),
  'context-overflow': provider(
    'context_overflow',
    'The conversation is longer than claude-sonnet-4-5 takes. Give the agent a smaller task, or lower max-tool-output-kb.',
  ),
  'secret-in-payload': ended({ kind: 'secret', where: '/summary, base64' }),
  tampered: ended({ kind: 'tampered', file: '.git/hooks/pre-push', isClosed: false }),
  internal: thrown(new TypeError('Cannot read properties of undefined')),
  'no-sandbox': thrown(new SandboxError(describeMissingSandbox('linux')), {
    ...unstarted,
    turnCount: 1,
    isolation: 'none',
  }),
  'config-error': thrown(
    new InputError(
      'provider',
      'No provider is known for the model "my-model". Set provider to one of openai, anthropic, openai-compatible, or set base-url for a compatible server.',
    ),
    { ...unstarted, model: '', provider: '', isolation: 'none' },
  ),
  'schema-error': thrown(
    new ContractError('compile', 'schema: strict mode: unknown keyword: "requried". Correct its spelling.'),
    { ...unstarted, isolation: 'none' },
  ),
  'max-turns': ended(
    {
      kind: 'exhausted',
      limit: 'turns',
      lastIssues: [
        { path: '/findings/3/line', keyword: 'type' },
        { path: '', keyword: 'required' },
      ],
    },
    {
      turns: Array.from({ length: 30 }, (_, at) => turn(at + 1, call('shell', `npm test -- ${at}`, 1200))),
      turnCount: 30,
    },
  ),
  timeout: ended({ kind: 'exhausted', limit: 'time', lastIssues: [] }, { durationMs: 600_112 }),
  'max-tokens': ended({ kind: 'exhausted', limit: 'tokens', lastIssues: [] }),
  'max-cost': ended({ kind: 'exhausted', limit: 'cost', lastIssues: [] }),
  cancelled: ended({ kind: 'cancelled', signal: 'SIGTERM' }, { durationMs: 61_000 }),
  skipped: thrown(
    new MissingKeyError(
      'Nothing was judged, and this step is green all the same (on-missing-key: skip). No key for provider anthropic. A pull request from a fork gets no secrets.',
    ),
    { ...unstarted, isolation: 'none' },
  ),
};
