import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OUTPUTS } from '../scripts/action-yml.ts';
import { README, readme } from '../scripts/readme.ts';
import { INPUTS } from '../src/config/inputs.ts';
import { envelope } from '../src/reporters/envelope.ts';
import { sampleReport } from './reporters/sample-report.ts';

const root = path.join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const documents = [
  'README.md',
  'AGENTS.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`),
];

describe('the documents', () => {
  it('the README holds the tables of inputs and outputs as the code has them', () => {
    const text = readFileSync(README, 'utf8');
    expect(text).toBe(readme(text));
  });

  it('AGENTS.md has at most 100 lines and names every folder of src', () => {
    const text = read('AGENTS.md');
    expect(text.split('\n').length).toBeLessThanOrEqual(101);
    for (const entry of readdirSync(path.join(root, 'src'))) expect(text).toContain(entry);
  });

  it.each(documents)('%s points at files that are there', (name) => {
    const links = [...read(name).matchAll(/\]\((?!https?:|#)([^)#]+)/gu)].map((match) => match[1] ?? '');
    for (const link of links) expect(existsSync(path.join(root, path.dirname(name), link)), link).toBe(true);
  });

  it('docs/envelope.md has a row for every field of an envelope, and none beside', () => {
    const documented = [...read('docs/envelope.md').matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gmu)].flatMap(
      (match) => [...(match[1] ?? '').matchAll(/`(\w+)`/gu)].map((name) => name[1]),
    );
    const accepted = Object.keys(envelope(sampleReport(), (text) => text));
    for (const field of accepted) expect(documented).toContain(field);
    expect(documented.filter((field) => !accepted.includes(field ?? '')).toSorted()).toEqual([
      'error',
      'last_assistant_text',
    ]);
  });

  it('nothing in the tree points outside it', () => {
    for (const name of documents) expect(read(name)).not.toContain('../shared');
  });

  it("the README's workflow uses inputs and outputs that there are", () => {
    const yaml = /```yaml\n([\s\S]*?)```/u.exec(read('README.md'))?.[1] ?? '';
    const steps: unknown = parse(yaml);
    const ours = Array.isArray(steps)
      ? steps.find((step) => String(step.uses).startsWith('org/structured-agent@'))
      : undefined;
    const names = new Set<string>(INPUTS.map((input) => input.name));
    expect(Object.keys(ours?.with ?? {}).length).toBeGreaterThan(2);
    for (const name of Object.keys(ours?.with ?? {})) expect(names).toContain(name);
    for (const [, name = ''] of yaml.matchAll(/steps\.review\.outputs\.([\w-]+)/gu))
      expect(Object.keys(OUTPUTS)).toContain(name);
  });
});
