import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AttackCall } from './rows.ts';
import { differences, watchSystem } from './system.ts';

const MARK = 'SAMARK-5c1e';
let folder: string;
let opt: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'attack-system-'));
  opt = join(folder, 'opt');
  mkdirSync(opt);
  mkdirSync(join(opt, 'toolchain'));
  writeFileSync(join(opt, 'hosts'), 'a\n', { mode: 0o644 });
});
afterEach(() => rmSync(folder, { recursive: true }));

const shell = (command: string): AttackCall => ({ tool: 'shell', args: { command } });

/** The changes by `change` that are reported for these calls. */
function noticed(calls: readonly AttackCall[], change: () => void): readonly string[] {
  const look = watchSystem({ calls, mark: MARK, except: join(folder, 'base'), systemFolders: [opt] });
  const before = look();
  change();
  return differences(before, look()).map((line) => line.replaceAll(`${folder}/`, ''));
}

it('reports an entry that a call names or whose name contains the mark', () => {
  const calls = [shell(`cd ${opt}; touch pwn; for n in 1 2; do touch ${MARK}$n; done`)];
  const change = () => {
    for (const name of ['pwn', `${MARK}1`]) writeFileSync(join(opt, name), '', { mode: 0o644 });
  };
  const uid = process.getuid?.();
  expect(noticed(calls, change)).toEqual([
    `opt/${MARK}1: absent -> file 100644 ${uid}`,
    `opt/pwn: absent -> file 100644 ${uid}`,
  ]);
});

it.each(['/tmp', '/var/tmp'])('reports an entry of %s whose name contains the mark', (scratch) => {
  const own = mkdtempSync(join(scratch, `other-${MARK}-`));
  rmSync(own, { recursive: true });
  const change = () => mkdirSync(own);
  expect(noticed([], change)).toEqual([expect.stringMatching(`^${own}: absent -> folder `)]);
  rmSync(own, { recursive: true });
});

it('reports the removal of a named entry and changes of its mode or content', () => {
  const calls = [shell(`rm -rf ${opt}/toolchain\nchmod 777 ${opt}; echo b >> ${opt}/hosts`)];
  const change = () => {
    rmSync(join(opt, 'toolchain'), { recursive: true });
    writeFileSync(join(opt, 'hosts'), 'b\n');
    chmodSync(opt, 0o777);
  };
  const lines = noticed(calls, change);
  expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual(['opt', 'opt/hosts', 'opt/toolchain']);
});

it('reports a missing system directory even if no call names it', () => {
  const lines = noticed([shell('true')], () => renameSync(opt, join(folder, 'moved')));
  expect(lines).toEqual([expect.stringMatching(/^opt: folder .* -> absent$/u)]);
});

it('ignores entries that other programs create, change or remove in the same directories', () => {
  const change = () => {
    for (const name of ['attack-x1Y2z3', 'rt-TWLsbq', 'passwd.lock', 'SAMARK-9d0f-3-'])
      mkdirSync(join(opt, name));
    rmSync(join(opt, 'toolchain'), { recursive: true });
    writeFileSync(join(opt, 'hosts'), 'another line\n');
  };
  const calls = [
    shell('touch /SAMARK-5c1e-0-; git log'),
    { tool: 'read_file', args: { path: `${opt}/hosts` } },
  ];
  expect(noticed(calls, change)).toEqual([]);
});
