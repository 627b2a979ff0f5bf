/** Reads the inputs of a step from its `with:`, as far as they are literal. */

import { INPUTS, type InputName, meantInputs } from '../../config/inputs.ts';
import { parseConfig } from '../../config/parse-config.ts';
import { embedded } from './expression.ts';
import { error, type Fault, refused } from './finding.ts';
import { STEP } from './rules.ts';
import { entryAt, type Mapping, valueAt } from './yaml-file.ts';

/** The known inputs of a step. */
export interface KnownInputs<N extends string> {
  /** As typed, trimmed; undefined when computed by an expression, null when absent. */
  readonly get: (name: N) => string | null | undefined;
  readonly faults: readonly StepFault[];
}

export type StepInputs = KnownInputs<InputName>;

/** A fault and the key under `with:` that it is about; null when it is about the step. */
export interface StepFault {
  readonly key: string | null;
  readonly fault: Fault;
}

/** Substitutes for unknown values, chosen so that they are always valid. */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  ['prompt', 'unknown'],
  ['model', 'claude-unknown'],
  ['api-key', 'unknown'],
  ['base-url', 'https://unknown.invalid/v1'],
  ['provider', 'openai'],
]);

/** Inputs that must not be readable in a workflow file. */
const SECRET_INPUTS: readonly InputName[] = ['api-key', 'github-token', 'signing-key'];

const NAMES: readonly InputName[] = INPUTS.map(({ name }) => name);

/**
 * Reads the inputs of a step; literal values are parsed as in a run.
 * @param environment the variables that the workflow sets for the step
 * @param mayHaveKey whether something unreadable here may set the key's variable
 */
export function readStepInputs(
  step: Mapping,
  environment: Readonly<Record<string, string>>,
  mayHaveKey: boolean,
): StepInputs {
  const { given, get, faults } = collectInputs(step, NAMES, SECRET_INPUTS);
  const problems = parseConfig(fillIn(given), { environment }).problems.flatMap(({ input, message }) => {
    if (input === 'api-key' && mayHaveKey) return [];
    const key = input !== null && entryAt(valueAt(step, 'with'), input) !== null ? input : null;
    return [{ key, fault: refused(`input-${input ?? 'any'}`, message) }];
  });
  return { get, faults: [...faults, ...problems] };
}

interface CollectedInputs<N extends string> extends KnownInputs<N> {
  /** null for a value computed by an expression. */
  readonly given: ReadonlyMap<N, string | null>;
}

/**
 * @param names the inputs that exist
 * @param secrets the inputs that must not be readable in the file
 */
export function collectInputs<N extends string>(
  step: Mapping,
  names: readonly N[],
  secrets: readonly N[],
): CollectedInputs<N> {
  const given = new Map<N, string | null>();
  const faults: StepFault[] = [];
  const node = valueAt(step, 'with');
  for (const { key, value } of node?.kind === 'map' ? node.entries : []) {
    const name = names.find((each) => each === key.toLowerCase());
    if (name === undefined) {
      faults.push({ key: key.toLowerCase(), fault: STEP.unknownInput(key, meantInputs(key, names)) });
    } else if (value.kind !== 'scalar') {
      const fix = 'Write it as one text, of several lines below a |.';
      const fault = error(`input-${name}`, `${name} is a list or a mapping, and an input is a text.`, fix);
      faults.push({ key: name, fault });
    } else if (value.text.includes('${{')) {
      given.set(name, name === 'headers' ? knownHeaders(value.text) : null);
    } else if (value.text.trim() !== '') {
      given.set(name, value.text.trim());
      if (secrets.includes(name)) faults.push({ key: name, fault: STEP.secret(name) });
    } else if (value.text !== '') {
      given.set(name, null);
      const fault = error(
        `input-${name}`,
        `${name} holds nothing but blanks.`,
        'Give a value, or leave it out.',
      );
      faults.push({ key: name, fault });
    }
  }
  const get = (name: N) => (given.has(name) ? (given.get(name) ?? undefined) : null);
  return { given, get, faults };
}

/** Names of headers are usually literal; only their values come from secrets. */
function knownHeaders(text: string): string | null {
  let known = text;
  for (const { text: inner } of embedded(text)) known = known.replace(`\${{${inner}}}`, 'unknown');
  return known.split('\n').every((line) => line.trim() === '' || /^\s*[^:\s][^:]*:/u.test(line))
    ? known.trim()
    : null;
}

function fillIn(given: ReadonlyMap<InputName, string | null>): Map<InputName, string> {
  const raw = new Map<InputName, string>();
  for (const [name, value] of given) {
    const known = value ?? STAND_INS.get(name);
    if (known !== undefined) raw.set(name, known);
  }
  if (given.get('provider') === null) {
    // The URL of an Azure endpoint may contain more than any other, and the other vendors need none.
    raw.set('provider', typeof given.get('base-url') === 'string' ? 'azure-openai' : 'openai');
  }
  if (given.get('prompt') === null && given.has('prompt-file')) raw.delete('prompt');
  if (given.get('prompt-file') === null && !raw.has('prompt')) raw.set('prompt-file', 'unknown');
  return raw;
}
