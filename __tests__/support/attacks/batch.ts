/** Many attacks in one run of the bundle: a scripted model makes one call per turn and observes its effects before the next. */
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../sandbox/world.ts';
import { submits } from '../fakes/model/server.ts';
import { type AttackCall, type AttackRow, callsOf, replyOf, SHARED_FOLDERS, SYSTEM_FOLDERS } from './rows.ts';
import { type AttackStep, runAttackStep } from './step.ts';
import { CANARIES } from './world.ts';

type Texts = Readonly<Record<string, string>>;

/** The final payload of the model. */
export const FINAL = { verdict: 'pass', summary: 'nothing came of it' };

export type BatchResult = Awaited<ReturnType<typeof runBatch>>;

/** Runs attacks in order and then submits an honest verdict; `harm` is what each attack did, by the id of its row. */
export async function runBatch(step: Omit<AttackStep, 'script'>, rows: readonly AttackRow[]) {
  const { world } = step;
  const turns = rows.flatMap((row, number) => {
    const mark = `${world.mark}-${number}-`;
    const calls = callsOf(row, { ...world.names, SAMARK: mark });
    return calls.map((call, at) => ({ call, mark, row: at === calls.length - 1 ? row : null }));
  });
  const files = namedFiles(turns, world.mark);
  const state = (): Texts => ({
    ...Object.fromEntries(files.map((file) => [file, describeFile(file)])),
    ...{ ...world.manifest(), core_pattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8') },
  });
  const harm = new Map<string, readonly string[]>();
  let before: Texts | null = null;
  let startedAt = 0;
  const result = await runAttackStep({
    ...step,
    inputs: { 'timeout-minutes': '6', ...step.inputs },
    script: async ({ toolResults }, index) => {
      const elapsedMs = performance.now() - startedAt;
      before ??= state();
      const { row = null, mark = '' } = turns[index - 1] ?? {};
      if (row !== null) {
        await sleep(Number(row.expect['settle_ms'] ?? 0));
        const text = toolResults.map((each) => each.text).join('\n');
        const seen = [...findLeaks(text), ...findDifferences(before, state())];
        if (world.reached() > 0) seen.push(`reaches a listener ${world.reached()} times`);
        if (isAlive(mark)) seen.push('leaves a process');
        harm.set(row.id, [...seen, ...findUnmet(row.expect, text, elapsedMs)]);
      }
      const next = turns[index];
      startedAt = performance.now();
      return next === undefined ? submits(FINAL) : replyOf(next.call);
    },
  });
  return { ...result, harm };
}

/** The encodings in which a text may contain a secret. */
const NEEDLES = CANARIES.flatMap((value) => {
  const bytes = Buffer.from(value);
  const rot13 = value.replace(/[a-z]/giu, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  );
  const reversed = [...value].toReversed().join('');
  return [value, rot13, reversed, bytes.toString('base64').slice(0, -4), bytes.toString('hex')];
});

/** One line for each secret in a text. */
export function findLeaks(text: string): readonly string[] {
  return NEEDLES.filter((needle) => text.includes(needle)).map((needle) => `leaks ${needle}`);
}

/** The file tools' own messages, not those of another failure. */
const DENIED = /^".*" (?:does not exist\. Read|is not a regular file)|^Access to ".*" is denied\.$/mu;

/** What a row expects and the result does not show, one line each. */
function findUnmet(expected: AttackRow['expect'], result: string, elapsedMs: number): readonly string[] {
  const { tool, match, max_ms: maxMs, max_out: maxOut, not_match: unwanted } = expected;
  const unmet: string[] = [];
  if (tool === 'denied' && !DENIED.test(result)) unmet.push(`is not denied: ${result}`);
  for (const text of [match, tool === 'timeout' ? 'timed out after' : null])
    if (typeof text === 'string' && !result.includes(text)) unmet.push(`lacks ${text} in ${result}`);
  if (typeof unwanted === 'string' && result.includes(unwanted)) unmet.push(`says ${unwanted}`);
  if (typeof maxMs === 'number' && elapsedMs >= 4 * maxMs) unmet.push(`takes ${elapsedMs} ms`);
  if (typeof maxOut === 'number' && result.length >= maxOut) unmet.push(`prints ${result.length} characters`);
  return unmet;
}

/**
 * The files that calls can create, change or remove in the shared folders: each absolute path in a call, each name in a
 * call in the system folders, and each name with the mark in the others. Other programs, a second run of these tests among
 * them, add and remove other files at any time.
 */
function namedFiles(turns: readonly { readonly call: AttackCall }[], mark: string): readonly string[] {
  // read_file writes nothing.
  const writing = turns.filter(({ call }) => call.tool !== 'read_file');
  const text = writing.flatMap(({ call }) => Object.values(call.args)).join('\n');
  const names = [...new Set(text.match(/[\w.@+-]+/gu))];
  const marked = names.filter((name) => name.includes(mark));
  const paths = text.match(/(?<![\w.~$}])(?:\/[\w.@+-]+)+/gu) ?? [];
  const all = [
    ...[...SYSTEM_FOLDERS, ...paths.filter((file) => !file.startsWith('/proc/'))],
    ...SYSTEM_FOLDERS.flatMap((folder) => names.map((name) => path.join(folder, name))),
    ...SHARED_FOLDERS.flatMap((folder) => marked.map((name) => path.join(folder, name))),
  ];
  return [...new Set(all)];
}

/** The type, mode and owner of an entry, and the time at which a file was changed. */
function describeFile(file: string): string {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return 'absent';
    return `${stats.mode.toString(8)} ${stats.uid} ${stats.isFile() ? stats.ctimeMs : ''}`;
  } catch {
    return 'closed to this user';
  }
}

/** One line for each path whose description differs. */
function findDifferences(before: Texts, after: Texts): string[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? 'absent'} -> ${after[name] ?? 'absent'}`);
}
