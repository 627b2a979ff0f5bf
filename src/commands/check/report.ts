/**
 * Formats the findings of a check for people and for programs. Text from files has no effect in a terminal or in a
 * runner's log.
 */
import { DISPLAY, LISTED } from '../../text/limits.ts';
import { escapeCommands, inertLine } from '../../text/sanitize.ts';
import type { Finding } from './finding.ts';
import { type Output, PAYLOAD_OUTPUT, RUN_OUTPUTS } from './outputs.ts';
import type { Change, View } from './projection.ts';
import type { SourceLocation } from './yaml-file.ts';

/** A valid schema and the outputs it provides. */
export interface SchemaReport {
  readonly name: string;
  readonly usedAt: readonly SourceLocation[];
  readonly outputs: readonly Output[];
  readonly views: readonly View[];
}

export interface CheckReport {
  /** The files that were read, as typed. */
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
  readonly schemas: readonly SchemaReport[];
}

export function reportText({ files, findings, schemas }: CheckReport): string {
  const lines = findings.flatMap(({ file, line, column, severity, message, fix, rule }) => [
    `${clean(file)}:${line}:${column}: ${severity}: ${clean(message)} [${rule}]`,
    `    fix: ${clean(fix)}`,
  ]);
  const parts = [...(lines.length === 0 ? [] : [lines]), ...schemas.map(schemaLines)];
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const subject = files.length === 0 ? '' : ` in ${count(files.length, 'workflow')}`;
  const total = `${count(errors, 'error')}, ${count(warnings, 'warning')}${subject}`;
  return `${[...parts.map((part) => part.join('\n')), total].join('\n\n')}\n`;
}

function schemaLines({ name, usedAt, outputs, views }: SchemaReport): readonly string[] {
  const where = usedAt.map(({ file, line }) => `${clean(file)}:${line}`).join(', ');
  const shown = /^\s*[{[]/u.test(name) ? 'inline' : clean(name, DISPLAY.phrase);
  const all = [...outputs, PAYLOAD_OUTPUT];
  const width = Math.min(40, Math.max(...all.map((each) => each.name.length)));
  const types = Math.min(30, Math.max(...all.map((each) => each.type.length)));
  return [
    `schema ${shown}${where === '' ? '' : ` (${where})`}`,
    '  outputs, all of them absent without a verdict:',
    ...all.map(
      (each) =>
        `    ${clean(each.name).padEnd(width)}  ${clean(each.type).padEnd(types)}  ${formOf(each)}${each.isRequired ? '' : '; absent where the payload lacks it'}`,
    ),
    `    and about every run: ${RUN_OUTPUTS.map((each) => each.name).join(', ')}`,
    '  as the tool structured_output, in every request:',
    ...views.flatMap(viewLines),
  ];
}

/** Describes how later steps see the values of an output. */
export function formOf({ kind, type, name }: Pick<Output, 'kind' | 'type' | 'name'>): string {
  if (name === PAYLOAD_OUTPUT.name) return 'JSON, the whole payload';
  if (kind === 'boolean') return 'true or false, as text';
  if (kind === 'number') return 'a number, as text';
  if (kind === 'json') return type === 'any' ? 'text as it is, all else as JSON' : 'JSON';
  return type === 'string' ? 'text as it is' : 'text as it is, all else as JSON';
}

function viewLines({ providers, changes, bytes, tokens }: View): readonly string[] {
  const head = `    ${providers.join(', ')}: ${bytes} bytes, about ${tokens} tokens; `;
  if (changes.length === 0) return [`${head}as it is`];
  return [`${head}not as it is:`, ...changes.map((change) => `      ${changeWords(change)}`)];
}

const HOW: Readonly<Record<Change['how'], string>> = {
  words: 'in words only',
  left_out: 'left out, and still checked here',
  rewritten: 'rewritten',
  added: 'added',
};

function changeWords({ keyword, how, places }: Change): string {
  const shown = places
    .slice(0, LISTED.few)
    .map((place) => (place === '' ? 'the root' : clean(place, DISPLAY.excerpt)));
  const more = places.length > LISTED.few ? ` and ${places.length - LISTED.few} more` : '';
  return `${clean(keyword, DISPLAY.name)}: ${HOW[how]}, at ${shown.join(', ')}${more}`;
}

export function reportJson({ files, findings, schemas }: CheckReport): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const report = {
    ok: errors === 0,
    errors,
    warnings: findings.length - errors,
    files,
    findings,
    schemas: schemas.map(({ name, usedAt, outputs, views }) => ({
      schema: name,
      used_at: usedAt,
      outputs: [...outputs, PAYLOAD_OUTPUT].map((each) => ({
        name: each.name,
        type: each.type,
        form: formOf(each),
        required: each.isRequired,
      })),
      run_outputs: RUN_OUTPUTS.map((each) => each.name),
      views: views.map(({ providers, changes, bytes, tokens }) => ({ providers, bytes, tokens, changes })),
    })),
  };
  // Keeps control characters from having an effect in a terminal, and commands from being run by a runner.
  const text = JSON.stringify(report, null, 2).replace(
    /[^\P{Cc}\n]|\p{Cf}|\p{Default_Ignorable_Code_Point}/gu,
    (found) =>
      [...Array(found.length).keys()]
        .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join(''),
  );
  return `${escapeCommands(text)}\n`;
}

function clean(text: string, max: number = DISPLAY.cell): string {
  return inertLine(text, max);
}

function count(number: number, what: string): string {
  return `${number === 0 ? 'no' : number} ${what}${number === 1 ? '' : 's'}`;
}
