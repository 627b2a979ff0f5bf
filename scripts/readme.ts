/**
 * Writes the README's tables of inputs and outputs: `node scripts/readme.ts`. With `--check` it only compares, and
 * exits 1 when the README is not what the tables say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { INPUTS } from '../src/config/inputs.ts';
import { OUTPUTS } from './action-yml.ts';

/** Where the README lies. */
export const README = path.join(import.meta.dirname, '..', 'README.md');

/** The README with its tables as they should be. */
export function readme(text: string): string {
  const inputs = INPUTS.map(({ name, default: value, description }) => [
    `\`${name}\``,
    value === '' ? '' : `\`${value}\``,
    description,
  ]);
  const outputs = Object.entries(OUTPUTS).map(([name, description]) => [`\`${name}\``, description]);
  const filled = fill(text, 'inputs', table(['input', 'default', 'meaning'], inputs));
  return fill(filled, 'outputs', table(['output', 'meaning'], outputs));
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
  const text = readFileSync(README, 'utf8');
  const wanted = readme(text);
  if (!process.argv.includes('--check')) writeFileSync(README, wanted);
  else if (text !== wanted) {
    console.error('README.md is not what src/config/inputs.ts says. Run: node scripts/readme.ts');
    process.exitCode = 1;
  }
}
