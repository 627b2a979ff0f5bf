import { describe, expect, it } from 'vitest';
import { type Contract, createContract } from '../../../src/contract/contract.ts';
import { ContractError } from '../../../src/errors.ts';
import { testAll } from '../../support/all.ts';
import { type Published, publishedSchemas } from '../../support/schemas/published.ts';
import { checkProjection, validInstances } from '../../support/schemas/wire-check.ts';
import { dialects } from './validate-wire.ts';

const published = testAll
  ? publishedSchemas().filter(({ schema }) => JSON.stringify(schema).length < 50_000)
  : [];

async function contractOf({ schema }: Published): Promise<Contract | null> {
  try {
    return await createContract(schema);
  } catch (error) {
    if (error instanceof ContractError) return null;
    throw error;
  }
}

describe.runIf(testAll)('projections of published schemas', () => {
  it('are valid tools that keep literals and names and accept every valid payload', async () => {
    const problems: unknown[] = [];
    let [accepted, instances] = [0, 0];
    for (const [at, each] of published.entries()) {
      const contract = await contractOf(each);
      if (contract === null) continue;
      accepted += 1;
      const valid = validInstances(contract, each.instances ?? [], 10, at);
      instances += valid.length;
      for (const dialect of dialects) {
        const check = checkProjection(each.schema, dialect, valid);
        if (check.problems.length > 0)
          problems.push({ source: each.source, dialect, problems: check.problems.slice(0, 3) });
      }
    }
    expect(problems).toEqual([]);
    expect(accepted).toBeGreaterThan(180);
    expect(instances).toBeGreaterThan(800);
  }, 600_000);
});
