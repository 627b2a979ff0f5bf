import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PRESETS_DOCUMENT, presetsDocument } from '../scripts/presets-document.ts';
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
});
