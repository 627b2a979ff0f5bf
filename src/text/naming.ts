/** The program's entries, and how messages name inputs for the users of each. */

/** How the user started the program. The action and the merge action are both `action`. */
export type Entry = 'action' | 'command-line' | 'library';

/** The environment variable for the key on the command line, for any provider. */
export const KEY_VARIABLE = 'STRUCTURED_AGENT_API_KEY';

/** Returns an input's name as users of an entry write it: `base-url`, `--base-url`, `baseUrl`. */
export function inputName(input: string, entry: Entry): string {
  if (entry === 'action') return input;
  if (entry === 'library') return camelCase(input);
  return input === 'api-key' ? KEY_VARIABLE : `--${input}`;
}

function camelCase(input: string): string {
  return input.replace(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}
