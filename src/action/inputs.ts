/** The runner's `INPUT_*` variables → raw inputs. */

import { INPUTS, meantInputs, type RawInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import { MERGE_NAMES, type MergeInputName } from '../merge/inputs.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Collects the inputs of the main action. @throws InputError as `readInputs` does. */
export function readActionInputs(environment: Environment): RawInputs {
  return readInputs(
    environment,
    INPUTS.map(({ name }) => name),
  );
}

/** Collects the inputs of the merge action. @throws InputError as `readInputs` does. */
export function readMergeInputs(environment: Environment): ReadonlyMap<MergeInputName, string> {
  return readInputs(environment, MERGE_NAMES);
}

/**
 * Collects the inputs. The runner upper-cases names, turns blanks into underscores, and passes an empty string for an
 * input that is not given: that counts as absent.
 * @throws InputError for a variable that is no input of this action, and for a value of nothing but blanks.
 */
function readInputs<N extends string>(environment: Environment, names: readonly N[]): ReadonlyMap<N, string> {
  const known = new Map<string, N>(names.map((name) => [`INPUT_${name.toUpperCase()}`, name]));
  const raw = new Map<N, string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.toUpperCase().startsWith('INPUT_') || value === undefined || value === '') continue;
    const name = known.get(variable.toUpperCase());
    if (name === undefined) throw unknownInput(variable.slice('INPUT_'.length).toLowerCase(), names);
    const text = value.trim();
    if (text === '')
      throw new InputError(
        name,
        `${name} cannot be empty: it holds nothing but blanks. Give a value, or leave it out.`,
      );
    raw.set(name, text);
  }
  return raw;
}

function unknownInput(name: string, names: readonly string[]): InputError {
  const near = meantInputs(name, names);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(
    name,
    `There is no input ${JSON.stringify(name)}.${hint} Correct its name, or remove it.`,
  );
}
