/** What the library is told → the inputs of a run. */

import { InputError } from '../errors.ts';
import { quote, suggest } from '../text/messages.ts';
import { namingAt } from '../text/naming.ts';
import { INPUTS, type InputName, meantInputs } from './inputs.ts';
import { schemaText } from './library-schema.ts';

/** The options that may hold secrets, by the names of the action's variables. */
export function secretOptions(options: {
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}) {
  const { apiKey, headers } = options;
  return {
    ...(apiKey === undefined ? {} : { 'INPUT_API-KEY': apiKey }),
    ...(headers === undefined ? {} : { INPUT_HEADERS: textOf('headers', headers) }),
  };
}

/** Options that are not inputs of the same name. */
const OWN: ReadonlySet<string> = new Set(['signal', 'onEvent', 'onWarning', 'environment', 'workspace']);

/** The options of a library's run as if they had been typed, so that one parser reads them all; and what is wrong with them. */
export function inputsOf(options: object): {
  readonly raw: ReadonlyMap<InputName, string>;
  readonly problems: readonly InputError[];
} {
  const raw = new Map<InputName, string>([['gate', 'none']]);
  const problems: InputError[] = [];
  for (const key of namesOf(options)) {
    const value: unknown = Reflect.get(options, key);
    if (OWN.has(key) || value === undefined) continue;
    const kebab = key.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
    const name = INPUTS.find((input) => input.name === kebab)?.name;
    if (name === undefined) {
      problems.push(unknownOption(key, kebab));
      continue;
    }
    try {
      const text = name === 'schema' ? schemaText(value) : textOf(name, value);
      if (name === 'prompt' && text.trim() === '')
        throw new InputError('prompt', 'prompt is empty. Write what the agent is to do.');
      raw.set(name, text);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
  }
  return { raw, problems };
}

function unknownOption(key: string, kebab: string): InputError {
  const names = INPUTS.filter(({ where }) => where === 'everywhere').map(({ name }) => name);
  const inputs = meantInputs(kebab, names).map((name) => namingAt('library').name(name));
  const near = inputs.length > 0 ? inputs : suggest(key, [...OWN], 1);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(null, `There is no option ${quote(key, 80)}.${hint}`);
}

/** Inherited ones count: defaults that a gate is a part of must not be lost in silence. */
function namesOf(options: object): ReadonlySet<string> {
  const names = new Set<string>();
  for (
    let each: object | null = options;
    each !== null && each !== Object.prototype;
    each = Reflect.getPrototypeOf(each)
  )
    for (const name of Object.keys(each)) names.add(name);
  return names;
}

function textOf(name: InputName, value: unknown): string {
  if (name === 'shell-network') return value === true ? 'on' : 'off';
  if (Array.isArray(value)) return value.map(String).join('\n');
  if (name === 'headers' && typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([header, text]) => `${header}: ${String(text)}`)
      .join('\n');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
