import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import { ContractError } from '../../src/errors.ts';
import { isArray, isObject } from '../../src/text/json.ts';
import type { Json } from '../../src/types.ts';

const fixture = new URL('../fixtures/root-schemas.json', import.meta.url);
const shared = new URL('../../../shared/conformance/root-schemas.json', import.meta.url);
const rows: Json = JSON.parse(readFileSync(fixture, 'utf8'));

const verdictOn = async (schema: Json) => {
  try {
    await createContract(schema);
    return { expect: 'accept', stage: undefined, message: '' };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { expect: 'reject', stage: error.stage, message: error.message };
  }
};

describe('the rows of root-schemas.json', () => {
  it('are the shared ones', () => {
    const copy = readFileSync(fixture, 'utf8');
    expect(copy).toBe(existsSync(shared) ? readFileSync(shared, 'utf8') : copy);
    expect(isArray(rows) ? rows.length : 0).toBeGreaterThanOrEqual(118);
  });

  for (const [index, row] of (isArray(rows) ? rows.filter(isObject) : []).entries()) {
    it(`A13 row ${index}: ${row['expect']}, ${row['why']}`, async () => {
      const schema = row['schema'] ?? null;
      const verdict = await verdictOn(schema);
      expect(verdict).toMatchObject({ expect: row['expect'] });
      expect(verdict.stage).toBe(row['stage']);
      expect(verdict.message).toContain(row['message'] ?? '');
      if (row['why'] === '$async makes every payload valid; the message names $async') {
        expect(verdict.message).toContain('$async');
      }
    });
  }
});
