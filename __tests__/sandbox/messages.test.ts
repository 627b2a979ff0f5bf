/** What people are told: what is missing, and what is weaker. */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { describeBroken, describeMissing, detectBackend, isContainer } from '../../src/sandbox/detect.ts';
import { describeWeaknesses } from '../../src/sandbox/open.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { putFiles } from '../support/local.ts';
import { CLOSED, isRoot, useWorld } from './world.ts';

const world = await useWorld();
const inContainer = await isContainer();

async function reasonOf(options: Partial<Parameters<typeof detectBackend>[0]>): Promise<string> {
  const found = await detectBackend({ mode: 'required', shellNetwork: false, ...options });
  return found.kind === 'none' ? found.error.message : `found ${found.kind}`;
}

function makePrograms(names: readonly string[], said = 'no'): string {
  const folder = mkdtempSync(join(world.base, 'programs-'));
  const script = `#!/bin/sh\necho '${said}' >&2\nexit 1\n`;
  for (const name of names) writeFileSync(join(folder, name), script, { mode: 0o755 });
  return folder;
}

it('without programs it says what to install', async () => {
  expect(await reasonOf({ programFolders: [makePrograms([])] })).toBe(describeMissing(inContainer));
  // As an ordinary user whose sudo asks for a password; as root sudo is not needed.
  const folder = makePrograms(['sudo']);
  for (const name of ['unshare', 'nsenter', 'setpriv']) symlinkSync(`/usr/bin/${name}`, join(folder, name));
  if (!isRoot) expect(await reasonOf({ programFolders: [folder] })).toBe(describeMissing(inContainer));
});

it('says what the machine said', async () => {
  const said = 'setting up uid map: Permission denied';
  const folder = makePrograms(isRoot ? ['unshare', 'nsenter', 'setpriv'] : ['bwrap'], said);
  expect(await reasonOf({ programFolders: [folder] })).toBe(describeBroken(said, inContainer));
});

it.each<[file: string, text: string, expected: boolean]>([
  ['.dockerenv', '', true],
  ['run/.containerenv', '', true],
  ['var/run/secrets/kubernetes.io/token', '', true],
  ['proc/1/cgroup', '0::/kubepods/pod1', true],
  ['proc/1/cgroup', '0::/init.scope', false],
  ['etc/passwd', '', false],
])('a machine with %s (%s) is a container: %s', async (file, text, expected) => {
  const root = putFiles(mkdtempSync(join(world.base, 'root-')), { [file]: text });
  expect(await isContainer(root)).toBe(expected);
});

it('is not looked for with sandbox: off', async () => {
  expect((await detectBackend({ mode: 'off', shellNetwork: false })).kind).toBe('none');
});

const base: SandboxOptions = {
  ...{ ...CLOSED, mode: 'required', workspace: '/w', workingDirectory: '/w', home: '/h', runnerTemp: '/t' },
  ...{ runFolder: '/t/r', environment: {}, isSecret: (value) => value === 'secret' },
};
const tell = (
  options: Partial<SandboxOptions>,
  missing: string | null = null,
  hasCredentials = false,
  inContainer = false,
) => describeWeaknesses({ ...base, ...options }, missing, hasCredentials, inContainer);

const PASSED = { passEnv: ['A', 'B', 'C'], environment: { A: 'x', B: 'secret' } };

it('says what is missing and weaker, and what to do', async () => {
  const platforms = ['darwin', 'win32', 'freebsd'] as const;
  const systems = await Promise.all(platforms.map((platform) => reasonOf({ platform })));
  const missing = [false, true].flatMap((inContainer) => [
    describeMissing(inContainer),
    describeBroken('x', inContainer),
  ]);
  const uid = vi.spyOn(process, 'getuid').mockReturnValue(1000);
  const user = [
    tell({}),
    tell({ mode: 'off' }),
    tell({ mode: 'auto' }, 'Why.'),
    tell({ shellNetwork: true }),
    tell(PASSED),
    tell({}, null, true),
    tell({ mode: 'off' }, null, true),
  ];
  uid.mockReturnValue(0);
  const root = [tell({}, null, false, true), tell({}), tell({ mode: 'off' }, null, false, true)];
  uid.mockRestore();
  const weaknesses = [...user, ...root].map((list) => list.join('\n'));
  const text = [...systems, ...missing, ...weaknesses].join('\n\n');
  await expect(`${text}\n`).toMatchFileSnapshot('../golden/sandbox/messages.txt');
});
