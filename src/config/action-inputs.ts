/** The runner's `INPUT_*` variables → raw inputs. */
import { InputError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { INPUTS, type InputName, type RawInputs } from './inputs.ts';

/**
 * Collects the inputs. The runner upper-cases names, turns blanks into underscores, and passes an empty string for an
 * input that is not given: that counts as absent.
 * @throws InputError for a variable that is no input of this action, and for a value of nothing but blanks.
 */
export function readActionInputs(environment: Readonly<Record<string, string | undefined>>): RawInputs {
  const known = new Map<string, InputName>(INPUTS.map(({ name }) => [`INPUT_${name.toUpperCase()}`, name]));
  const raw = new Map<InputName, string>();
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.toUpperCase().startsWith('INPUT_') || value === undefined || value === '') continue;
    const name = known.get(variable.toUpperCase());
    if (name === undefined) throw unknownInput(variable.slice('INPUT_'.length).toLowerCase());
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

function unknownInput(name: string): InputError {
  const near = nearest(
    name,
    INPUTS.map((input) => input.name),
  );
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  return new InputError(
    name,
    `There is no input ${JSON.stringify(name)}.${hint} Correct its name, or remove it.`,
  );
}
