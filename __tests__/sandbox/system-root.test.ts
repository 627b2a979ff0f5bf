/** What is shown of this machine: the plan, and a few places for real. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInside, planRoot } from '../../src/sandbox/system-root.ts';
import { putFiles } from '../support/local.ts';
import { CANARY, createMark, describeOpen, exec, isRoot, useWorld } from './world.ts';

const world = await useWorld();
const { base, home, temp, workspace } = world;
const run = mkdtempSync(join(temp, 'plan-'));
symlinkSync(home, join(base, 'linked-home'));
symlinkSync(base, join(base, 'linked-base'));
putFiles(home, { '.cargo/bin/cargo': '', '.cargo/credentials.toml': CANARY, '.m2/settings.xml': CANARY });
putFiles(home, { '.m2/repository/a': '', 'tools/bin/x': '', 'tools/lib/x': '', 'sdk/a': '' });
const inHome = ['home/.cargo/bin', 'home/.m2/repository'];

interface Wanted {
  readonly environment?: Readonly<Record<string, string>>;
  readonly readable?: readonly string[];
  readonly home?: string;
  readonly shellNetwork?: boolean;
}

function plan({ environment = {}, ...wanted }: Wanted = {}) {
  const options = { workspace, home, runnerTemp: temp, runFolder: run, readable: [], shellNetwork: false };
  return planRoot({ ...options, environment: { PATH: '/usr/bin', ...environment }, ...wanted });
}

/** The places in the base folder of this test, relative to it. */
function shownInBase(wanted: Wanted): readonly string[] {
  return plan(wanted)
    .filter(({ at }) => isInside(at, base))
    .map(({ at }) => at.slice(base.length + 1));
}

const SPELLINGS = [
  home,
  `${home}/`,
  `${home}/work/..`,
  join(base, 'linked-home'),
  `${base}/linked-base/home`,
  `/${home}`,
  `${base}//home/.`,
  base,
  '/',
  '//',
  temp,
  run,
  workspace,
  join(workspace, '.github'),
  join(run, 'context'),
];

describe('a folder that is or holds the home, RUNNER_TEMP, the workspace or the folder of the run', () => {
  mkdirSync(join(run, 'context'));

  it.each(SPELLINGS)('%s is not shown, whoever names it', (spelled) => {
    const names = ['RUNNER_TOOL_CACHE', 'AGENT_TOOLSDIRECTORY', 'JAVA_HOME', 'JAVA_HOME_17_X64', 'PATH'];
    for (const name of names) expect(shownInBase({ environment: { [name]: spelled } })).toEqual(inHome);
    expect(shownInBase({ readable: [spelled] })).toEqual(inHome);
    expect(plan({ readable: [spelled] }).map(({ at }) => at)).not.toContain('/');
  });

  it.each(SPELLINGS.slice(0, 7))('the home is known if it is named %s', (spelled) => {
    expect(shownInBase({ home: spelled, environment: { PATH: home, JAVA_HOME: home } })).toEqual(inHome);
  });
});

describe('the plan', () => {
  const machine = putFiles(mkdtempSync(join(base, 'machine-')), {
    'runner/bin/run': '',
    'runner/lib64/a': '',
    'runner/share/a': '',
    'runner/.credentials': CANARY,
    'runner/externals/a': '',
    'pnpm/node_modules/.bin/pnpm': '',
    'pnpm/node_modules/pnpm/pnpm.cjs': '',
    'pnpm/.npmrc': CANARY,
    'jdk/bin/java': '',
    'cache/node/24/bin/node': '',
    'plain/tool': '',
    'plain/lib/a': '',
  });
  const name = machine.slice(base.length + 1);
  const own = (...paths: string[]) => paths.map((path) => `${name}/${path}`);
  symlinkSync(join(machine, 'jdk'), join(machine, 'current'));

  it.each<[what: string, wanted: Wanted, shown: readonly string[]]>([
    ['of a home only the folders of the list', {}, inHome],
    [
      'a bin on PATH and what belongs to it',
      { environment: { PATH: `${machine}/runner/bin` } },
      [...inHome, ...own('runner/bin', 'runner/lib64', 'runner/share')],
    ],
    [
      'the parent of .bin',
      { environment: { PATH: `${machine}/pnpm/node_modules/.bin` } },
      [...inHome, ...own('pnpm/node_modules')],
    ],
    [
      'a folder on PATH without what lies beside it',
      { environment: { PATH: `${machine}/plain` } },
      [...inHome, ...own('plain')],
    ],
    [
      'in a home only the libraries beside bin',
      { environment: { PATH: `${home}/tools/bin` } },
      [...inHome, 'home/tools/bin', 'home/tools/lib'],
    ],
    ['no tool variable in a home', { environment: { JAVA_HOME: `${home}/sdk` } }, inHome],
    [
      'a tool variable elsewhere',
      { environment: { JAVA_HOME: `${machine}/jdk` } },
      [...inHome, ...own('jdk')],
    ],
    [
      'the tool cache',
      { environment: { RUNNER_TOOL_CACHE: `${machine}/cache` } },
      [...inHome, ...own('cache')],
    ],
    [
      'the target of a link, and the link',
      { environment: { JAVA_HOME: `${machine}/current` } },
      [...inHome, ...own('current', 'jdk')],
    ],
    [
      'sandbox-read, in a home too',
      { readable: [`${home}/sdk`, `${machine}/plain`, `${base}/none`] },
      [...inHome, 'home/sdk', ...own('plain')],
    ],
  ])('shows %s', (_, wanted, shown) => {
    expect([...shownInBase(wanted)].sort()).toEqual([...shown].sort());
  });

  it('shows no parts of /run, /var, /tmp, /root, /boot or /sys, and of /etc and /opt a few names', () => {
    const places = plan().map(({ at }) => at);
    const closed = places.filter((at) =>
      /^\/(?:run|var(?!\/lib\/gems)|root|boot|sys|dev|proc)(?:\/|$)/u.test(at),
    );
    expect(closed).toEqual([]);
    for (const at of [
      '/',
      '/etc',
      '/opt',
      '/etc/shadow',
      '/etc/sudoers',
      '/etc/ssl',
      '/etc/ssl/private',
      '/etc/ssh',
    ])
      expect(places).not.toContain(at);
    for (const at of ['/usr', '/etc/passwd']) expect(places).toContain(at);
    expect(places).not.toContain('/etc/resolv.conf');
    expect(plan({ shellNetwork: true }).map(({ at }) => at)).toContain('/etc/resolv.conf');
  });
});

describeOpen('in a sandbox', () => {
  it('shows a bin on PATH, and nothing of the home or beside it', async () => {
    const runner = putFiles(mkdtempSync(join(base, 'runner-')), {
      'bin/run': '#!/bin/sh\necho ran',
      '.credentials': CANARY,
    });
    chmodSync(join(runner, 'bin/run'), 0o755);
    const PATH = `${runner}/bin:${base}/linked-home:${home}/:/usr/bin:/bin`;
    const environment = { PATH, JAVA_HOME: `${home}/work/..`, RUNNER_TOOL_CACHE: `/${home}` };
    const sandbox = await world.openReady({ environment, readable: [`${base}/linked-base/home`] });
    const places = [
      `${runner}/.credentials`,
      `${home}/.netrc`,
      `${home}/.cargo/credentials.toml`,
      '/run',
      '/sys',
    ];
    const { output } = await exec(
      sandbox,
      `run; cat ~/.npmrc ${places.join(' ')} 2>&1 | grep -c 'No such'; ls /var | grep -v lib`,
    );
    expect(output).toBe('ran\n6\ntmp\n');
  });

  it('shows a folder at its path and through a link, read-only', async () => {
    const folder = putFiles(mkdtempSync(join(base, 'read-')), { 'a.txt': 'hello' });
    symlinkSync(folder, `${folder}-link`);
    const sandbox = await world.openReady({ readable: [`${folder}-link`] });
    const { output } = await exec(
      sandbox,
      `cat ${folder}/a.txt ${folder}-link/a.txt; echo x > ${folder}/a.txt`,
    );
    expect(output).toMatch(/^hellohello.*Read-only file system/su);
  });

  it.runIf(isRoot)('shows root of /etc and /opt only what others may read', async () => {
    const name = createMark('java-private');
    writeFileSync(`/opt/${name}`, CANARY, { mode: 0o600 });
    try {
      const sandbox = await world.openReady();
      const { output } = await exec(sandbox, `id -u; cat /etc/shadow /opt/${name} /etc/ssh/ssh_config 2>&1`);
      expect(output).toMatch(/^0\n(?:cat: .*: No such file or directory\n){3}$/u);
    } finally {
      rmSync(`/opt/${name}`);
    }
  });
});
