/** Schemas that others published; where they come from stands in fixtures/schemas/SOURCES.txt. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { JsonObject } from '../../../src/types.ts';

/** A published schema. */
export interface Published {
  /** The package and the place in it. */
  readonly source: string;
  readonly schema: JsonObject;
  /** Payloads that were published with it. */
  readonly instances?: readonly JsonObject[];
}

/** All of them, in the fixture's order. */
export function publishedSchemas(): readonly Published[] {
  const file = new URL('../../fixtures/schemas/published.jsonl.br', import.meta.url);
  const lines = brotliDecompressSync(readFileSync(file)).toString('utf8').trim().split('\n');
  return lines.map((line): Published => JSON.parse(line));
}
