/** Reads raw inputs from the runner's `INPUT_*` variables, without the toolkit: a run starts before it is loaded. */
import { INPUTS, type InputName, meantInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';

/** The inputs that were given, and the problems with how they were given. */
export interface CollectedInputs<N extends string> {
  readonly raw: ReadonlyMap<N, string>;
  readonly problems: readonly InputError[];
}

export function readActionInputs(): CollectedInputs<InputName> {
  return readInputs(INPUTS.map(({ name }) => name));
}

/**
 * Reads the inputs of this process. The runner passes an empty string for an input that is not given: that counts as
 * absent. A variable that is not an input of this action is a problem, and so is a value of only whitespace.
 */
export function readInputs<N extends string>(names: readonly N[]): CollectedInputs<N> {
  const raw = new Map<N, string>();
  const problems: InputError[] = [];
  const known = new Set(names.map((name) => `INPUT_${name.toUpperCase()}`));
  for (const [variable, value] of Object.entries(process.env)) {
    if (!variable.toUpperCase().startsWith('INPUT_') || value === undefined || value === '') continue;
    // A name in another case would be missed below, and the missed input may be a limit.
    if (!known.has(variable))
      problems.push(unknownInput(variable.slice('INPUT_'.length).toLowerCase(), names));
  }
  for (const name of names) {
    const value = process.env[`INPUT_${name.toUpperCase()}`] ?? '';
    const text = value.trim();
    if (text !== '') raw.set(name, text);
    else if (value !== '')
      problems.push(new InputError(name, 'It holds nothing but blanks. Give a value, or leave it out.'));
  }
  return { raw, problems };
}

function unknownInput(name: string, names: readonly string[]): InputError {
  const near = meantInputs(name, names);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(name, `There is no such input.${hint} Correct its name, or remove it.`);
}
