import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PRESETS_DOCUMENT, presetsDocument } from '../scripts/presets-document.ts';
import { createContract, createGate } from '../src/contract/contract.ts';
import { presets } from '../src/contract/presets.ts';

const text = readFileSync(PRESETS_DOCUMENT, 'utf8');

describe('docs/presets.md', () => {
  it('holds the tables and gates of the presets as schemas/ has them', () => {
    expect(text).toBe(presetsDocument(text));
  });

  it('has a row and a section for each preset', () => {
    for (const name of presets.keys()) {
      expect(text).toContain(`| [\`${name}\`](../schemas/${name}.schema.json) |`);
      expect(text).toContain(`\n## ${name}\n`);
    }
  });

  it('shows gates that each preset takes', async () => {
    const written = [...text.matchAll(/gate: (?:'(\{.*\})'|\|\n((?: {2}.*\n)+))/gu)].map(
      ([, inline, block]) => JSON.parse(inline ?? block ?? ''),
    );
    expect(written).toHaveLength(2);
    for (const schema of written) {
      const contract = await createContract(presets.get('security-review')?.schema ?? {});
      const { evaluate } = await createGate({ kind: 'schema', schema }, contract);
      expect(evaluate({ complete: true, findings: [] }).status).toBe('met');
      expect(evaluate({ complete: true, findings: [{ severity: 'critical' }] }).status).toBe('not_met');
    }
  });
});
