import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
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

const sentences = {
  'a container without helpers': describeMissingSandbox('linux', true),
  'a container in which none starts': describeBrokenSandbox('bwrap: no', true),
  'Linux without helpers': describeMissingSandbox('linux'),
  'Linux where none starts': describeBrokenSandbox('bwrap: no'),
  Windows: describeMissingSandbox('win32'),
  macOS: describeMissingSandbox('darwin'),
};

describe.each(Object.entries(sentences))('on %s', (place, sentence) => {
  it('the action names a step, a line to paste, or another runner', () => {
    const text = sentence(namingFor('action'));
    expect(text).toMatch(
      place.includes('container')
        ? /options: --privileged/u
        : place.startsWith('Linux')
          ? /Fix.*, as a step before this one: `sudo /u
          : /`runs-on: ubuntu-latest`/u,
    );
    expect(text).toMatch(/`sandbox: off`.*`sandbox: auto`/u);
  });

  it.each(['command-line', 'library'] as const)('the %s says nothing of workflows', (entry) => {
    const text = sentence(namingFor(entry));
    expect(text).not.toMatch(/runs-on|a step before|job|sandbox: off/u);
    expect(text).toContain(namingFor(entry).setting('sandbox', 'off'));
  });
});

it('macOS has no sandbox: the sentence names Linux, and `sandbox: off` with what it asks for', () => {
  expect(describeMissingSandbox('darwin')(namingFor('action'))).toBe(
    'The sandbox needs Linux, and this machine runs macOS. Fix: use `runs-on: ubuntu-latest`. For a repository and pull requests that you trust entirely, set `sandbox: off`; with `sandbox: auto` the agent works without its shell.',
  );
  expect(describeMissingSandbox('darwin')(namingFor('command-line'))).toMatch(
    /runs macOS\. Fix: run it on Linux\./u,
  );
});
