import { expect, it } from 'vitest';
import { buildEnvironment } from '../../src/sandbox/environment.ts';

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
  GIT_CONFIG_VALUE_0: '*',
};

it('passes only the allow-list', () => {
  const passed = { LANG: 'de_DE.UTF-8', LC_ALL: 'C', CI: 'true', GITHUB_SHA: 'a', JAVA_HOME_17_X64: '/jdk' };
  const left = `HOME INPUT_API_KEY ACTIONS_RUNTIME_TOKEN GITHUB_TOKEN GITHUB_OUTPUT GITHUB_ENV OPENAI_API_KEY
    HTTPS_PROXY NODE_OPTIONS LD_PRELOAD BASH_ENV ENV`.split(/\s+/u);
  const others = Object.fromEntries(left.map((name) => [name, '/x']));
  const environment = { ...others, ...passed, PATH: ':/usr/bin::relative:.:/bin:' };
  const expected = { ...always, ...passed, PATH: '/usr/bin:/bin', TERM: 'dumb' };
  expect(buildEnvironment({ ...base, environment })).toEqual(expected);
});

it('adds variables of pass-env, but none whose value contains a secret', () => {
  const secret = '//registry/:_authToken=s3cret-value';
  const environment = { MINE: 'yes', KEY: secret, GITHUB_REF: secret, HOME: '/h' };
  const passEnv = ['MINE', 'KEY', 'HOME', 'ABSENT'];
  const defaults = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb' };
  const expected = { ...always, ...defaults, MINE: 'yes' };
  expect(buildEnvironment({ ...base, environment, passEnv })).toEqual(expected);
});

it('passes a proxy, its password too, only with the network', () => {
  const proxies = { HTTPS_PROXY: 'http://u:s3cret-value@proxy:3128', http_proxy: 'u:p@proxy' };
  const passed = { ...proxies, ALL_PROXY: 'http://proxy', NO_PROXY: 'a@b', NODE_EXTRA_CA_CERTS: '/ca.pem' };
  const given = { ...base, environment: passed, passEnv: ['HTTPS_PROXY'] };
  expect(buildEnvironment({ ...given, shellNetwork: true })).toMatchObject(passed);
  for (const name of Object.keys(passed)) expect(buildEnvironment(given)).not.toHaveProperty(name);
});
