import { expect, it } from 'vitest';
import { buildEnvironment, openProxies, pathFolders } from '../../../src/sandbox/exec/environment.ts';

const base = {
  passEnv: [],
  shellNetwork: false,
  isSecret: (value: string) => value === 's3cret-value',
  tmp: '/tmp',
  workspace: '/w',
};

const always = {
  HOME: '/tmp/.home',
  TMPDIR: '/tmp',
  GIT_CONFIG_GLOBAL: '/tmp/.home/.gitconfig',
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '/w',
};

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
  expect(openProxies(environment)).toEqual(['HTTPS_PROXY', 'http_proxy']);
  const { OTHER: _, ...passed } = environment;
  expect(buildEnvironment({ ...base, environment, shellNetwork: true })).toMatchObject(passed);
  expect(buildEnvironment({ ...base, environment })).not.toHaveProperty('HTTPS_PROXY');
});

it('sets the home directories of toolchains on PATH', () => {
  const environment = { PATH: '/home/u/.cargo/bin:/home/u/.pyenv/shims:/usr/bin' };
  expect(buildEnvironment({ ...base, environment })).toMatchObject({
    RUSTUP_HOME: '/home/u/.rustup',
    PYENV_ROOT: '/home/u/.pyenv',
  });
});

it('pathFolders returns the absolute directories of PATH', () => {
  expect(pathFolders(undefined)).toEqual([]);
  expect(pathFolders(':/a:.:b:/c/d:')).toEqual(['/a', '/c/d']);
});

it('omits a pass-env variable whose value contains a secret, but not the proxy of shell-network', () => {
  const isSecret = (value: string) => value.includes('s3cret-value');
  const environment = {
    REGISTRY: '//registry/:_authToken=s3cret-value',
    PLAIN: 'x',
    GITHUB_REF: 'refs/heads/s3cret-value',
    HTTPS_PROXY: 'http://user:s3cret-value@proxy',
  };
  const given = { ...base, environment, isSecret, passEnv: ['REGISTRY', 'PLAIN', 'HTTPS_PROXY'] };
  const names = (shellNetwork: boolean) => Object.keys(buildEnvironment({ ...given, shellNetwork }));
  expect(names(true)).toContain('PLAIN');
  expect(names(true)).toContain('HTTPS_PROXY');
  for (const name of ['REGISTRY', 'GITHUB_REF', 'HTTPS_PROXY']) expect(names(false)).not.toContain(name);
});
