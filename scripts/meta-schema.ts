/**
 * Writes src/contract/draft-07-meta-schema.ts, Ajv's own check of a schema as code: `node scripts/meta-schema.ts`. Left
 * to itself Ajv makes that code anew at each start, which takes as long as everything else that reads the judge. With
 * `--check` it only compares, and exits 1 when the file is not what the installed Ajv gives.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { options } from '../src/contract/ajv-options.ts';
import { draft07Id } from '../src/contract/draft-07.ts';

/** Where the module lies. */
export const META_SCHEMA_TS = fileURLToPath(
  new URL('../src/contract/draft-07-meta-schema.ts', import.meta.url),
);

/** The text of the module. */
export function metaSchemaModule(): string {
  const ajv = new Ajv({ ...options, code: { source: true, esm: true } });
  const validate = ajv.getSchema(draft07Id);
  if (validate === undefined) throw new Error(`Ajv has no meta-schema ${draft07Id}.`);
  // Node and the bundler give a CommonJS module's default in two ways.
  const code = standalone
    .default(ajv, validate)
    .replace('"use strict";', '')
    .replace('export const validate = validate0;export default validate0;', '')
    .replaceAll('require("ajv/dist/runtime/equal").default', '(equal.default ?? equal)');
  if (code.includes('require(')) throw new Error('The code needs a module that this script does not know.');
  return `// @ts-nocheck
// Written by \`node scripts/meta-schema.ts\` with the installed Ajv: change that, not this.
import type { ValidateFunction } from 'ajv';
import equal from 'ajv/dist/runtime/equal.js';

${code}

/** Ajv's check of a draft-07 schema. */
export const validateSchema: ValidateFunction = validate0;
`;
}

if (import.meta.main) {
  const text = metaSchemaModule();
  if (!process.argv.includes('--check')) writeFileSync(META_SCHEMA_TS, text);
  else if (readFileSync(META_SCHEMA_TS, 'utf8') !== text) {
    console.error('src/contract/draft-07-meta-schema.ts is out of date. Run: node scripts/meta-schema.ts');
    process.exitCode = 1;
  }
}
