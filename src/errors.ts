/** The errors that are thrown on purpose. Any other exception is a bug. */
import { LISTED } from './text/limits.ts';
import { type Entry, inputName } from './text/messages.ts';

/** Returns the message of any thrown value, with inputs named as in the action. */
export function messageOf(thrown: unknown): string {
  return messageFor(thrown, 'action');
}

/** Returns the message of any thrown value, with inputs named as users of an entry write them. */
export function messageFor(error: unknown, entry: Entry): string {
  if (!(error instanceof InputError)) return error instanceof Error ? error.message : String(error);
  const { input, message, problems } = error;
  const named = input === null ? message : `${inputName(input, entry)}: ${message}`;
  const listed = problems.slice(0, LISTED.many).map((each, at) => ` (${at + 1}) ${messageFor(each, entry)}`);
  const more = problems.length > LISTED.many ? ` And ${problems.length - LISTED.many} more.` : '';
  return `${named}${listed.join('')}${more}`;
}

/** Returns the `code` of a system or Node error (`ENOENT`, `EACCES`, …); null for anything else. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Returns the first code in a chain of causes: Node wraps the system's error in one or two others. */
export function causeCode(error: unknown): string | null {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const code = errorCode(current);
    if (code !== null) return code;
    current = current.cause;
  }
  return null;
}

/** The user gave an invalid value: exit 52. */
export class InputError extends Error {
  override readonly name: string = 'InputError';
  /** The invalid input, in kebab-case; null when the error is not about a particular input. */
  readonly input: string | null;
  /** The problems that this one stands for; empty for a single problem. */
  readonly problems: readonly InputError[];

  /** @param message a sentence about the input that does not name it, and the fix: `messageFor` puts the name before it. */
  constructor(
    input: string | null,
    message: string,
    options: ErrorOptions & { problems?: readonly InputError[] } = {},
  ) {
    super(message, options);
    this.input = input;
    this.problems = options.problems ?? [];
  }
}

/** Throws the only problem, or an InputError that holds all; and first an error of another class, which is a bug. */
export function throwProblems(problems: readonly Error[]): void {
  const wrong = problems.filter((each) => each instanceof InputError);
  const thrown = problems.find((each) => !(each instanceof InputError)) ?? wrong[0];
  if (thrown === undefined) return;
  if (!(thrown instanceof InputError) || wrong.length === 1) throw thrown;
  throw new InputError(null, `${wrong.length} problems to fix:`, { problems: wrong });
}

/** There is no key for the model, and `on-missing-key` is `skip`: the run is skipped and the step succeeds. */
export class MissingKeyError extends Error {
  override readonly name = 'MissingKeyError';
}

/** The step of the contract pipeline that refused a schema or a gate. */
export type ContractStage = 'source' | 'shape' | 'root' | 'compile';

/** A schema or a gate that cannot be used as a contract. */
export class ContractError extends InputError {
  override readonly name = 'ContractError';
  readonly stage: ContractStage;

  constructor(input: 'schema' | 'gate', stage: ContractStage, message: string) {
    super(input, message);
    this.stage = stage;
  }
}

/** What failed at the model's API, after all retries. `tool_choice`: the API refused a forced tool choice. */
export type ProviderFailure =
  | 'auth'
  | 'rate_limit'
  | 'overloaded'
  | 'context_overflow'
  | 'tool_choice'
  | 'error';

/** The model's API did not return a completion. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;
  /** HTTP status; null when there was no response. */
  readonly status: number | null;

  constructor(
    failure: ProviderFailure,
    message: string,
    details: ErrorOptions & { status?: number | null } = {},
  ) {
    super(message, details);
    this.failure = failure;
    this.status = details.status ?? null;
  }
}

/** The requests of a replay differ from the recorded ones: reason `replay_mismatch`. The message says what differs. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError';
}

/** The sandbox is required but missing or broken: exit 44. The message includes one fix to paste. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** A request did not reach its server because of a proxy or a certificate. The message names the fix. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  /** Whether a retry of the same request may succeed. */
  readonly passing: boolean;

  constructor(message: string, details: ErrorOptions & { passing: boolean }) {
    super(message, details);
    this.passing = details.passing;
  }
}

/** The GitHub API refused a request or failed, after all retries. The message names the fix and contains no token. */
export class GitHubError extends Error {
  override readonly name = 'GitHubError';
}
