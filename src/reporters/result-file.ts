/** The file that `run-result-file` names: the envelope, whole whatever its size. */
import { InputError } from '../errors.ts';
import type { Secrets } from '../text/secrets.ts';
import type { JsonObject } from '../types.ts';
import { envelope } from './envelope.ts';
import { writePrivateFile } from './private-file.ts';
import type { Report } from './report-types.ts';

/** Signs an envelope: its masked form, exactly as it is written, and without a signature. */
type Sign = (envelope: JsonObject) => string;

/**
 * Writes the envelope to the report's `resultFile` as one line of JSON and a newline, atomically, readable for its owner
 * only; nothing happens where the report names no file.
 * @param sign gives the last field, `signature`; without it there is none.
 * @throws InputError when the file cannot be written: an output that does not come is exit 52.
 */
export function writeResultFile(report: Report, secrets: Secrets, sign: Sign | null = null): void {
  const file = report.resultFile;
  if (file === null) return;
  try {
    const told = envelope(report, secrets.mask);
    const whole = sign === null ? told : { ...told, signature: sign(told) };
    writePrivateFile(file, `${JSON.stringify(whole)}\n`);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `result-file ${JSON.stringify(file)} cannot be written: ${why}. Name a file that can be.`;
    throw new InputError('result-file', message, { cause });
  }
}
