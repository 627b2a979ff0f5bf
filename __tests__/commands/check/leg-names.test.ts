import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingsOf } from './workflow-world.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../examples/many-legs.yml'), 'utf8');
const MATRIX = '{ leg: [correctness, security, compatibility], vote: [1, 2, 3] }';

/** The example with a matrix that lists its votes one by one, two of each leg. */
function listed(...pairs: readonly (readonly [leg: string, vote: string])[]): string {
  const items = pairs.map(([leg, vote]) => `{ leg: ${leg}, vote: ${vote} }`).join(', ');
  return EXAMPLE.replace(MATRIX, `{ include: [${items}] }`).replace('majority of 3', 'majority of 2');
}

describe('the votes of a matrix that lists them one by one', () => {
  it('may have other names in each leg', async () => {
    const text = listed(
      ['correctness', 'claude-sonnet-4-5'],
      ['correctness', 'claude-opus-4-1'],
      ['security', 'claude-sonnet-4-5'],
      ['security', 'claude-haiku-4-5'],
      ['compatibility', 'claude-opus-4-1'],
      ['compatibility', 'claude-haiku-4-5'],
    );
    expect(await findingsOf(text)).toEqual([]);
  });

  it('are of legs that are expected', async () => {
    const text = listed(['correctness', 'a'], ['security', 'a'], ['compatibilty', 'a']);
    expect(await findingsOf(text)).toContain('error leg-unexpected at leg:');
  });
});
