import { expect, it } from 'vitest';
import {
  describeBackend,
  describeOptions,
  describeRoot,
  groupsKept,
} from '../../../src/sandbox/isolation/weaknesses.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { CLOSED } from '../world.ts';

const options: SandboxOptions = {
  ...{ ...CLOSED, workspace: '/w', workingDirectory: '/w', mode: 'required' },
  environment: { HTTPS_PROXY: 'http://u:hush@proxy:3128', HTTP_PROXY: 'http://proxy:3128' },
  ...{ home: '/h', runnerTemp: '/t', runFolder: '/t/run' },
};

it('reports that commands can read the password of a proxy without showing it', () => {
  const proxyWeaknesses = (shellNetwork: boolean) =>
    describeOptions({ ...options, shellNetwork }, true, null).filter((text) => text.includes('proxy'));
  expect(proxyWeaknesses(true)).toEqual([
    "shell-network: on. The agent's commands can read the user name and password of the proxy in HTTPS_PROXY: without them it lets nothing through.",
  ]);
  expect(proxyWeaknesses(false)).toEqual([]);
});

it('reports root as a weakness, but in a container with a sandbox only as a note', () => {
  const machine = [[expect.stringContaining('has the whole machine. Run the job as an ordinary user.')], []];
  const container = [[], [expect.stringContaining('what escapes the sandbox has the container.')]];
  expect(describeRoot(true, false, true)).toEqual(machine);
  expect(describeRoot(false, true, true)).toEqual(machine);
  expect(describeRoot(true, true, true)).toEqual(container);
  expect(describeRoot(true, true, false)).toEqual([[], []]);
});

it('groupsKept returns supplementary groups that cannot be dropped, except device groups', () => {
  const table = 'root:x:0:\nadm:x:4:syslog,u\naudio:x:29:u\ndocker:x:999:u\nu:x:1000:\n';
  expect(groupsKept([1000, 4, 29, 999, 54_321, 4], 1000, table)).toEqual(['54321', 'adm', 'docker']);
  expect(groupsKept([1000], 1000, table)).toEqual([]);
});

it('reports a search for private files that did not finish', () => {
  const wall = { name: 'unshare', filtersCalls: true } as const;
  expect(describeBackend(wall, true)).toEqual([]);
  expect(describeBackend(wall, false)).toEqual([expect.stringContaining('Fix: install findutils')]);
});
