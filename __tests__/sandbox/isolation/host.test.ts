import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import {
  describeBrokenSandbox,
  describeMissingSandbox,
  isContainer,
} from '../../../src/sandbox/isolation/host.ts';
import { namingFor } from '../../../src/text/naming.ts';

const base = mkdtempSync(join(tmpdir(), 'machine-'));
afterAll(() => rmSync(base, { recursive: true }));

function machine(name: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(base, name, path, '..'), { recursive: true });
    writeFileSync(join(base, name, path), text);
  }
  return join(base, name);
}

it('isContainer detects Docker, Podman and Kubernetes by their files', async () => {
  const known = await Promise.all([
    isContainer(machine('docker', { '.dockerenv': '' })),
    isContainer(machine('podman', { 'run/.containerenv': '' })),
    isContainer(machine('pod', { 'proc/1/cgroup': '12:pids:/kubepods/besteffort/pod1/2\n' })),
    isContainer(machine('hosted', { 'proc/1/cgroup': '0::/init.scope\n' })),
    isContainer(join(base, 'absent')),
  ]);
  expect(known).toEqual([true, true, true, false, false]);
});

const sentences = {
  'a container without helpers': describeMissingSandbox('linux', true),
  'a container in which none starts': describeBrokenSandbox('bwrap: no', true),
  'Linux without helpers': describeMissingSandbox('linux'),
  'Linux where none starts': describeBrokenSandbox('bwrap: no'),
  Windows: describeMissingSandbox('win32'),
  macOS: describeMissingSandbox('darwin'),
};

it.each(['action', 'command-line', 'library'] as const)(
  'the messages about a missing sandbox match the golden file for the %s',
  async (entry) => {
    const lines = Object.entries(sentences).map(([place, say]) => `${place}\n  ${say(namingFor(entry))}\n`);
    await expect(lines.join('\n')).toMatchFileSnapshot(`../../golden/sandbox/missing-${entry}.txt`);
  },
);
