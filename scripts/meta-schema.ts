/** Makes the code of Ajv's own check of a draft-07 schema: left to itself Ajv makes it again at each start. */
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { options } from '../src/contract/create-ajv.ts';

/** Returns the module that the build puts in the place of src/contract/draft-07-meta-schema.ts. */
export function makeMetaSchema(): string {
  const ajv = new Ajv({ ...options, code: { source: true, esm: true } });
  const validate = ajv.getSchema('http://json-schema.org/draft-07/schema');
  if (validate === undefined) throw new Error('Ajv has no meta-schema of draft-07.');
  // Node and the bundler give a CommonJS module's default in two ways.
  const code = standalone
    .default(ajv, validate)
    .replace('"use strict";export const validate = validate0;export default validate0;', '')
    .replaceAll('require("ajv/dist/runtime/equal").default', '(equal.default ?? equal)');
  if (code.includes('require(')) throw new Error('The code needs a module that this script does not know.');
  return `import equal from 'ajv/dist/runtime/equal.js';\n${code}\nexport const validateSchema = validate0;\n`;
}
