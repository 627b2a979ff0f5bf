/** Everything that is thrown on purpose. All else that is thrown is a bug. */
import { type Entry, namingFor, type Wording } from './text/naming.ts';

/** An error whose message may name inputs, which users of different entries write differently. */
abstract class WordedError extends Error {
  readonly #wording: Wording;

  /** @param message the same text for every entry, or one made for the reader's; `message` itself has the action's words. */
  constructor(message: string | Wording, options?: ErrorOptions) {
    const wording = typeof message === 'string' ? () => message : message;
    super(wording(namingFor('action')), options);
    this.#wording = wording;
  }

  /** The message in the words of one entry. */
  messageFor(entry: Entry): string {
    return this.#wording(namingFor(entry));
  }
}

/** The message of anything that was thrown, in the words of one entry. */
export function messageFor(error: unknown, entry: Entry): string {
  if (error instanceof WordedError) return error.messageFor(entry);
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of an error of the system or of Node (`ENOENT`, `EACCES`, …); null for anything else. */
export function errorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** The first code down a chain of causes: Node hides the system's own error below one or two others. */
export function causeCode(error: unknown): string | null {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const code = errorCode(current);
    if (code !== null) return code;
    current = current.cause;
  }
  return null;
}

/** The user typed something that cannot be meant: exit 52. The message names the input and the fix. */
export class InputError extends WordedError {
  override readonly name = 'InputError';
  /** The input that is wrong, in kebab-case; null when it is none in particular. */
  readonly input: string | null;

  constructor(input: string | null, message: string | Wording, options?: ErrorOptions) {
    super(message, options);
    this.input = input;
  }
}

/** More problems than these are counted, not listed. */
const MAX_LISTED = 20;

/**
 * Does nothing where there is no problem.
 * @throws InputError that lists every problem; the only one as it is, and an error of another kind, which is a bug, alone.
 */
export function throwProblems(problems: readonly Error[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const bug = problems.find((each) => !(each instanceof InputError));
  if (bug !== undefined || problems.length === 1) throw bug ?? first;
  throw new InputError(null, ({ entry }) => {
    const listed = problems.slice(0, MAX_LISTED).map((each, at) => `(${at + 1}) ${messageFor(each, entry)}`);
    const more = problems.length > MAX_LISTED ? ` And ${problems.length - MAX_LISTED} more.` : '';
    return `${problems.length} problems to fix: ${listed.join(' ')}${more}`;
  });
}

/** No key for the model, and `on-missing-key: skip`: nothing is judged, and the step is green. */
export class MissingKeyError extends WordedError {
  override readonly name = 'MissingKeyError';
}

/** Which check of the contract pipeline refused a schema or a gate. */
export type ContractStage = 'source' | 'shape' | 'root' | 'compile';

/** A schema or a gate that cannot be a contract: exit 52. */
export class ContractError extends WordedError {
  override readonly name = 'ContractError';
  readonly stage: ContractStage;

  constructor(stage: ContractStage, message: string | Wording, options?: ErrorOptions) {
    super(message, options);
    this.stage = stage;
  }
}

/** What went wrong at the model's API, after every retry. `tool_choice` is a refused forced choice. */
export type ProviderFailure =
  | 'auth'
  | 'rate_limit'
  | 'overloaded'
  | 'context_overflow'
  | 'tool_choice'
  | 'error';

/** The model's API did not give a completion. */
export class ProviderError extends WordedError {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;
  /** HTTP status; null when there was no response. */
  readonly status: number | null;
  readonly requestId: string | null;

  constructor(
    failure: ProviderFailure,
    message: string | Wording,
    details: { status?: number | null; requestId?: string | null; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.failure = failure;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
  }
}

/** A replay is not asked what was asked when it was recorded: reason `replay_mismatch`. The message says what differs. */
export class ReplayError extends WordedError {
  override readonly name = 'ReplayError';
}

/** The sandbox is required and absent, or broken: exit 44. The message carries one fix to paste. */
export class SandboxError extends WordedError {
  override readonly name: string = 'SandboxError';
}

/**
 * What the workspace holds makes a sandbox around it impossible: exit 44, with `sandbox: auto` too, because the author of
 * the files must not be able to take the shell away. The message names the path.
 */
export class WorkspaceError extends SandboxError {
  override readonly name = 'WorkspaceError';
}

/** A reporter could not do its work: a warning, never a changed verdict. */
export class ReportError extends Error {
  override readonly name = 'ReportError';
}

/** A request that never reached its server: a proxy or a certificate is in the way. The message names the fix. */
export class NetworkError extends WordedError {
  override readonly name = 'NetworkError';
  /** The code of the system or of TLS, such as `ECONNREFUSED`; null where there is none. */
  readonly code: string | null;
  /** Whether the same request may get through another time. */
  readonly passing: boolean;

  constructor(
    message: string | Wording,
    details: { code: string | null; passing: boolean; cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.passing = details.passing;
  }
}

/** Why GitHub's API did not do what it was asked; `unavailable` covers everything that may pass. */
export type GitHubFailure =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'invalid'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable';

/** GitHub's API refused or failed, after every retry. The message says what failed and the fix, and holds no token. */
export class GitHubError extends Error {
  override readonly name = 'GitHubError';
  readonly kind: GitHubFailure;
  /** HTTP status; null when there was no answer. */
  readonly status: number | null;

  constructor(
    kind: GitHubFailure,
    message: string,
    details: { status?: number | null; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.status = details.status ?? null;
  }
}
