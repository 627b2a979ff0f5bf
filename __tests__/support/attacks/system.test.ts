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

/** What a watch of these calls notices of what `change` does. */
function noticed(calls: readonly AttackCall[], change: () => void): readonly string[] {
  const look = watchSystem({ calls, mark: MARK, except: join(folder, 'base'), systemFolders: [opt] });
  const before = look();
  change();
  return differences(before, look()).map((line) => line.replaceAll(`${folder}/`, ''));
}

it('an entry that a call names, or that bears the mark, is noticed', () => {
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

it.each(['/tmp', '/var/tmp'])('an entry of %s that bears the mark is noticed', (scratch) => {
  const own = mkdtempSync(join(scratch, `other-${MARK}-`));
  rmSync(own, { recursive: true });
  const change = () => mkdirSync(own);
  expect(noticed([], change)).toEqual([expect.stringMatching(`^${own}: absent -> folder `)]);
  rmSync(own, { recursive: true });
});

it('the removal of a named entry, another mode and another content are noticed', () => {
  const calls = [shell(`rm -rf ${opt}/toolchain\nchmod 777 ${opt}; echo b >> ${opt}/hosts`)];
  const change = () => {
    rmSync(join(opt, 'toolchain'), { recursive: true });
    writeFileSync(join(opt, 'hosts'), 'b\n');
    chmodSync(opt, 0o777);
  };
  const lines = noticed(calls, change);
  expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual(['opt', 'opt/hosts', 'opt/toolchain']);
});

it('a system folder that is moved away is noticed though no call names it', () => {
  const lines = noticed([shell('true')], () => renameSync(opt, join(folder, 'moved')));
  expect(lines).toEqual([expect.stringMatching(/^opt: folder .* -> absent$/u)]);
});

it('what other programs create, change and remove in the same folders is ignored', () => {
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
