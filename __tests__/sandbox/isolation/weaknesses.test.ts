import { describe, expect, it } from 'vitest';
import { findWeaknesses, groupsKept } from '../../../src/sandbox/isolation/weaknesses.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';

const options: SandboxOptions = {
  workspace: '/w',
  workingDirectory: '/w',
  mode: 'required',
  access: 'scratch',
  shellNetwork: true,
  readable: [],
  passEnv: [],
  environment: { HTTPS_PROXY: 'http://u:hush@proxy:3128', HTTP_PROXY: 'http://proxy:3128' },
  home: '/h',
  runnerTemp: '/t',
  isSecret: () => false,
  runFolder: '/t/run',
};

it('the password of a proxy is told where commands get it, and never shown', () => {
  const told = (shellNetwork: boolean) =>
    findWeaknesses({ ...options, shellNetwork }, true, null, false)
      .list()
      .filter((text) => text.includes('proxy'));
  expect(told(true)).toEqual([
    "shell-network: on. The agent's commands can read the user name and password of the proxy in HTTPS_PROXY: without them it lets nothing through.",
  ]);
  expect(told(false)).toEqual([]);
});

describe.runIf(process.getuid?.() === 0)('root', () => {
  it('is a weakness on a machine', () => {
    const found = findWeaknesses(options, true, null, false);
    expect(found.list().at(-1)).toBe(
      'The step runs as root (uid 0): what escapes the sandbox has the whole machine. Run the job as an ordinary user.',
    );
    expect(found.notes()).toEqual([]);
  });

  it('is a line of the log in a container, where it is the usual user', () => {
    const found = findWeaknesses(options, true, null, true);
    expect(found.list().join()).not.toContain('root');
    expect(found.notes()).toEqual([
      'The step runs as root (uid 0) in its container: what escapes the sandbox has the container.',
    ]);
  });

  it('is a weakness in a container without a sandbox', () => {
    expect(
      findWeaknesses({ ...options, mode: 'off' }, false, null, true)
        .list()
        .join(),
    ).toContain('root');
  });
});

it('the groups that a wall cannot drop are named: not the primary one, nor those of devices', () => {
  const table = 'root:x:0:\nadm:x:4:syslog,u\naudio:x:29:u\ndocker:x:999:u\nu:x:1000:\n';
  expect(groupsKept([1000, 4, 29, 999, 54_321, 4], 1000, table)).toEqual(['54321', 'adm', 'docker']);
  expect(groupsKept([1000], 1000, table)).toEqual([]);
});

it('a search for private files that did not end is reported', () => {
  const notesWhere = (complete: boolean) => {
    const weaknesses = findWeaknesses({ ...options, shellNetwork: false }, true, null, false);
    weaknesses.addReadable('unshare', complete);
    return weaknesses.list().filter((text) => text.includes('search'));
  };
  expect([notesWhere(true), notesWhere(false)]).toEqual([
    [],
    [expect.stringContaining('Fix: install findutils')],
  ]);
});
