/** What most tests need around the code under test: a folder, known secrets, a log, the error of a refusal, hostile texts. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { createLog, type Log } from '../../src/reporters/log.ts';
import { createSecrets, type Secrets } from '../../src/text/secrets.ts';
import { writeCommands } from './fakes/runner/commands.ts';

/** Makes a folder for the tests of a file or of a `describe`; it is removed after them. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'test-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Secrets that a run knows. */
export function knowSecrets(...values: readonly string[]): Secrets {
  const secrets = createSecrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

interface CapturedLog {
  readonly log: Log;
  /** All that was written to it. */
  text(): string;
}

/** Opens a log that is kept; regions without commands end with `token`. */
export function captureLog(secrets = createSecrets(), token: () => string = () => 'tok'): CapturedLog {
  let text = '';
  const core = writeCommands((part) => {
    text += part;
  });
  return { log: createLog({ core, secrets, token }), text: () => text };
}

/** Gives the error with which an input is refused; any other error is thrown on. */
export function refusalOf(action: () => unknown): InputError {
  try {
    action();
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  throw new Error('The input was accepted.');
}

/** Texts of pieces that mean something to a reader of the text, between characters of any kind. */
export function textOf(
  pieces: readonly string[],
  { pieceCount = 8, other = fc.string({ unit: 'binary', maxLength: 4 }) } = {},
): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...pieces), other);
  return fc.array(piece, { maxLength: pieceCount }).map((parts) => parts.join(''));
}
