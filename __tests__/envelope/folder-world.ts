/** A folder of envelopes, and helpers that read it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { type EnvelopeFile, readEnvelopes } from '../../src/envelope/envelope.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleReport } from '../reporters/sample-report.ts';

export const KEY = 'k'.repeat(32);
export const isRoot = process.getuid?.() === 0;
export let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'envelopes-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

export const made = (changes: Partial<Report> = {}): JsonObject =>
  envelope(sampleReport(changes), (text) => text);

export function put(file: string, content: JsonObject | string | Buffer): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(path.join(folder, file), isText ? content : `${JSON.stringify(content)}\n`);
}

export async function read(
  signingKey: string | null = null,
  at: string = folder,
): Promise<readonly EnvelopeFile[]> {
  const files: EnvelopeFile[] = [];
  for await (const file of readEnvelopes(at, signingKey)) files.push(file);
  return files;
}

/** For each file `ok`, or the reason why it is not an envelope. */
export async function outcomes(signingKey: string | null = null): Promise<Readonly<Record<string, string>>> {
  const files = await read(signingKey);
  return Object.fromEntries(
    files.map((each) => (each.ok ? [each.envelope.file, 'ok'] : [each.file, each.why])),
  );
}
