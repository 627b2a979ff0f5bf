/** The program's entries, and how messages name inputs for the users of each. */

/** How the user started the program. The action and the merge action are both `action`. */
export type Entry = 'action' | 'command-line' | 'library';

/** The environment variable for the key on the command line, for any provider. */
export const KEY_VARIABLE = 'STRUCTURED_AGENT_API_KEY';

/** How messages for one entry name inputs. Inputs are passed by their kebab-case names, such as `base-url`. */
export interface Naming {
  readonly entry: Entry;
  /** The name as users of this entry write it: `base-url`, `--base-url`, `baseUrl`. */
  readonly name: (input: string) => string;
  /** The name as a noun phrase: "the input base-url", "the flag --base-url", "the option baseUrl". */
  readonly noun: (input: string) => string;
  /** The beginning of an instruction to set it: "Set base-url", "Add --base-url", "Pass baseUrl". */
  readonly give: (input: string) => string;
  /** A setting with its value: "stream: on", "--stream on", "stream: 'on'". */
  readonly setting: (input: string, value: string) => string;
}

/** A message whose wording depends on the entry. */
export type Wording = (naming: Naming) => string;

const NAMINGS: Readonly<Record<Entry, Naming>> = {
  action: {
    entry: 'action',
    name: (input) => input,
    noun: (input) => `the input ${input}`,
    give: (input) => `Set ${input}`,
    setting: (input, value) => `${input}: ${value}`,
  },
  'command-line': {
    entry: 'command-line',
    name: (input) => (input === 'api-key' ? KEY_VARIABLE : `--${input}`),
    noun: (input) => (input === 'api-key' ? `the variable ${KEY_VARIABLE}` : `the flag --${input}`),
    give: (input) => (input === 'api-key' ? `Set the variable ${KEY_VARIABLE}` : `Add --${input}`),
    setting: (input, value) => `--${input} ${value}`,
  },
  library: {
    entry: 'library',
    name: camelCase,
    noun: (input) => `the option ${camelCase(input)}`,
    give: (input) => `Pass ${camelCase(input)}`,
    setting: (input, value) => `${camelCase(input)}: '${value}'`,
  },
};

/** Returns an input's name as users of an entry write it: `base-url`, `--base-url`, `baseUrl`. */
export function inputName(input: string, entry: Entry): string {
  if (entry === 'action') return input;
  if (entry === 'library') return camelCase(input);
  return input === 'api-key' ? KEY_VARIABLE : `--${input}`;
}

export function namingFor(entry: Entry): Naming {
  return NAMINGS[entry];
}

function camelCase(input: string): string {
  return input.replace(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}
