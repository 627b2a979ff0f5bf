import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OUTPUTS } from '../scripts/generate.ts';
import { INPUTS } from '../src/config/inputs.ts';
import { MERGE_NAMES } from '../src/merge/config.ts';
import { envelope } from '../src/reporters/envelope.ts';
import { sampleReport } from './reporters/sample-report.ts';
import { configFrom, mergeConfigFrom } from './support/fakes/runner/inputs.ts';

const root = path.join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const INPUT_NAMES = new Set<string>(INPUTS.map(({ name }) => name));
const pages = readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = [
  ...['README', 'AGENTS', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map((name) => `${name}.md`),
  ...pages.map((name) => `docs/${name}`),
];

describe('the documents', () => {
  it('README.md has at most 180 lines, and its quick start at most ten lines of YAML', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(180);
    const [quickStart = ''] = yamlBlocks('README.md');
    expect(quickStart.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  });

  it('docs/README.md lists every page', () => {
    for (const name of pages) if (name !== 'README.md') expect(read('docs/README.md')).toContain(`(${name})`);
  });

  it('the workflow of docs/many-legs.md has at most 45 lines', () => {
    expect(read('examples/many-legs.yml').trimEnd().split('\n').length).toBeLessThanOrEqual(45);
  });

  it('AGENTS.md has at most 100 lines and names every folder of src', () => {
    const text = read('AGENTS.md');
    expect(text.split('\n').length).toBeLessThanOrEqual(101);
    for (const entry of readdirSync(path.join(root, 'src'))) expect(text).toContain(entry);
  });

  it.each(documents)('%s links to existing files', (name) => {
    const links = [...read(name).matchAll(/\]\((?!https?:|#)([^)#]+)/gu)].map((match) => match[1] ?? '');
    for (const link of links) expect(existsSync(path.join(root, path.dirname(name), link)), link).toBe(true);
  });

  it('docs/envelope.md has a row for every field of an envelope, and no others', () => {
    const [fields = ''] = read('docs/envelope.md').split('\n## ');
    const documented = [...fields.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gmu)].flatMap((match) =>
      [...(match[1] ?? '').matchAll(/`(\w+)`/gu)].map((name) => name[1]),
    );
    const accepted = Object.keys(envelope(sampleReport(), (text) => text));
    for (const field of accepted) expect(documented).toContain(field);
    const others = documented.filter((field) => !accepted.includes(field ?? '')).toSorted();
    expect(others.join(' ')).toBe('error evidence last_assistant_text merged replayed scratch signature');
  });

  it('no document refers to ../shared', () => {
    for (const name of documents) expect(read(name)).not.toContain('../shared');
  });

  it('README.md and docs/troubleshooting.md have a row for every reason', () => {
    const reasons = [...read('src/types.ts').matchAll(/^export type Reason =((?:\s+\| '\w+')+);/gmu)].flatMap(
      (match) => [...(match[1] ?? '').matchAll(/'(\w+)'/gu)].map((reason) => reason[1] ?? ''),
    );
    expect(reasons.length).toBeGreaterThan(20);
    for (const name of ['README.md', 'docs/troubleshooting.md']) {
      const rows = read(name)
        .split('\n')
        .filter((line) => line.startsWith('|'))
        .join('\n');
      // A green run needs no advice.
      const listed = name === 'README.md' ? reasons : reasons.filter((reason) => reason !== 'accepted');
      for (const reason of listed) expect(rows, name).toContain(`\`${reason}\``);
    }
  });

  it('the quick start and the reference use existing inputs and outputs', () => {
    const ours = stepsIn(parse(yamlBlocks('README.md')[0] ?? ''));
    expect(Object.keys(ours[0] ?? {}).length).toBeGreaterThan(2);
    const outputs = [...read('docs/reference.md').matchAll(/steps\.review\.outputs\.([\w-]+)/gu)];
    expect(outputs.length).toBeGreaterThan(2);
    for (const [, name = ''] of outputs) expect(Object.keys(OUTPUTS)).toContain(name);
  });

  it.each(documents)('%s shows YAML with a valid configuration for the action', (name) => {
    for (const block of yamlBlocks(name)) {
      for (const given of stepsIn(parse(block))) {
        const task = 'prompt-file' in given ? {} : { prompt: 'x' };
        const inputs = { ...task, model: 'claude-sonnet-4-5', 'api-key': 'key', ...given };
        // An expression may give any value, or none.
        for (const name of ['base-url', 'refresh'])
          if (/^\$\{\{.*\}\}$/u.test(String(given[name]))) Reflect.deleteProperty(inputs, name);
        const texts = Object.entries(inputs).map(([input, value]) => [
          input,
          String(value ?? '').replace(
            /\$\{\{ .+? \}\}/gu,
            input === 'signing-key' ? 'x'.repeat(32) : 'anything',
          ),
        ]);
        expect(() => configFrom(Object.fromEntries(texts)), block).not.toThrow();
        for (const input of Object.keys(given)) expect(INPUT_NAMES, block).toContain(input);
      }
    }
  });

  it.each(documents)('%s shows YAML with a valid configuration for the merge action', (name) => {
    for (const block of yamlBlocks(name)) {
      for (const given of stepsIn(parse(block), MERGE_NAMES, 'org/structured-agent/merge@')) {
        const inputs = { verdicts: 'verdicts', expect: 'api, web, docs', ...given };
        const texts = Object.entries(inputs).map(([input, value]) => [
          input,
          String(value ?? '').replace(/\$\{\{ .+? \}\}/gu, 'x'.repeat(32)),
        ]);
        expect(() => mergeConfigFrom(Object.fromEntries(texts)), block).not.toThrow();
      }
    }
  });

  it('README.md lists every example', () => {
    const text = read('README.md');
    for (const file of readdirSync(path.join(root, 'examples')).filter((each) => each.endsWith('.yml')))
      expect(text).toContain(`(examples/${file})`);
  });
});

function yamlBlocks(name: string): readonly string[] {
  return [...read(name).matchAll(/```yaml\n([\s\S]*?)```/gu)].map((match) => match[1] ?? '');
}

/** The inputs that a block gives to an action: in steps, in jobs, or as lines of `with`. */
function stepsIn(
  yaml: unknown,
  names: readonly string[] = [...INPUT_NAMES],
  action = 'org/structured-agent@',
): readonly Readonly<Record<string, unknown>>[] {
  const inputsOf = (step: unknown) => {
    const { uses, with: given } = members(step);
    return String(uses).startsWith(action) ? [members(given)] : [];
  };
  if (Array.isArray(yaml)) return yaml.flatMap(inputsOf);
  const block = members(yaml);
  const keys = Object.keys(block);
  if (keys.length > 0 && keys.every((key) => names.includes(key))) return [block];
  return Object.values(members(block['jobs'])).flatMap((job) => {
    const { steps } = members(job);
    return Array.isArray(steps) ? steps.flatMap(inputsOf) : [];
  });
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
