import { expect, it } from 'vitest';
import { buildEnvironment, findProxyPasswords, listPathFolders } from '../../src/sandbox/environment.ts';
import { describeOpen, exec, useWorld } from './world.ts';

const base = {
  passEnv: [],
  shellNetwork: false,
  isSecret: (value: string) => value.includes('s3cret-value'),
  home: '/home/u',
  tmp: '/tmp',
  workspace: '/w',
};

const always = {
  HOME: '/home/u',
  TMPDIR: '/tmp',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '/w',
};

const world = await useWorld();

it('passes only the allow-list', () => {
  const environment = {
    PATH: '/usr/bin::relative:/bin',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    CI: 'true',
    GITHUB_SHA: 'abc',
    JAVA_HOME_17_X64: '/jdk',
    HOME: '/home/runner',
    INPUT_API_KEY: 'x',
    ACTIONS_RUNTIME_TOKEN: 'x',
    GITHUB_TOKEN: 'x',
    GITHUB_OUTPUT: '/x',
    GITHUB_ENV: '/x',
    OPENAI_API_KEY: 'x',
    HTTPS_PROXY: 'http://proxy',
    NODE_OPTIONS: '--inspect',
    LD_PRELOAD: '/evil.so',
    BASH_ENV: '/evil',
    ENV: '/evil',
  };
  expect(buildEnvironment({ ...base, environment })).toEqual({
    ...always,
    PATH: '/usr/bin:/bin',
    TERM: 'dumb',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    CI: 'true',
    GITHUB_SHA: 'abc',
    JAVA_HOME_17_X64: '/jdk',
  });
});

it('adds variables of pass-env, but never a secret', () => {
  const environment = { MINE: 'yes', KEY: 's3cret-value', HOME: '/h' };
  const passEnv = ['MINE', 'KEY', 'HOME', 'ABSENT'];
  expect(buildEnvironment({ ...base, environment, passEnv })).toEqual({
    ...always,
    PATH: '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    MINE: 'yes',
  });
});

it('names a proxy with a password and passes it only with the network', () => {
  const environment = {
    HTTPS_PROXY: 'http://u:p@proxy:3128',
    http_proxy: 'u:p@proxy',
    ALL_PROXY: 'http://proxy',
    NO_PROXY: 'a@b',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    OTHER: 'http://u:p@x',
  };
  expect(findProxyPasswords(environment)).toEqual(['HTTPS_PROXY', 'http_proxy']);
  const { OTHER: _, ...passed } = environment;
  expect(buildEnvironment({ ...base, environment, shellNetwork: true })).toMatchObject(passed);
  expect(buildEnvironment({ ...base, environment })).not.toHaveProperty('HTTPS_PROXY');
});

it('leaves out a variable whose value contains a secret, but not the proxy of shell-network', () => {
  const environment = {
    REGISTRY: '//registry/:_authToken=s3cret-value',
    PLAIN: 'x',
    GITHUB_REF: 'refs/heads/s3cret-value',
    HTTPS_PROXY: 'http://user:s3cret-value@proxy',
  };
  const given = { ...base, environment, passEnv: ['REGISTRY', 'PLAIN', 'HTTPS_PROXY'] };
  const names = (shellNetwork: boolean) => Object.keys(buildEnvironment({ ...given, shellNetwork }));
  expect(names(true)).toContain('PLAIN');
  expect(names(true)).toContain('HTTPS_PROXY');
  for (const name of ['REGISTRY', 'GITHUB_REF', 'HTTPS_PROXY']) expect(names(false)).not.toContain(name);
});

it('listPathFolders returns the absolute folders of PATH', () => {
  expect(listPathFolders(undefined)).toEqual([]);
  expect(listPathFolders(':/a:.:b:/c/d:')).toEqual(['/a', '/c/d']);
});

describeOpen('in a sandbox', () => {
  it('gives pass-env to the commands of the model, and nothing of the user to our scripts', async () => {
    const environment = {
      PATH: '/usr/bin:/bin',
      MINE: "a 'b' $c\nd",
      BASH_ENV: '/evil',
      OTHER: 'x',
      CI: '1',
    };
    const sandbox = await world.openReady({ environment, passEnv: ['MINE'] });
    const shown = await exec(sandbox, 'printf "%s|%s|%s" "$MINE" "$BASH_ENV$OTHER" "$CI"');
    expect(shown.output).toBe("a 'b' $c\nd||1");
    const limits = { maxBytes: 1_000, timeoutMs: 9_000, signal: new AbortController().signal };
    const { stdout } = await sandbox.runScript('env | sort', limits);
    expect(stdout.toString()).not.toMatch(/MINE|OTHER|CI=|API_KEY|HOME=\/(?!nonexistent)/u);
    expect(stdout.toString()).toContain('PATH=/usr/bin:/bin:/usr/sbin:/sbin\n');
  });

  it('runs no file that BASH_ENV or ENV of pass-env names in our scripts', async () => {
    const environment = { PATH: '/usr/bin:/bin', BASH_ENV: '/tmp/evil', ENV: '/tmp/evil' };
    const sandbox = await world.openReady({ environment, passEnv: ['BASH_ENV', 'ENV'] });
    await exec(sandbox, "echo 'echo pwned' > /tmp/evil");
    expect((await exec(sandbox, ':')).output).toBe('pwned\n');
    const limits = { maxBytes: 1_000, timeoutMs: 9_000, signal: new AbortController().signal };
    expect((await sandbox.runScript('bash -c :', limits)).stdout.toString()).toBe('');
  });
});
