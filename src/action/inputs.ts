/** Reads raw inputs from the runner's `INPUT_*` variables, without the toolkit: a run starts before it is loaded. */
import { meantInputs } from '../config/inputs.ts';
import { InputError } from '../errors.ts';

/**
 * Reads the inputs of a step, and the problems with how they were given. The runner passes an empty string for an input that is not given: that counts as absent. A
 * variable that is not an input of this action is a problem, and so is a value of only whitespace.
 */
export function readInputs<N extends string>(
  names: readonly N[],
  environment: Readonly<Record<string, string | undefined>>,
) {
  const variableOf = (name: N) => `INPUT_${name.toUpperCase()}`;
  const raw = new Map<N, string>();
  const problems: InputError[] = [];
  const known = new Set(names.map(variableOf));
  for (const [variable, value = ''] of Object.entries(environment)) {
    // A name in another case would be missed below, and the missed input may be a limit.
    if (value === '' || !variable.toUpperCase().startsWith('INPUT_') || known.has(variable)) continue;
    const name = variable.slice('INPUT_'.length).toLowerCase();
    const near = meantInputs(name, names);
    const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
    problems.push(new InputError(name, `There is no such input.${hint} Correct its name, or remove it.`));
  }
  for (const name of names) {
    const value = environment[variableOf(name)] ?? '';
    const text = value.trim();
    if (text !== '') raw.set(name, text);
    else if (value !== '')
      problems.push(new InputError(name, 'It holds nothing but blanks. Give a value, or leave it out.'));
  }
  return { raw, problems };
}
