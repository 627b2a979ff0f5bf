/** Schemas published by other projects; fixtures/schemas/SOURCES.txt lists their sources. */
import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import type { JsonObject } from '../../../src/types.ts';

/** A published schema. */
export interface Published {
  /** The package and the path in it. */
  readonly source: string;
  readonly schema: JsonObject;
  /** Payloads published with the schema. */
  readonly instances?: readonly JsonObject[];
}

/** All published schemas, in the order of the fixture. */
export function publishedSchemas(): readonly Published[] {
  const file = new URL('../../fixtures/schemas/published.jsonl.br', import.meta.url);
  const lines = brotliDecompressSync(readFileSync(file)).toString('utf8').trim().split('\n');
  return lines.map((line): Published => JSON.parse(line));
}
