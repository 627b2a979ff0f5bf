/** The attacks that are made: the rows of the shared list and our own, and their calls. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fakeGitFolder, own } from './own-rows.ts';
import type { AttackCall, AttackRow } from './row.ts';

// Parsed here: as a module, a `__proto__` in it would be one.
const listed: readonly AttackRow[] = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../..', 'fixtures', 'attacks.json'), 'utf8'),
);

/** Attacks that must not be made on this machine. */
export const listedOnly = listed.filter(({ run }) => run === false);
/** Attacks by a payload or an ending. */
export const payloadRows = listed.filter(({ unit, run }) => unit !== undefined && run !== false);

/** Attacks by tool calls: they need a wall. */
export const toolRows = [
  ...listed.filter(({ unit, run }) => unit === undefined && run !== false),
  ...own,
  fakeGitFolder,
];

/** Texts that protected targets really hold, so that a refused edit was refused by the wall and by nothing else. */
const HELD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'B19-workflow-edit': { old_string: 'on: push', new_string: 'on: pull_request_target' },
  'B21-symlink-write': { old_string: 'token=' },
  'B25-hardlink-write': { old_string: 'token=' },
};

/** The calls of a row, those made first included, with the world's names in them. */
export function callsOf(row: AttackRow, names: Readonly<Record<string, string>>): readonly AttackCall[] {
  const main = { tool: row.tool, args: { ...row.args, ...HELD[row.id] } };
  const { repeat = 1 } = row.expect;
  const often = typeof repeat === 'number' ? repeat : 1;
  return [...(row.pre ?? []), ...Array.from({ length: often }, () => main)].map(({ tool, args }) => {
    const text = Object.entries(names).reduce(
      (line, [name, value]) => line.replaceAll(name, JSON.stringify(value).slice(1, -1)),
      JSON.stringify(args),
    );
    const filled: AttackCall['args'] = JSON.parse(
      text.replace(/\$\{([A-Z])\*(\d+)\}/gu, (_, letter: string, count: string) =>
        letter.repeat(Number(count)),
      ),
    );
    return { tool, args: filled };
  });
}
