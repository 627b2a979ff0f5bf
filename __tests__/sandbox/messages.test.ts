/** What people are told: what is missing, and what is weaker. */
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type DetectOptions, detectBackend } from '../../src/sandbox/detect.ts';
import {
  describeBroken,
  describeMissing,
  describeWeaknesses,
  isContainer,
} from '../../src/sandbox/messages.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { putFiles } from '../support/local.ts';
import { CLOSED, isRoot, NO_SANDBOX, useWorld } from './world.ts';

const world = await useWorld();
const inContainer = await isContainer();

async function reasonOf(options: Partial<DetectOptions>): Promise<string> {
  const found = await detectBackend({ mode: 'required', shellNetwork: false, ...options });
  return found.kind === 'none' ? found.error.message : `found ${found.kind}`;
}

/** A folder with programs that say something and fail. */
function makePrograms(names: readonly string[], said = 'no'): string {
  const folder = mkdtempSync(join(world.base, 'programs-'));
  for (const name of names) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

it.each<[platform: NodeJS.Platform, name: string]>([
  ['darwin', 'macOS'],
  ['win32', 'Windows'],
  ['freebsd', 'freebsd'],
])('on %s it says that Linux is needed', async (platform, name) => {
  expect(await reasonOf({ platform })).toMatch(
    new RegExp(
      `^The sandbox needs Linux, and this machine runs ${name}\\. Fix: .*ubuntu-latest.*\`off\`.*\`auto\``,
      'u',
    ),
  );
});

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

it('names the fix for the place', () => {
  expect(describeMissing(false)).toMatch(
    /bubblewrap 0\.8.*sudo.*this machine has neither.*apt-get install -y bubblewrap/u,
  );
  expect(describeMissing(true)).toMatch(/this container has neither.*--privileged.*securityContext/u);
  expect(describeBroken('x', false)).toMatch(
    /does not start here: x\..*apparmor_restrict_unprivileged_userns=0/u,
  );
  expect(describeBroken('x', true)).toMatch(/--privileged/u);
});

it.each<[file: string, text: string, expected: boolean]>([
  ['.dockerenv', '', true],
  ['run/.containerenv', '', true],
  ['var/run/secrets/kubernetes.io/token', '', true],
  ['proc/1/cgroup', '0::/kubepods/pod1', true],
  ['proc/1/cgroup', '0::/init.scope', false],
  ['etc/passwd', '', false],
])('a machine with %s (%s) is a container: %s', async (file, text, expected) => {
  expect(await isContainer(putFiles(mkdtempSync(join(world.base, 'root-')), { [file]: text }))).toBe(
    expected,
  );
});

it('is not looked for with sandbox: off', async () => {
  expect((await detectBackend({ mode: 'off', shellNetwork: false })).kind).toBe('none');
});

const base: SandboxOptions = {
  ...{ ...CLOSED, mode: 'required', workspace: '/w', workingDirectory: '/w', home: '/h', runnerTemp: '/t' },
  ...{ runFolder: '/t/r', environment: {} },
};
const secret = (value: string) => value === 'secret';

it.each<[what: string, weak: Partial<Parameters<typeof describeWeaknesses>[0]>, list: readonly RegExp[]]>([
  ['nothing', {}, []],
  ['off', { options: { ...base, mode: 'off' } }, [/^sandbox: off\. .*trusted repositories only/u]],
  [
    'auto without a sandbox',
    { options: { ...base, mode: 'auto' }, missing: 'Why.' },
    [/^sandbox: auto found no sandbox.* Why\.$/u],
  ],
  ['the network', { options: { ...base, shellNetwork: true } }, [/^shell-network: on\. What/u]],
  [
    'a proxy with a password',
    { options: { ...base, shellNetwork: true, environment: { HTTPS_PROXY: 'http://a:b@c' } } },
    [/^shell-network: on\. What/u, /password of the proxy in HTTPS_PROXY/u],
  ],
  [
    'pass-env',
    {
      options: { ...base, passEnv: ['A', 'B', 'C'], isSecret: secret, environment: { A: 'x', B: 'secret' } },
    },
    [/can read A\.$/u],
  ],
  [
    'credentials',
    { hasCredentials: true },
    [/holds credentials, which the agent does not see.*persist-credentials: false/u],
  ],
  [
    'credentials that are seen',
    { hasCredentials: true, options: { ...base, mode: 'off' } },
    [/^sandbox: off/u, /holds credentials\. Fix/u],
  ],
])('tells of %s', (_, weak, list) => {
  const told = describeWeaknesses({
    options: base,
    missing: null,
    hasCredentials: false,
    inContainer: true,
    ...weak,
  });
  const others = told.filter((one) => !one.startsWith('The step runs as root'));
  expect(others).toHaveLength(list.length);
  for (const [index, pattern] of list.entries()) expect(others[index]).toMatch(pattern);
});

it('tells of root, but not in a container with a sandbox', () => {
  const told = (inside: boolean, mode: 'required' | 'off') =>
    describeWeaknesses({
      options: { ...base, mode },
      missing: null,
      hasCredentials: false,
      inContainer: inside,
    });
  const isTold = (list: readonly string[]) =>
    list.some((one) => one.startsWith('The step runs as root (uid 0)'));
  expect([told(false, 'required'), told(true, 'off'), told(true, 'required')].map(isTold)).toEqual([
    isRoot,
    isRoot,
    false,
  ]);
});

it('required without a sandbox throws, and auto opens', async () => {
  mkdirSync(join(world.temp, 'auto'));
  expect(() => world.open({ mode: 'required', detected: NO_SANDBOX })).toThrow('There is no sandbox.');
  const sandbox = await world.openReady({
    mode: 'auto',
    detected: NO_SANDBOX,
    runFolder: join(world.temp, 'auto'),
  });
  expect(sandbox.weaknesses()[0]).toContain('There is no sandbox.');
});
