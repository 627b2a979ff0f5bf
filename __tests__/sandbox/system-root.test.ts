/** What is planned to be shown of this machine. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isInside } from '../../src/files/real-paths.ts';
import { planRoot } from '../../src/sandbox/system-root.ts';
import { putFiles } from '../support/local.ts';
import { CANARY, createMark, isRoot, useWorld } from './world.ts';

const world = await useWorld();
const { base, home, temp, workspace } = world;
const run = mkdtempSync(join(temp, 'plan-'));
symlinkSync(home, join(base, 'linked-home'));
symlinkSync(base, join(base, 'linked-base'));
putFiles(home, { '.cargo/bin/cargo': '', '.cargo/credentials.toml': CANARY, '.m2/settings.xml': CANARY });
putFiles(home, { '.m2/repository/a': '', 'tools/bin/x': '', 'tools/lib/x': '', 'sdk/a': '' });
const inHome = ['home/.cargo/bin', 'home/.m2/repository'];

type Wanted = Partial<Parameters<typeof planRoot>[0]>;

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

const HOMES = [home, `${home}/`, `${home}/work/..`, `/${home}`, `${base}//home/.`];
const LINKED_HOMES = [join(base, 'linked-home'), `${base}/linked-base/home`];
const OTHERS = [base, '/', '//', temp, run, workspace, join(workspace, '.github'), join(run, 'context')];

describe('a folder that is or holds the home, RUNNER_TEMP, the workspace or the folder of the run', () => {
  mkdirSync(join(run, 'context'));

  it.each([...HOMES, ...LINKED_HOMES, ...OTHERS])('%s is not shown, whoever names it', (spelled) => {
    const names = ['RUNNER_TOOL_CACHE', 'AGENT_TOOLSDIRECTORY', 'JAVA_HOME', 'JAVA_HOME_17_X64', 'PATH'];
    for (const name of names) expect(shownInBase({ environment: { [name]: spelled } })).toEqual(inHome);
    expect(shownInBase({ readable: [spelled] })).toEqual(inHome);
    expect(plan({ readable: [spelled] }).map(({ at }) => at)).not.toContain('/');
  });

  it.each([...HOMES, ...LINKED_HOMES])('the home is known if it is named %s', (spelled) => {
    expect(shownInBase({ home: spelled, environment: { PATH: home, JAVA_HOME: home } })).toEqual(inHome);
  });
});

describe('the plan', () => {
  const machine = putFiles(mkdtempSync(join(base, 'machine-')), {
    ...{ 'runner/bin/run': '', 'runner/lib64/a': '', 'runner/share/a': '', 'runner/externals/a': '' },
    ...{ 'pnpm/node_modules/.bin/pnpm': '', 'pnpm/node_modules/pnpm/pnpm.cjs': '' },
    ...{ 'jdk/bin/java': '', 'cache/node/24/bin/node': '', 'plain/tool': '', 'plain/lib/a': '' },
    ...{ 'runner/.credentials': CANARY, 'pnpm/.npmrc': CANARY },
  });
  const name = machine.slice(base.length + 1);
  const own = (...paths: string[]) => paths.map((path) => `${name}/${path}`);
  symlinkSync(join(machine, 'jdk'), join(machine, 'current'));
  symlinkSync(join(machine, 'jdk'), join(workspace, 'outside'));

  const path = (PATH: string): Wanted => ({ environment: { PATH } });
  const java = (JAVA_HOME: string): Wanted => ({ environment: { JAVA_HOME } });
  const cache = { environment: { RUNNER_TOOL_CACHE: `${machine}/cache` } };
  const readable = [`${home}/sdk`, `${machine}/plain`, `${base}/none`];

  it.each<[what: string, wanted: Wanted, shown: readonly string[]]>([
    ['of a home only the folders of the list', {}, []],
    ['a bin and its parts', path(`${machine}/runner/bin`), own('runner/bin', 'runner/lib64', 'runner/share')],
    ['the parent of .bin', path(`${machine}/pnpm/node_modules/.bin`), own('pnpm/node_modules')],
    ['a folder on PATH without what lies beside it', path(`${machine}/plain`), own('plain')],
    ['in a home only libraries', path(`${home}/tools/bin`), ['home/tools/bin', 'home/tools/lib']],
    ['no tool variable in a home', java(`${home}/sdk`), []],
    ['a tool variable elsewhere', java(`${machine}/jdk`), own('jdk')],
    ['the tool cache', cache, own('cache')],
    ['the target of a link, and the link', java(`${machine}/current`), own('current', 'jdk')],
    ['not a link in the checkout', path(`${workspace}/outside`), own('jdk')],
    ['sandbox-read, in a home too', { readable }, ['home/sdk', ...own('plain')]],
  ])('shows %s', (_, wanted, shown) => {
    expect([...shownInBase(wanted)].sort()).toEqual([...inHome, ...shown].sort());
  });

  it('shows no parts of /run, /var, /tmp, /root, /boot or /sys, and of /etc and /opt a few names', () => {
    const places = plan().map(({ at }) => at);
    const closed = /^\/(?:run|var(?!\/lib\/gems)|root|boot|sys|dev|proc)(?:\/|$)/u;
    expect(places.filter((at) => closed.test(at))).toEqual([]);
    const etc = ['shadow', 'sudoers', 'ssl', 'ssl/private', 'ssh'].map((name) => `/etc/${name}`);
    for (const at of ['/', '/etc', '/opt', ...etc]) expect(places).not.toContain(at);
    for (const at of ['/usr', '/etc/passwd']) expect(places).toContain(at);
    expect(places).not.toContain('/etc/resolv.conf');
    expect(plan({ shellNetwork: true }).map(({ at }) => at)).toContain('/etc/resolv.conf');
  });

  it.runIf(isRoot)('shows of /opt only what others may read', () => {
    const file = `/opt/${createMark('java')}`;
    onTestFinished(() => rmSync(file));
    for (const mode of [0o640, 0o644]) {
      writeFileSync(file, '');
      chmodSync(file, mode);
      expect(plan().some(({ at }) => at === file)).toBe(mode === 0o644);
    }
  });
});
