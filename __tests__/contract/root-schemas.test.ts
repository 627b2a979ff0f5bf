import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import type { Json } from '../../src/types.ts';

interface Row {
  readonly schema: Json;
  readonly expect: 'accept' | 'reject';
  readonly why: string;
  readonly stage?: string;
  readonly message?: string;
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../fixtures/root-schemas.json', import.meta.url), 'utf8'),
);

it.each(rows)('A13 row $#: $expect, $why', async ({ schema, ...row }) => {
  const error: unknown = await createContract(schema).then(
    () => null,
    (thrown) => thrown,
  );
  const message = expect.stringContaining(row.message ?? '');
  const refused = { name: 'ContractError', stage: row.stage, message };
  if (row.expect === 'accept') expect(error).toBeNull();
  else expect(error).toMatchObject(refused);
});
