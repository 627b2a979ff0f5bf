import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  describeBrokenSandbox,
  describeMissingSandbox,
  isContainer,
} from '../../../src/sandbox/isolation/host.ts';
import { putFiles } from '../../support/local.ts';
import { makeFolder } from '../../support/surroundings.ts';

const base = makeFolder();
const machine = (name: string, files: Readonly<Record<string, string>>) => putFiles(join(base, name), files);

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

it('the messages about a missing sandbox match the golden file', async () => {
  const lines = Object.entries(sentences).map(([place, sentence]) => `${place}\n  ${sentence}\n`);
  await expect(lines.join('\n')).toMatchFileSnapshot('../../golden/sandbox/missing.txt');
});
