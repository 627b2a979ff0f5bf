import { expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { ContractError } from '../../src/errors.ts';
import { projectSchema } from '../../src/providers/wire-schema.ts';
import { testAll } from '../support/all.ts';
import { likelyInstance, seeded } from '../support/schemas/instances.ts';
import { publishedSchemas } from '../support/schemas/published.ts';
import { compileWire, dialects, wireViolations } from '../support/schemas/wire-rules.ts';

const published = publishedSchemas().filter(({ schema }) => JSON.stringify(schema).length < 50_000);

it.runIf(testAll).each(dialects)(
  'published schemas are legal for %s, and no valid payload becomes unsayable',
  async (dialect) => {
    let [accepted, instances] = [0, 0];
    const illegal: string[] = [];
    const unsayable: unknown[] = [];
    for (const [at, { source, schema, instances: given = [] }] of published.entries()) {
      const contract = await createContract(schema).catch((error: unknown) => {
        if (error instanceof ContractError) return null;
        throw error;
      });
      if (contract === null) continue;
      accepted += 1;
      const random = seeded(at);
      const made = Array.from({ length: 10 }, () => likelyInstance(contract.schema, random));
      const valid = [...given, ...made].filter((each) => {
        const check = contract.check({ rawArguments: JSON.stringify(each), status: 'complete' });
        return check.ok && check.repaired === null;
      });
      instances += valid.length;
      const { parameters } = projectSchema(schema, dialect);
      if (wireViolations(parameters, dialect).length > 0) illegal.push(source);
      const validate = compileWire(parameters, dialect);
      for (const each of valid) if (validate(each) !== true) unsayable.push([source, each]);
    }
    console.log(`${dialect}: ${accepted - illegal.length} of ${accepted} legal, ${instances} payloads`);
    expect(unsayable).toEqual([]);
    expect(accepted).toBeGreaterThan(180);
    expect(instances).toBeGreaterThan(800);
    expect(illegal.length).toBeLessThanOrEqual(3);
  },
  600_000,
);
