import { expect, it } from 'vitest';
import { readPolicy } from '../../../src/commands/check/schema.ts';
import { localFiles } from '../../support/worlds/quiet.ts';

const files = localFiles(async () => ({ ok: false, problem: 'there is none' }));
const SCHEMA =
  '{"type":"object","required":["passed"],"properties":{"passed":{"type":"boolean"}},"additionalProperties":false}';

it.each<readonly [string | null | undefined, readonly string[]]>([
  [null, ['schema']],
  ['auto', ['schema']],
  ['passed', []],
  ['none', []],
  [undefined, []],
])('warns about a schema with "passed" only when the gate does not check it (%s)', async (gate, inputs) => {
  const { faults } = await readPolicy(SCHEMA, gate, files);
  expect(faults.map(({ input }) => input)).toEqual(inputs);
});
