/** The flags of a subcommand: `--name value`, `--name=value`, `--name`, and what stands beside them. */

import { parseArgs } from 'node:util';
import { InputError } from '../errors.ts';
import { suggest } from '../text/messages.ts';

/** The flags that a subcommand knows, with whether each takes a value. */
export type FlagTable = Readonly<Record<string, 'value' | 'list' | 'switch'>>;

/** What was given. */
export interface Flags {
  /** The last value of a flag; null where it was not given. */
  value(name: string): string | null;
  /** Every value of a flag, in order. */
  list(name: string): readonly string[];
  has(name: string): boolean;
  readonly positionals: readonly string[];
}

/**
 * Reads a subcommand's arguments; `-h` is `--help`, and after `--` nothing is a flag.
 * @throws InputError that names the flag and the fix.
 */
export function readFlags(command: string, argv: readonly string[], table: FlagTable): Flags {
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  const options = Object.fromEntries(
    Object.entries(table).map(([name, kind]) => [
      name,
      {
        type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const kind = Object.hasOwn(table, name) ? table[name] : undefined;
    if (kind === undefined) throw unknownFlag(command, rawName, Object.keys(table));
    if (kind === 'switch' && value !== undefined) {
      throw new InputError(name, `${rawName} takes no value. Write ${rawName} alone, or leave it out.`);
    }
    if (
      kind !== 'switch' &&
      (value === undefined || value === '' || (!token.inlineValue && value.startsWith('--')))
    ) {
      throw new InputError(name, `${rawName} needs a value. Write ${rawName} VALUE or ${rawName}=VALUE.`);
    }
    const before = given.get(name) ?? [];
    if (kind === 'value' && before.length > 0) {
      throw new InputError(name, `${rawName} is given twice. Keep one of them.`);
    }
    given.set(name, [...before, value ?? '']);
  }
  return {
    positionals,
    value: (name) => given.get(name)?.at(-1) ?? null,
    list: (name) => given.get(name) ?? [],
    has: (name) => given.has(name),
  };
}

function unknownFlag(command: string, flag: string, known: readonly string[]): InputError {
  const near = suggest(flag.replace(/^-+/u, ''), known);
  const names = (near.length === 0 ? known : near).map((name) => `--${name}`).join(', ');
  const fix = near.length === 0 ? `Its flags are ${names}.` : `Did you mean ${names}?`;
  return new InputError(
    null,
    `structured-agent ${command} has no flag ${JSON.stringify(flag.slice(0, 100))}. ${fix}`,
  );
}
