/** Values of the command line that other tools write in other ways: schema and format. */
import { InputError } from '../errors.ts';
import type { TypedFlag } from './scan.ts';

/** What stdout gets. */
export const OUTPUT_FORMATS = ['text', 'json', 'stream-json', 'object'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const FORMAT_SCHEMA = /^json_schema(?:=([\s\S]*))?$/iu;

/**
 * The schema as the input takes it; null where none is typed.
 * @throws InputError where several flags give one, naming them.
 */
export function readSchema(flags: readonly TypedFlag[]): string | null {
  const sources = flags.flatMap(({ flag, as, value }) => {
    if (flag.name === 'schema' || flag.name === 'json-schema') return [{ as, text: value }];
    const match = flag.name === 'output-format' ? FORMAT_SCHEMA.exec(value) : null;
    return match === null ? [] : [{ as: `${as} json_schema`, text: (match[1] ?? '').trim() }];
  });
  const [one, two] = sources;
  if (one === undefined) return null;
  if (two !== undefined) {
    throw new InputError(
      'schema',
      `A run has one schema, and ${bothGiven(one.as, two.as)}. Keep one of them.`,
    );
  }
  if (one.text === '')
    throw new InputError('schema', `${one.as} has no schema. Write ${one.as}='{"type":"object"}' or a path.`);
  return one.text;
}

function bothGiven(one: string, two: string): string {
  return one === two ? `${one} is given twice` : `${one} and ${two} are both given`;
}

/**
 * What stdout gets; text where nothing else is typed.
 * @throws InputError for an unknown format, and for two of them.
 */
export function readOutputFormat(flags: readonly TypedFlag[]): OutputFormat {
  const given = flags.filter((each) => each.flag.name === 'output-format' && !FORMAT_SCHEMA.test(each.value));
  const [one, two] = given;
  if (one === undefined) return 'text';
  if (two !== undefined) {
    throw new InputError(
      'output-format',
      `A run has one format, and ${bothGiven(one.as, two.as)}. Keep one of them.`,
    );
  }
  const format = OUTPUT_FORMATS.find((each) => each === one.value.toLowerCase());
  if (format === undefined)
    throw new InputError(
      'output-format',
      `${one.as} knows no such format. Write ${OUTPUT_FORMATS.join(', ')} or json_schema='SCHEMA'.`,
    );
  return format;
}

/**
 * What stdout was meant to get on a line that is refused, so that the refusal can be told there, too; text where that
 * cannot be known. Never throws.
 */
export function intendedFormat(argv: readonly string[]): OutputFormat {
  const end = argv.indexOf('--');
  const line = end === -1 ? argv : argv.slice(0, end);
  const formats = line.flatMap((argument, at) => {
    const match = /^(?:-o|-f|--output-format)(?:=(.*))?$/su.exec(argument);
    const value = match === null ? '' : (match[1] ?? line[at + 1] ?? '');
    return OUTPUT_FORMATS.filter((each) => each === value.trim().toLowerCase());
  });
  return formats[0] ?? 'text';
}

/** The model of a line that is refused, so that its envelope can name it; null where none is typed. Never throws. */
export function intendedModel(argv: readonly string[]): string | null {
  const end = argv.indexOf('--');
  const line = end === -1 ? argv : argv.slice(0, end);
  const models = line.flatMap((argument, at) => {
    const match = /^(?:-m|--model)(?:=(.*))?$/su.exec(argument);
    const value = match === null ? '' : (match[1] ?? line[at + 1] ?? '').trim();
    return value === '' || value.startsWith('-') ? [] : [value];
  });
  return models[0] ?? null;
}
