/** The runner's `INPUT_*` variables → raw inputs. */

import { INPUTS, type InputName, meantInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';
import { MERGE_NAMES, type MergeInputName } from '../merge/inputs.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What was given for each input, and what is wrong with how it was given. */
export interface CollectedInputs<N extends string> {
  readonly raw: ReadonlyMap<N, string>;
  readonly problems: readonly InputError[];
}

/** Collects the inputs of the main action. */
export function readActionInputs(environment: Environment): CollectedInputs<InputName> {
  return readInputs(
    environment,
    INPUTS.map(({ name }) => name),
  );
}

/** Collects the inputs of the merge action. */
export function readMergeInputs(environment: Environment): CollectedInputs<MergeInputName> {
  return readInputs(environment, MERGE_NAMES);
}

/**
 * Collects the inputs. The runner upper-cases names, turns blanks into underscores, and passes an empty string for an
 * input that is not given: that counts as absent. A variable that is no input of this action is a problem, and so is a
 * value of nothing but blanks.
 */
function readInputs<N extends string>(environment: Environment, names: readonly N[]): CollectedInputs<N> {
  const known = new Map<string, N>(names.map((name) => [`INPUT_${name.toUpperCase()}`, name]));
  const raw = new Map<N, string>();
  const problems: InputError[] = [];
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.toUpperCase().startsWith('INPUT_') || value === undefined || value === '') continue;
    const name = known.get(variable.toUpperCase());
    const text = value.trim();
    if (name === undefined) problems.push(unknownInput(variable.slice('INPUT_'.length).toLowerCase(), names));
    else if (text === '')
      problems.push(
        new InputError(
          name,
          `${name} cannot be empty: it holds nothing but blanks. Give a value, or leave it out.`,
        ),
      );
    else raw.set(name, text);
  }
  return { raw, problems };
}

function unknownInput(name: string, names: readonly string[]): InputError {
  const near = meantInputs(name, names);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(
    name,
    `There is no input ${JSON.stringify(name)}.${hint} Correct its name, or remove it.`,
  );
}
