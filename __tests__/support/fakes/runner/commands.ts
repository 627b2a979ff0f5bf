/** The log of the action without stdout of the process, to which @actions/core always writes. */
import * as core from '@actions/core';
import type { Commands } from '../../../../src/reporters/log.ts';

/** Returns a command of @actions/core with its output passed to `write`. */
export function redirect<A extends unknown[]>(
  command: (...values: A) => void,
  write: (text: string) => void,
) {
  return (...values: A) => {
    const { stdout } = process;
    const real = stdout.write;
    stdout.write = (text: string | Uint8Array) => {
      write(String(text));
      return true;
    };
    try {
      command(...values);
    } finally {
      stdout.write = real;
    }
  };
}

export function writeCommands(write: (text: string) => void): Commands {
  return {
    info: redirect(core.info, write),
    error: redirect(core.error, write),
    warning: redirect(core.warning, write),
    notice: redirect(core.notice, write),
    startGroup: redirect(core.startGroup, write),
    endGroup: redirect(core.endGroup, write),
  };
}
