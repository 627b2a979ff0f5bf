import { expect, it } from 'vitest';
import { buildEnvironment, listPathFolders } from '../../src/sandbox/environment.ts';
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
  GIT_CONFIG_VALUE_0: '*',
};

const world = await useWorld();

it('passes only the allow-list', () => {
  const passed = {
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'C',
    CI: 'true',
    GITHUB_SHA: 'abc',
    JAVA_HOME_17_X64: '/jdk',
  };
  const left = `HOME INPUT_API_KEY ACTIONS_RUNTIME_TOKEN GITHUB_TOKEN GITHUB_OUTPUT GITHUB_ENV OPENAI_API_KEY
    HTTPS_PROXY NODE_OPTIONS LD_PRELOAD BASH_ENV ENV`.split(/\s+/u);
  const others = Object.fromEntries(left.map((name) => [name, '/x']));
  const environment = { ...others, ...passed, PATH: '/usr/bin::relative:/bin' };
  const expected = { ...always, ...passed, PATH: '/usr/bin:/bin', TERM: 'dumb' };
  expect(buildEnvironment({ ...base, environment })).toEqual(expected);
});

it('adds variables of pass-env, but never a secret', () => {
  const environment = { MINE: 'yes', KEY: 's3cret-value', HOME: '/h' };
  const passEnv = ['MINE', 'KEY', 'HOME', 'ABSENT'];
  const defaults = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TERM: 'dumb' };
  const expected = { ...always, ...defaults, MINE: 'yes' };
  expect(buildEnvironment({ ...base, environment, passEnv })).toEqual(expected);
});

it('passes a proxy, its password too, only with the network', () => {
  const proxies = {
    HTTPS_PROXY: 'http://u:p@proxy:3128',
    http_proxy: 'u:p@proxy',
    ALL_PROXY: 'http://proxy',
  };
  const passed = { ...proxies, NO_PROXY: 'a@b', NODE_EXTRA_CA_CERTS: '/ca.pem' };
  const environment = { ...passed, OTHER: 'http://u:p@x' };
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
  const limits = { maxBytes: 1_000, timeoutMs: 9_000, signal: new AbortController().signal };

  it('gives pass-env to the commands of the model, and nothing of the user to our scripts', async () => {
    const given = { MINE: "a 'b' $c\nd", BASH_ENV: '/evil', OTHER: 'x', CI: '1' };
    const environment = { PATH: '/usr/bin:/bin', ...given };
    const sandbox = await world.openReady({ environment, passEnv: ['MINE'] });
    const shown = await exec(sandbox, 'printf "%s|%s|%s" "$MINE" "$BASH_ENV$OTHER" "$CI"');
    expect(shown.output).toBe("a 'b' $c\nd||1");
    const text = String((await sandbox.runScript('env | sort', limits)).stdout);
    expect(text).not.toMatch(/MINE|OTHER|CI=|API_KEY|HOME=\/(?!nonexistent)/u);
    expect(text).toContain('PATH=/usr/bin:/bin:/usr/sbin:/sbin\n');
  });

  it('runs no file that BASH_ENV or ENV of pass-env names in our scripts', async () => {
    const environment = { PATH: '/usr/bin:/bin', BASH_ENV: '/tmp/evil', ENV: '/tmp/evil' };
    const sandbox = await world.openReady({ environment, passEnv: ['BASH_ENV', 'ENV'] });
    await exec(sandbox, "echo 'echo pwned' > /tmp/evil");
    expect((await exec(sandbox, ':')).output).toBe('pwned\n');
    expect(String((await sandbox.runScript('bash -c :', limits)).stdout)).toBe('');
  });
});
