/** Helpers for most tests: a directory, known secrets, a log, the error of a rejected input, hostile texts. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as core from '@actions/core';
import fc from 'fast-check';
import { afterAll } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { createLog } from '../../src/reporters/log.ts';
import { createSecrets, type Secrets } from '../../src/text/secrets.ts';

/** Creates a directory for the tests of a file or a `describe` and removes it afterwards. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'test-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The known secrets of a run. */
export function knowSecrets(...values: readonly string[]): Secrets {
  const secrets = createSecrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

/** Opens a log in memory, with the text written so far. */
export function captureLog(secrets = createSecrets()) {
  let text = '';
  const note = (part: string) => {
    text += part;
  };
  const commands = {
    info: redirect(core.info, note),
    error: redirect(core.error, note),
    warning: redirect(core.warning, note),
    notice: redirect(core.notice, note),
    startGroup: redirect(core.startGroup, note),
    endGroup: redirect(core.endGroup, note),
  };
  return { log: createLog(commands, secrets, () => 'tok'), text: () => text };
}

/** Returns a command of @actions/core, which always writes to stdout of the process, with its output passed to `write`. */
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

/** Returns the InputError of a rejected input and rethrows any other error. */
export function refusalOf(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('The input was accepted.');
}

/** Any code point, also half of a pair. The unit `binary` of fast-check takes a second to be made. */
export const anyCharacter = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point));

/** Arbitrary texts that mix significant pieces with any characters. */
export function textOf(
  pieces: readonly string[],
  { pieceCount = 8, other = fc.string({ unit: anyCharacter, maxLength: 4 }) } = {},
): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...pieces), other);
  return fc.array(piece, { maxLength: pieceCount }).map((parts) => parts.join(''));
}
