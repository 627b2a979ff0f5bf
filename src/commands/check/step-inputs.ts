/** The inputs of one step: what its `with:` says, as far as it says it literally. */
import { parseConfig } from '../../config/config.ts';
import { INPUTS, type InputName, meantInputs } from '../../config/inputs.ts';
import { embedded } from './expression.ts';
import { type Fault, refused, wrong } from './finding.ts';
import { entryAt, type Mapping, valueAt } from './yaml-file.ts';

/** What is known of a step's inputs. */
export interface StepInputs {
  /** As typed, trimmed; undefined where an expression decides, null where the input is absent. */
  readonly get: (name: InputName) => string | null | undefined;
  readonly faults: readonly StepFault[];
}

/** A fault, with the key under `with:` that it is about; null where it is about the step. */
export interface StepFault {
  readonly key: string | null;
  readonly fault: Fault;
}

/** Values that stand for what is not known, chosen so that nothing about them can be wrong. */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  ['prompt', 'unknown'],
  ['model', 'claude-unknown'],
  ['api-key', 'unknown'],
  ['base-url', 'https://unknown.invalid/v1'],
  ['provider', 'openai'],
]);

/** Inputs that nobody may read in a workflow file. */
const SECRET_INPUTS: readonly InputName[] = ['api-key', 'github-token', 'signing-key'];

const NAMES: readonly InputName[] = INPUTS.map(({ name }) => name);

/**
 * Reads the inputs of a step, literal ones by the rules of a run.
 * @param environment the variables that the workflow sets for the step.
 * @param mayHaveKey whether something that cannot be read here may set the key's variable.
 */
export function readStepInputs(
  step: Mapping,
  environment: Readonly<Record<string, string>>,
  mayHaveKey: boolean,
): StepInputs {
  const faults: StepFault[] = [];
  const given = collectInputs(step, NAMES, SECRET_INPUTS, faults);
  const raw = standIn(given);
  for (const { input: name, message } of parseConfig(raw, { environment }).problems) {
    if (name === 'api-key' && mayHaveKey) continue;
    const key = name !== null && entryAt(valueAt(step, 'with'), name) !== null ? name : null;
    faults.push({ key, fault: refused(`input-${name ?? 'any'}`, message) });
  }
  return {
    faults,
    get(name) {
      const value = given.get(name);
      return value === undefined ? null : (value ?? undefined);
    },
  };
}

/**
 * The inputs of a step by name; null for one that an expression decides.
 * @param names those that there are.
 * @param secrets those that nobody may read in the file.
 * @param faults takes what is wrong with a name, or with how a value is written.
 */
export function collectInputs<N extends string>(
  step: Mapping,
  names: readonly N[],
  secrets: readonly N[],
  faults: StepFault[],
): Map<N, string | null> {
  const given = new Map<N, string | null>();
  const node = valueAt(step, 'with');
  if (node?.kind !== 'map') return given;
  for (const { key, value } of node.entries) {
    const name = names.find((each) => each === key.toLowerCase());
    if (name === undefined) {
      faults.push({ key: key.toLowerCase(), fault: unknownInput(key, names) });
    } else if (value.kind !== 'scalar') {
      const fix = 'Write it as one text; several lines stand under a |.';
      faults.push({
        key: name,
        fault: wrong(`input-${name}`, `${name} is a list or a mapping, and an input is a text.`, fix),
      });
    } else if (value.text.includes('${{')) {
      given.set(name, partlyKnown(name, value.text));
    } else if (value.text.trim() !== '') {
      given.set(name, value.text.trim());
      if (secrets.includes(name)) faults.push({ key: name, fault: openSecret(name) });
    } else if (value.text !== '') {
      given.set(name, null);
      const fix = 'Give a value, or leave it out.';
      faults.push({ key: name, fault: wrong(`input-${name}`, `${name} holds nothing but blanks.`, fix) });
    }
  }
  return given;
}

/** Names of headers are mostly written out, only their values come from secrets. */
function partlyKnown(name: string, text: string): string | null {
  if (name !== 'headers') return null;
  let known = text;
  for (const { text: inner } of embedded(text)) known = known.replace(`\${{${inner}}}`, 'unknown');
  return known.split('\n').every((line) => line.trim() === '' || /^\s*[^:\s][^:]*:/u.test(line))
    ? known.trim()
    : null;
}

function standIn(given: ReadonlyMap<InputName, string | null>): Map<InputName, string> {
  const raw = new Map<InputName, string>();
  for (const [name, value] of given) {
    const known = value ?? STAND_INS.get(name);
    if (known !== undefined) raw.set(name, known);
  }
  const url = given.get('base-url');
  if (given.get('provider') === null) {
    // Azure's endpoint may say more than any other, and the other vendors need none.
    raw.set('provider', typeof url === 'string' ? 'azure-openai' : 'openai');
  }
  if (given.get('prompt') === null && given.has('prompt-file')) raw.delete('prompt');
  if (given.get('prompt-file') === null && !raw.has('prompt')) raw.set('prompt-file', 'unknown');
  return raw;
}

function unknownInput(name: string, names: readonly string[]): Fault {
  const near = meantInputs(name, names);
  const fix = near.length === 0 ? 'Remove it.' : `Did you mean ${near.join(' or ')}?`;
  return wrong('unknown-input', `There is no input ${JSON.stringify(name.slice(0, 100))}.`, fix);
}

function openSecret(name: string): Fault {
  const secret = name === 'github-token' ? 'github.token' : 'secrets.NAME';
  return wrong(
    'secret-in-file',
    `${name} is written out, and everybody who can read the repository can read it.`,
    `Revoke it, and write \${{ ${secret} }}.`,
  );
}
