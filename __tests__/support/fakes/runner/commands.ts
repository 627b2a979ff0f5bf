/** The log of the action without stdout of the process, to which @actions/core always writes. */
import * as core from '@actions/core';
import type { Commands } from '../../../../src/reporters/log.ts';

/** The commands of @actions/core, with their output passed to `write`. */
export function writeCommands(write: (text: string) => void): Commands {
  const redirect =
    <A extends unknown[]>(command: (...values: A) => void) =>
    (...values: A) => {
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
  return {
    info: redirect(core.info),
    error: redirect(core.error),
    warning: redirect(core.warning),
    notice: redirect(core.notice),
    setSecret: redirect(core.setSecret),
    startGroup: redirect(core.startGroup),
    endGroup: redirect(core.endGroup),
  };
}
