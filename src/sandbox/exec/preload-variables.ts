/** Variables of a command that make bash or git run what somebody else wrote, before a line of the command itself runs. */
import { posix } from 'node:path';
import { isInside } from '../workspace/path-policy.ts';

/** What a command is given of the step's variables. */
export interface SteeringOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly passEnv: readonly string[];
  /** Absolute. */
  readonly workspace: string;
}

/** Read by the dynamic linker (ld.so(8), dyld(1)) and by shells as they start (bash(1), POSIX sh). */
const STEERING = /^(?:(?:LD|DYLD)_\w+|BASH_ENV|ENV)$/u;

/**
 * The first variable by which files of the workspace come into every program that a command starts: whoever changes those
 * files chooses what git answers. null where there is none.
 */
export function steeringVariable({ environment, passEnv, workspace }: SteeringOptions): string | null {
  // The only one of them that commands get unasked.
  const names = ['LD_LIBRARY_PATH', ...passEnv.filter((name) => STEERING.test(name))];
  const fromHere = (place: string) => !place.startsWith('/') || isInside(posix.resolve(place), workspace);
  return names.find((name) => places(environment[name] ?? '').some(fromHere)) ?? null;
}

/** An empty place between two others is the folder in which the program stands. */
function places(value: string): readonly string[] {
  return value === '' ? [] : value.split(/[:; ]/u);
}
