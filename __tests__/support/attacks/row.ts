/** The form of an attack, that of the shared list. */

/** A tool call. */
export interface AttackCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** One attack. */
export interface AttackRow extends AttackCall {
  readonly id: string;
  readonly expect: Readonly<Record<string, unknown>>;
  /** Calls made first. */
  readonly pre?: readonly AttackCall[];
  /** A case about publishing or the gate: its payload is what attacks. */
  readonly unit?: string;
  /** false: for a machine that is thrown away afterwards. */
  readonly run?: boolean;
  /** The payload's schema, where it is not the usual one. */
  readonly schema?: unknown;
}
