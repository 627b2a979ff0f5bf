/**
 * Writes the files that are made from tables of the sources. With `--check` it only compares, and exits 1 if a file is not
 * what its table says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { ADVANCED_INPUTS, INPUTS, type Input, MAIN_INPUTS } from '../src/config/inputs.ts';
import { MERGE_INPUTS } from '../src/merge/config.ts';
import { MERGE_RUN_OUTPUTS } from '../src/merge/report.ts';
import { RUN_OUTPUTS } from '../src/reporters/outputs.ts';
import { type Conclusion, ENDINGS } from '../src/text/exit-codes.ts';

/** A file that is made from a table. */
interface Target {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** The whole text as it should be. @param text the file as it is; what is written by hand stays. */
  make(text: string): string;
}

/** Every generated file. */
export const TARGETS: readonly Target[] = [
  { file: 'action.yml', make: makeAction },
  { file: 'merge/action.yml', make: makeMergeAction },
  { file: 'docs/reference.md', make: fillReference },
  { file: 'README.md', make: fillReadme },
  { file: 'schemas/envelope.schema.json', make: fillEnvelopeSchema },
];

/** Every output that the action declares, with one sentence each; a schema's own properties come on top. */
export const OUTPUTS: Readonly<Record<string, string>> = {
  structured_output: 'The accepted payload as one line of JSON; absent unless a payload was accepted.',
  passed: 'Of every preset: true or false. Absent without a payload, so compare with == and never with !=.',
  summary: 'Of every preset: the verdict in a few sentences.',
  findings: 'Of the presets verdict, code-review and security-review: what was found, as a JSON array.',
  ...describeOutputs(RUN_OUTPUTS),
};

/** Every output of the merge action. Its `run-*` are those of a run, as far as they apply, and mean the same. */
export const MERGE_OUTPUTS: Readonly<Record<string, string>> = {
  structured_output: 'The merged payload as one line of JSON; absent if the merge is undecided or failed.',
  passed:
    'Whether all legs pass: true or false. Absent if the merge is undecided or failed: compare with ==, not !=.',
  ...describeOutputs(MERGE_RUN_OUTPUTS),
};

function describeOutputs(outputs: typeof RUN_OUTPUTS): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(outputs).map(([name, { description }]) => [name, description]));
}

function makeAction(): string {
  return makeManifest(INPUTS, OUTPUTS, {
    name: 'structured-agent',
    description:
      'Runs an agent on the checkout that can only answer in your JSON Schema, and gates the job on its verdict.',
    icon: 'check-circle',
    source: 'src/config/inputs.ts',
    main: 'dist/index.js',
  });
}

function makeMergeAction(): string {
  return makeManifest(MERGE_INPUTS, MERGE_OUTPUTS, {
    name: 'structured-agent merge',
    description:
      'Merges the verdicts of many legs into one that fails closed: what is missing never turns it green.',
    icon: 'git-merge',
    source: 'src/merge/config.ts',
    main: '../dist/merge.js',
  });
}

/** What an action.yml says besides its inputs and outputs. */
interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly icon: string;
  readonly source: string;
  readonly main: string;
}

function makeManifest(
  inputs: readonly Input[],
  outputs: Readonly<Record<string, string>>,
  { name, description, icon, source, main }: Manifest,
): string {
  const action = {
    name,
    author: 'the structured-agent authors',
    description,
    branding: { icon, color: 'green' },
    inputs: Object.fromEntries(inputs.map((input) => [input.name, describeInput(input)])),
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([output, text]) => [output, { description: text }]),
    ),
    runs: { using: 'node24', main },
  };
  return `# Written by \`node scripts/generate.ts\` from ${source}: change that, not this.\n${stringify(action, { lineWidth: 0, compat: 'yaml-1.1' })}`;
}

/** No input is always required: a replay needs no model, and the merge action says itself what is missing. */
function describeInput({ description, default: value }: Input) {
  return value === '' ? { description, required: false } : { description, required: false, default: value };
}

function fillReference(text: string): string {
  const inputs = `${tableOfInputs(MAIN_INPUTS)}\n\n### Advanced\n\n${tableOfInputs(ADVANCED_INPUTS)}`;
  const tables = { inputs, outputs: tableOfOutputs(OUTPUTS), merge: describeMergeTables() };
  return Object.entries(tables).reduce((filled, [name, table]) => fill(filled, name, table), text);
}

/** The inputs and outputs of the merge action; those that a run has too are only named. */
function describeMergeTables(): string {
  const own = MERGE_INPUTS.filter((each) => !INPUTS.some((input) => input === each));
  const shared = MERGE_INPUTS.filter((each) => !own.includes(each)).map(({ name }) => name);
  const { structured_output = '', passed = '' } = MERGE_OUTPUTS;
  const same = Object.keys(MERGE_OUTPUTS).filter((name) => name.startsWith('run-'));
  return [
    tableOfInputs(own),
    `These inputs mean the same as above: ${quoteNames(shared)}.`,
    tableOfOutputs({ structured_output, passed }),
    `These outputs mean the same as above: ${quoteNames(same)}.`,
  ].join('\n\n');
}

/** Whether the payload of each ending is published. */
function publishedAt(reason: string, conclusion: Conclusion): string {
  if (reason === 'cancelled') return 'only if accepted before the signal';
  return conclusion === 'success' || conclusion === 'failure' ? 'yes' : 'no';
}

/** The endings, with those that have the same conclusion and exit code in one row. */
function fillReadme(text: string): string {
  const groups = Object.groupBy(
    Object.entries(ENDINGS),
    ([, [conclusion, , code]]) => `${conclusion} ${code}`,
  );
  const rows = Object.values(groups).map((same = []) => {
    const [[reason, [conclusion, , exitCode]] = ['', ENDINGS.internal]] = same;
    const reasons = same.map(([each]) => `\`${each}\``).join(', ');
    return [`\`${conclusion}\``, reasons, String(exitCode), publishedAt(reason, conclusion)];
  });
  return fill(text, 'endings', makeTable(['conclusion', 'reason', 'exit code', 'payload published'], rows));
}

/** The schema with the words of the endings table, and one row of `anyOf` for each ending. */
function fillEnvelopeSchema(text: string): string {
  const schema = JSON.parse(text);
  const { properties, definitions } = schema;
  const endings = Object.entries(ENDINGS);
  const conclusions = [...new Set(endings.map(([, [conclusion]]) => conclusion))];
  properties.conclusion.enum = conclusions;
  properties.subtype.enum = [...new Set(endings.map(([, [, subtype]]) => subtype))];
  properties.exit_code.enum = [...new Set(endings.map(([, [, , code]]) => code))].sort((a, b) => a - b);
  properties.reason.enum = endings.map(([reason]) => reason);
  definitions.said_conclusion.enum = [...conclusions, 'missing'];
  definitions.said_reason.enum = [...properties.reason.enum, 'missing'];
  const gates: Partial<Record<Conclusion, readonly string[]>> = {
    success: ['met', 'none'],
    failure: ['not_met'],
  };
  const kinds: Readonly<Record<string, readonly string[]>> = { yes: ['published'], no: ['unpublished'] };
  schema.anyOf = endings.map(([reason, [conclusion, subtype, code]]) => ({
    properties: {
      conclusion: { const: conclusion },
      reason: { const: reason },
      exit_code: { const: code },
      subtype: { const: subtype },
      ...(gates[conclusion] && { gate: { properties: { status: { enum: gates[conclusion] } } } }),
    },
    anyOf: (kinds[publishedAt(reason, conclusion)] ?? ['published', 'unpublished']).map((kind) => ({
      $ref: `#/definitions/${kind}`,
    })),
  }));
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function quoteNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function tableOfOutputs(outputs: Readonly<Record<string, string>>): string {
  const rows = Object.entries(outputs).map(([name, description]) => [`\`${name}\``, description]);
  return makeTable(['output', 'meaning'], rows);
}

function tableOfInputs(inputs: readonly Input[]): string {
  const rows = inputs.map(({ name, default: value, description }) => [
    `\`${name}\``,
    value === '' ? '' : `\`${value}\``,
    description,
  ]);
  return makeTable(['input', 'default', 'meaning'], rows);
}

function makeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A document with `body` between its two marks of that name. */
function fill(text: string, name: string, body: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from === -1 || to < from) throw new Error(`There is no place for ${name}: ${open} … ${close}`);
  return `${text.slice(0, from + open.length)}\n${body}\n${text.slice(to)}`;
}

function resolve(file: string): string {
  return path.join(import.meta.dirname, '..', file);
}

function read(file: string): string {
  return readFileSync(resolve(file), 'utf8');
}

if (import.meta.main) {
  for (const { file, make } of TARGETS) {
    const text = read(file);
    const wanted = make(text);
    if (!process.argv.includes('--check')) writeFileSync(resolve(file), wanted);
    else if (text !== wanted) {
      console.error(`${file} is not what its table says. Run: npx node scripts/generate.ts`);
      process.exitCode = 1;
    }
  }
}
