import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { brokenWall, findHelper, isContainer, missingWall } from '../../src/sandbox/machine.ts';

const base = mkdtempSync(join(tmpdir(), 'machine-'));
afterAll(() => rmSync(base, { recursive: true }));

function machine(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(base, name, path, '..'), { recursive: true });
    writeFileSync(join(base, name, path), text);
  }
  return join(base, name);
}

it('a container is known by what Docker, Podman and Kubernetes leave in it', async () => {
  const known = await Promise.all([
    isContainer(machine('docker', { '.dockerenv': '' })),
    isContainer(machine('podman', { 'run/.containerenv': '' })),
    isContainer(machine('pod', { 'proc/1/cgroup': '12:pids:/kubepods/besteffort/pod1/2\n' })),
    isContainer(machine('hosted', { 'proc/1/cgroup': '0::/init.scope\n' })),
    isContainer(join(base, 'absent')),
  ]);
  expect(known).toEqual([true, true, true, false, false]);
});

it('in a container the fix is the container, elsewhere a line to paste; the way out is always named', () => {
  const container = /options: --privileged/u;
  expect(brokenWall('bwrap: no', true)).toMatch(container);
  expect(missingWall('linux', true)).toMatch(container);
  expect(brokenWall('bwrap: no', false)).toMatch(/^bwrap: no\. Fix .*`sudo sysctl -w /u);
  expect(missingWall('linux', false)).toMatch(/`sudo apt-get update && sudo apt-get install -y bubblewrap`/u);
  expect(missingWall('win32', false)).toMatch(/`runs-on: ubuntu-latest`/u);
  for (const text of [brokenWall('x', true), brokenWall('x', false), missingWall('linux', true)])
    expect(text).toMatch(/`sandbox: off`.*`sandbox: auto`/u);
});

it('a helper is looked for in the folders given, and has to be a program', async () => {
  const folder = machine('helpers', { plain: '' });
  expect(await findHelper(['plain', 'absent'], [folder])).toBeNull();
  expect(await findHelper(['absent', 'sh'], [folder, '/bin'])).toBe('/bin/sh');
});
