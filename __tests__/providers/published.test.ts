import { expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { ContractError } from '../../src/errors.ts';
import { projectSchema } from '../../src/providers/wire-schema.ts';
import { testAll } from '../support/all.ts';
import { publishedSchemas } from '../support/schemas/published.ts';
import { compileWire, dialects, wireViolations } from '../support/schemas/wire-rules.ts';

it.runIf(testAll)(
  'published schemas are legal for every provider, and none of their payloads becomes unsayable',
  async () => {
    const legal = new Map(dialects.map((dialect) => [dialect, 0]));
    let [accepted, compared] = [0, 0];
    const unsayable: unknown[] = [];
    for (const { source, schema, instances = [] } of publishedSchemas()) {
      if (JSON.stringify(schema).length > 50_000) continue;
      const contract = await createContract(schema).catch((error: unknown) => {
        if (error instanceof ContractError) return null;
        throw error;
      });
      if (contract === null) continue;
      accepted += 1;
      const valid: unknown[] = [];
      for (const each of instances) {
        const { ok } = await contract.accept({ rawArguments: JSON.stringify(each), status: 'complete' });
        if (ok) valid.push(each);
      }
      compared += valid.length;
      for (const dialect of dialects) {
        const parameters = projectSchema(schema, dialect);
        if (wireViolations(parameters, dialect).length === 0)
          legal.set(dialect, (legal.get(dialect) ?? 0) + 1);
        const validate = compileWire(parameters, dialect);
        for (const each of valid) if (validate(each) !== true) unsayable.push([dialect, source, each]);
      }
    }
    console.log(`of ${accepted} schemas with ${compared} payloads are legal:`, Object.fromEntries(legal));
    expect(unsayable).toEqual([]);
    expect(accepted).toBeGreaterThan(180);
    for (const count of legal.values()) expect(count).toBeGreaterThanOrEqual(accepted - 3);
  },
  600_000,
);
