/** What stands between a command and this machine: one file beside this one for each kind. */
import type { Isolation } from '../../types.ts';

/** How one command is started. */
export interface Launch {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What the child is told besides, and where it says how it goes; null for one that is told nothing. */
  readonly instructions: Instructions | null;
  /** How to find the processes of this command without a wall; null behind one. */
  readonly trace: Trace | null;
}

/**
 * What a child reads to its end. `descriptors`: on descriptor 3, and its status comes on 4. `standard`: on its input, and
 * its status comes on its error output (sudo closes all other descriptors).
 */
export interface Instructions {
  readonly text: string;
  readonly channel: 'descriptors' | 'standard';
}

/** What tells a command's processes from others. */
export interface Trace {
  /** An entry of the environment that this command alone was given. */
  readonly marker: string;
  /** None of them is older: clock ticks since boot. */
  readonly since: number;
}

/** A kind of isolation. */
export interface Wall {
  readonly name: Isolation;
  launch(command: string): Promise<Launch>;
  /** Whether commands run with the filter of `system-calls.ts`. */
  readonly filtersCalls?: boolean;
  /** Whether it may not come up for what goes by, such as a socket that goes while it is covered: then it is tried again. */
  readonly mayFailOnce?: boolean;
  /** Whether the command ran at all, judged from its status. */
  cameUp(status: string): boolean;
  /** Whether its status says all that a sweep needs to know; absent where a sweep needs none. */
  isNamed?(status: string): boolean;
  /**
   * Kills what a command started, and resolves when all of it is dead, or after 2 s.
   * @param child that was launched; its number may be another's once it has ended.
   * @param status its status so far.
   */
  sweep(child: Launched, status: string, launch: Launch): Promise<void>;
  /** Takes the wall down, once nothing runs behind it any more. */
  close(): Promise<void>;
}

/** A child as it was launched. */
export interface Launched {
  /** undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly ended: boolean;
}
