/** What people are told: what is missing, and what is weaker. */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type DetectOptions,
  describeBroken,
  describeMissing,
  detectBackend,
  isContainer,
} from '../../src/sandbox/detect.ts';
import { describeWeaknesses } from '../../src/sandbox/open.ts';
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
  const script = `#!/bin/sh\necho '${said}' >&2\nexit 1\n`;
  for (const name of names) writeFileSync(join(folder, name), script, { mode: 0o755 });
  return folder;
}

it.each([
  ['darwin', 'macOS'],
  ['win32', 'Windows'],
  ['freebsd', 'freebsd'],
] as const)('on %s it says that Linux is needed', async (platform, name) => {
  const begin = `The sandbox needs Linux, and this machine runs ${name}. Fix: `;
  expect(await reasonOf({ platform })).toMatch(/ubuntu-latest.*`off`.*`auto`/u);
  expect((await reasonOf({ platform })).startsWith(begin)).toBe(true);
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
  const inBoth = /bubblewrap 0\.8.*sudo.*has neither.*apt-get install -y bubblewrap/u;
  for (const inContainer of [true, false]) expect(describeMissing(inContainer)).toMatch(inBoth);
  expect(describeMissing(false)).toContain('this machine has neither');
  expect(describeMissing(true)).toMatch(/this container has.*--privileged.*securityContext/u);
  expect(describeBroken('x', false)).toMatch(/here: x\..*apparmor_restrict_unprivileged_userns=0/u);
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
const ABOUT = { missing: null as string | null, hasCredentials: false, inContainer: true };
const tell = (options: Partial<SandboxOptions>, found: Partial<typeof ABOUT> = {}) => {
  const { missing, hasCredentials, inContainer } = { ...ABOUT, ...found };
  return describeWeaknesses({ ...base, ...options }, missing, hasCredentials, inContainer);
};

const PASSED = { passEnv: ['A', 'B', 'C'], environment: { A: 'x', B: 'secret' } };
const HIDDEN = /holds credentials, which the agent does not see.*persist-credentials: false/u;

it.each<[what: string, Partial<SandboxOptions>, Partial<typeof ABOUT>, list: readonly RegExp[]]>([
  ['nothing', {}, {}, []],
  ['off', { mode: 'off' }, {}, [/^sandbox: off\. .*trusted repositories only/u]],
  ['auto', { mode: 'auto' }, { missing: 'Why.' }, [/^sandbox: auto found no sandbox.* Why\.$/u]],
  ['the network', { shellNetwork: true }, {}, [/^shell-network: on\. What/u]],
  ['pass-env', PASSED, {}, [/can read A\.$/u]],
  ['credentials', {}, { hasCredentials: true }, [HIDDEN]],
  ['seen ones', { mode: 'off' }, { hasCredentials: true }, [/^sandbox: off/u, /holds credentials\. Fix/u]],
])('tells of %s', (_, options, found, list) => {
  const others = tell(options, found).filter((one) => !one.startsWith('The step runs as root'));
  expect(others).toEqual(list.map((pattern) => expect.stringMatching(pattern)));
});

it('tells of root, but not in a container with a sandbox', () => {
  const isTold = (mode: 'required' | 'off', inContainer: boolean) =>
    tell({ mode }, { inContainer }).some((one) => one.startsWith('The step runs as root (uid 0)'));
  const told = [isTold('required', false), isTold('off', true), isTold('required', true)];
  expect(told).toEqual([isRoot, isRoot, false]);
});

it('required without a sandbox throws, and auto opens', async () => {
  expect(() => world.open({ mode: 'required', detected: NO_SANDBOX })).toThrow('There is no sandbox.');
  const sandbox = await world.openReady({ mode: 'auto', detected: NO_SANDBOX });
  expect(sandbox.weaknesses()[0]).toContain('There is no sandbox.');
});
