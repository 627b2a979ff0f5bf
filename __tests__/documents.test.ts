/** What the documents name exists: files, headings, commands, flags, inputs, reasons, fields. */
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageFile from '../package.json' with { type: 'json' };
import envelopeSchema from '../schemas/envelope.schema.json' with { type: 'json' };
import { helpText } from '../src/cli/help.ts';
import { EXAMPLE_MODEL, INPUTS } from '../src/config/inputs.ts';
import { MERGE_NAMES } from '../src/merge/config.ts';
import { ENDINGS } from '../src/text/exit-codes.ts';
import { configFrom, mergeConfigFrom } from './support/fakes/runner/inputs.ts';

const root = path.join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const pages = globSync('**/*.md', { cwd: path.join(root, 'docs') });
const documents = [
  ...['README', 'AGENTS', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map((name) => `${name}.md`),
  ...pages.map((name) => `docs/${name}`),
];

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);
const blocksOf = (name: string, languages: string) =>
  all(read(name), new RegExp(`\`\`\`(?:${languages})\\n([\\s\\S]*?)\`\`\``, 'gu'));

/** The texts at or below a path of the repository. */
function filesIn(name: string): readonly string[] {
  const file = path.join(root, name);
  if (statSync(file).isFile()) return name.endsWith('.png') ? [] : [name];
  return readdirSync(file).flatMap((each) => filesIn(`${name}/${each}`));
}

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(name: string): readonly string[] {
  const headings = all(read(name), /^#+ (.+)$/gmu).map((heading) => heading.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

describe.each(documents)('%s', (name) => {
  const text = read(name);

  it('links to files and headings that exist', () => {
    for (const link of all(text, /\]\((?!https?:)([^)]+)\)/gu)) {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? name : path.join(path.dirname(name), file);
      expect(existsSync(path.join(root, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(target), link).toContain(anchor);
    }
  });

  it('has each row of a table in a table', () => {
    expect(all(text, /(?<!\|\n)^(\|.*)\n(?!\| ?-)/gmu)).toEqual([]);
  });

  it('names commands and flags that exist', () => {
    for (const script of all(text, /npm run ([\w:-]+)/gu))
      expect(packageFile.scripts).toHaveProperty([script]);
    for (const file of all(text, /\s((?:scripts|bench|examples|__tests__)\/[\w./-]*\w)/gu))
      expect(existsSync(path.join(root, file)), file).toBe(true);
    const help = helpText();
    const lines = blocksOf(name, 'sh|bash').flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
    // The other commands have flags of their own.
    for (const line of lines.filter((each) => /structured-agent (?!check|init|report)/u.test(each)))
      for (const flag of all(line, / (--[a-z][a-z-]*)/gu)) expect(help, line).toContain(flag);
  });

  it('names outputs that exist', () => {
    const actions = `${read('action.yml')}${read('merge/action.yml')}`;
    for (const output of all(text, /(?<![\w-])(run-[a-z][a-z-]*)/gu))
      expect(actions).toContain(`\n  ${output}:\n`);
  });

  it('shows YAML with a valid configuration for the actions', () => {
    const names = INPUTS.map((input): string => input.name);
    for (const block of blocksOf(name, 'yaml|yml')) {
      for (const given of inputsIn(parse(block), names, 'org/structured-agent@')) {
        const task = 'prompt-file' in given ? {} : { prompt: 'x' };
        const key = String(given['headers']).includes('Authorization:') ? {} : { 'api-key': 'key' };
        const inputs = { ...task, model: EXAMPLE_MODEL, ...key, ...given };
        expect(() => configFrom(textsOf(inputs)), block).not.toThrow();
      }
      for (const given of inputsIn(parse(block), MERGE_NAMES, 'org/structured-agent/merge@')) {
        const inputs = { verdicts: 'verdicts', expect: 'api, web, docs', ...given };
        expect(() => mergeConfigFrom(textsOf(inputs)), block).not.toThrow();
      }
    }
  });
});

it.each(['AGENTS.md', 'CONTRIBUTING.md', 'docs/architecture.md'])('%s names files that exist', (name) => {
  const files = all(read(name), /(?<![\w/.-])((?:[\w-]+\/)+[\w-]+\.ts)(?![\w-])/gu);
  expect(files.length).toBeGreaterThan(0);
  const isMissing = (file: string) => ['', 'src'].every((at) => !existsSync(path.join(root, at, file)));
  expect(files.filter(isMissing)).toEqual([]);
});

describe('the example model', () => {
  const sdk = 'node_modules/@anthropic-ai/sdk';

  it('is one that the SDK lists and does not call deprecated', () => {
    const types = read(`${sdk}/resources/messages/messages.d.ts`);
    const [, models] = /^export type Model = ([^;]+);/mu.exec(types) ?? [];
    const data = read(`${sdk}/internal/data/deprecated-models.js`);
    const [, deprecated] = /DEPRECATED_MODELS = [^{]*(\{[^}]+\})/mu.exec(data) ?? [];
    expect(models).toContain(`'${EXAMPLE_MODEL}'`);
    expect(deprecated).toBeDefined();
    expect(deprecated).not.toContain(`'${EXAMPLE_MODEL}'`);
  });

  it('is the only Sonnet that is named', () => {
    const files = ['README.md', 'docs', 'examples', 'src/commands/init', 'action.yml'].flatMap(filesIn);
    const named = files.flatMap((file) => all(read(file), /(claude-[\w.-]*sonnet[\w.-]*\w)/gu));
    expect([...new Set(named)]).toEqual([EXAMPLE_MODEL]);
  });
});

describe('the documents together', () => {
  it('list every page, every example and every folder of src', () => {
    for (const name of pages) if (name !== 'README.md') expect(read('docs/README.md')).toContain(`(${name})`);
    for (const name of globSync('examples/*.yml', { cwd: root }))
      expect(read('README.md')).toContain(`(${name})`);
    for (const name of readdirSync(path.join(root, 'src'))) expect(read('AGENTS.md')).toContain(name);
  });

  it('check out with one pinned version, as the check and init advise', () => {
    const texts = ['README.md', 'docs', 'examples', 'src'].flatMap(filesIn).map(read);
    const pins = texts.flatMap((text) => all(text, /actions\/checkout@(\w+(?: # v[\d.]+)?)/gu));
    expect(pins.length).toBeGreaterThan(10);
    expect([...new Set(pins)]).toEqual([expect.stringMatching(/^[0-9a-f]{40} # v7\./u)]);
  });

  it('have advice for every reason but that of a green run', () => {
    const rows = all(read('docs/troubleshooting.md'), /^(\|.*)$/gmu).join('\n');
    for (const reason of Object.keys(ENDINGS).slice(1)) expect(rows).toContain(`\`${reason}\``);
  });

  it('have a row for every field of an envelope, and for no other', () => {
    const [fields = ''] = read('docs/envelope.md').split('\n## ');
    const documented = all(fields, /^\| ((?:`\w+`(?:, )?)+) \|/gmu).flatMap((cell) => all(cell, /`(\w+)`/gu));
    expect(documented.toSorted()).toEqual(Object.keys(envelopeSchema.properties).toSorted());
  });
});

type Members = Readonly<Record<string, unknown>>;

/** The inputs that a block gives to an action: in steps anywhere in it, or as the lines of `with`. */
function inputsIn(value: unknown, names: readonly string[], action: string): readonly Members[] {
  if (typeof value !== 'object' || value === null) return [];
  const step: Members = { ...value };
  const keys = Object.keys(step);
  if (keys.length > 0 && keys.every((key) => names.includes(key))) return [step];
  if (String(step['uses']).startsWith(action)) return [Object(step['with'])];
  return Object.values(step).flatMap((each) => inputsIn(each, names, action));
}

/** The inputs as the runner passes them, with a text for each expression that is long enough for a key. */
function textsOf(inputs: Members): Readonly<Record<string, string>> {
  const texts = Object.entries(inputs)
    // An expression may give any value, or none.
    .filter(([name, value]) => !(name === 'base-url' && String(value).startsWith('${{')))
    .map(([name, value]) => [name, String(value ?? '').replace(/\$\{\{ .+? \}\}/gu, 'x'.repeat(32))]);
  return Object.fromEntries(texts);
}
