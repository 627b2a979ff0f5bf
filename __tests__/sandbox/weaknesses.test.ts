import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { findWeaknesses } from '../../src/sandbox/weaknesses.ts';

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
    findWeaknesses({ ...options, shellNetwork }, true, null)
      .list()
      .filter((text) => text.includes('proxy'));
  expect(told(true)).toEqual([
    "shell-network: on. The agent's commands can read the user name and password of the proxy in HTTPS_PROXY: without them it lets nothing through.",
  ]);
  expect(told(false)).toEqual([]);
});
