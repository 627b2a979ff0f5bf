/**
 * Writes the tables of inputs and outputs into README.md and docs/many-legs.md, and the workflow into the latter:
 * `node scripts/readme.ts`. With `--check` it only compares, and exits 1 when a page is not what the tables say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { INPUTS, type Input } from '../src/config/inputs.ts';
import { MERGE_INPUTS } from '../src/merge/inputs.ts';
import { MERGE_OUTPUTS, OUTPUTS } from './action-yml.ts';

/** Where the README lies. */
export const README = path.join(import.meta.dirname, '..', 'README.md');

/** Where the page about merging lies, and the workflow that it shows. */
export const MANY_LEGS = path.join(import.meta.dirname, '..', 'docs', 'many-legs.md');
const WORKFLOW = path.join(import.meta.dirname, '..', 'examples', 'many-legs.yml');

/** The README with its tables as they should be. */
export function readme(text: string): string {
  return withTables(text, INPUTS, OUTPUTS);
}

/** The page about merging with its tables and its workflow as they should be. */
export function manyLegs(text: string): string {
  const workflow = readFileSync(WORKFLOW, 'utf8').trimEnd();
  return withTables(fill(text, 'workflow', `\`\`\`yaml\n${workflow}\n\`\`\``), MERGE_INPUTS, MERGE_OUTPUTS);
}

function withTables(
  text: string,
  inputs: readonly Input[],
  outputs: Readonly<Record<string, string>>,
): string {
  const inputRows = inputs.map(({ name, default: value, description }) => [
    `\`${name}\``,
    value === '' ? '' : `\`${value}\``,
    description,
  ]);
  const outputRows = Object.entries(outputs).map(([name, description]) => [`\`${name}\``, description]);
  const filled = fill(text, 'inputs', table(['input', 'default', 'meaning'], inputRows));
  return fill(filled, 'outputs', table(['output', 'meaning'], outputRows));
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A document with `body` between its two marks of that name. */
export function fill(text: string, name: string, body: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from === -1 || to < from) throw new Error(`There is no place for ${name}: ${open} … ${close}`);
  return `${text.slice(0, from + open.length)}\n${body}\n${text.slice(to)}`;
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  for (const [file, make] of [
    [README, readme],
    [MANY_LEGS, manyLegs],
  ] as const) {
    const text = readFileSync(file, 'utf8');
    if (!isCheck) writeFileSync(file, make(text));
    else if (text !== make(text)) {
      console.error(`${file} is not what the tables say. Run: node scripts/readme.ts`);
      process.exitCode = 1;
    }
  }
}
