/** The layers of the walls around commands, one mutant each. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of source files.

import { type Group, inFile, words } from './mutant.ts';

const bwrap = 'src/sandbox/isolation/bwrap.ts';
const mounts = 'src/sandbox/isolation/mounts.ts';
const plan = 'src/sandbox/isolation/mount-plan.ts';
const unshare = 'src/sandbox/isolation/unshare.ts';
const rootScript = 'src/sandbox/isolation/root-script.ts';
const shellLine = 'src/sandbox/exec/shell-line.ts';
const environment = 'src/sandbox/exec/environment.ts';

const namespaces: Group = {
  name: 'bwrap',
  walls: ['bwrap', 'sudo-bwrap'],
  tests: ['__tests__/sandbox/open.test.ts', '__tests__/sandbox/killed.test.ts'],
  mutants: [
    ...inFile(bwrap, [
      ['--unshare-user-try', "['--unshare-user-try']", '[]'],
      ['--unshare-pid', "    '--unshare-pid',\n"],
      ['--unshare-ipc', "    '--unshare-ipc',\n"],
      ['--unshare-uts', "    '--unshare-uts',\n"],
      ['--unshare-cgroup-try', "    '--unshare-cgroup-try',\n"],
      ['--unshare-net', "['--unshare-net']", '[]'],
      ['--cap-drop ALL', "    '--cap-drop',\n    'ALL',\n"],
      ['--new-session', "    '--new-session',\n"],
      ['--die-with-parent', "    '--die-with-parent',\n"],
    ]),
    ...inFile(mounts, [
      ['--ro-bind / /', "['--ro-bind', '/', '/']", "['--bind', '/', '/']"],
      ['--dev', "['--dev', '/dev']", "['--dev-bind', '/dev', '/dev']"],
      ['--proc', "['--proc', '/proc']", '[]'],
      ['/proc/sys read-only', "['--ro-bind', '/proc/sys', '/proc/sys']", '[]'],
      ['hidden folders made read-only', "flatMap((at) => ['--remount-ro', at])", 'flatMap(() => [])'],
      ['read-only mounts', "['--ro-bind', mount.from, mount.at]", "['--bind', mount.from, mount.at]"],
    ]),
  ],
};

const utilLinux: Group = {
  name: 'unshare',
  walls: ['unshare', 'sudo-unshare'],
  tests: ['__tests__/sandbox/open.test.ts', '__tests__/sandbox/killed.test.ts'],
  mutants: [
    ...inFile(unshare, [
      ['run: --pid', "'private', '--pid', '--fork'", "'private', '--fork'"],
      ['run: --kill-child', "'--fork', '--kill-child', '--ipc'", "'--fork', '--ipc'"],
      ['run: --ipc', "'--kill-child', '--ipc', '--uts']", "'--kill-child', '--uts']"],
      ['run: --uts', "'--kill-child', '--ipc', '--uts']", "'--kill-child', '--ipc']"],
      ['enter: --mount', "String(target), '--mount', '--pid'", "String(target), '--pid'"],
      [
        'enter: --pid',
        "'--mount', '--pid', '--ipc', '--uts'],\n    ...(shellNetwork",
        "'--mount', '--ipc', '--uts'],\n    ...(shellNetwork",
      ],
      [
        'enter: --uts',
        "'--pid', '--ipc', '--uts'],\n    ...(shellNetwork",
        "'--pid', '--ipc'],\n    ...(shellNetwork",
      ],
      [
        'enter: --net',
        "...(shellNetwork ? [] : ['--net']),\n    '--',\n    helpers.unshare",
        "'--',\n    helpers.unshare",
      ],
      ['command: --pid', "['--mount', '--pid', '--ipc', '--cgroup'", "['--mount', '--ipc', '--cgroup'"],
      ['command: --ipc', "'--ipc', '--cgroup'", "'--cgroup'"],
      ['command: --cgroup', "'--cgroup', "],
      ['command: --kill-child', "'--kill-child', '--mount-proc'", "'--mount-proc'"],
      ['command: --mount-proc', ", '--mount-proc']", ']'],
      ['/proc/sys read-only', 'byRoot.identity.uid === 0', 'byRoot.identity.uid < 0'],
    ]),
    ...inFile(rootScript, [
      ['root read-only', 'remount,bind,ro,nosuid$3', 'remount,bind,rw,nosuid$3'],
      ['root nosuid', 'remount,bind,ro,nosuid$3', 'remount,bind,ro$3'],
      ['workspace and /tmp nosuid, nodev', 'remount,bind,rw,nosuid,nodev', 'remount,bind,rw'],
      ['/sys of its own', " ${at('/sys')} ,nodev,noexec", ' ${at(\'/sys\')} ""'],
      [
        '/proc of the run',
        "`mount -t proc -o nosuid,nodev,noexec none ${at('/proc')}`,",
        "`mount --rbind /proc ${at('/proc')}`,",
      ],
      [
        'hidden folders made read-only',
        '...hidden.map((path) => `mount -o remount,ro,nosuid,nodev ${at(path)}`),',
        '',
      ],
      ['the old root taken away', "'umount -l /dev/.old',\n    'rmdir /dev/.old',", ''],
      ['/dev read-only', "    'mount -o remount,ro,nosuid,noexec /dev',\n"],
      [
        '/dev/pts of its own',
        'mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,nosuid,noexec none',
        'mount --bind /dev/pts',
      ],
    ]),
  ],
};

const handingOver: Group = {
  name: 'setpriv',
  walls: ['sudo-bwrap', 'unshare', 'sudo-unshare'],
  tests: ['__tests__/sandbox/open.test.ts', '__tests__/sandbox/killed.test.ts'],
  mutants: [
    ...inFile(shellLine, [
      ['--reuid', "'--reuid', String(uid), "],
      ['--regid', "'--regid', String(gid), '--clear-groups'", "'--keep-groups'"],
      ['--clear-groups', "'--clear-groups'", "'--keep-groups'"],
      ['--inh-caps', "'--inh-caps=-all', "],
      ['--ambient-caps', "'--ambient-caps=-all', "],
      ['--bounding-set', "'--bounding-set=-all', "],
      ['--no-new-privs', "'--no-new-privs', "],
      ['env -i', "'/usr/bin/env', '-i'", "'/usr/bin/env'"],
    ]),
  ],
};

const mountPlan: Group = {
  name: 'mounts',
  walls: ['bwrap', 'unshare', 'sudo-unshare'],
  tests: ['__tests__/sandbox/open.test.ts', '__tests__/sandbox/isolation/toolchains.test.ts'],
  mutants: [
    ...words(plan, ['/run', '/home', '/root', '/var/tmp'], (name) => `'${name}', `),
    ...inFile(plan, [
      ['home hidden', '[...HIDDEN_SYSTEM_FOLDERS, home, temp]', '[...HIDDEN_SYSTEM_FOLDERS, temp]'],
      ['RUNNER_TEMP hidden', '[...HIDDEN_SYSTEM_FOLDERS, home, temp]', '[...HIDDEN_SYSTEM_FOLDERS, home]'],
      ['private /tmp', "    { kind: 'read-write', from: join(runFolder, 'tmp'), at: privateTmp },\n"],
      ['RUNNER_TEMP never shown', 'closed: [temp, runFolder, workspace, home]', 'closed: []'],
      ['run folder never shown', '!isInside(runFolder, folder) && !isInside(folder, runFolder)', 'true'],
      ['credentials of toolchains', 'credentials.map((c) =>', 'credentials.slice(0, 0).map((c) =>'],
      ['read-only workspace', "access === 'read-only' ? 'read-only' : 'read-write'", "'read-write'"],
      ['.git and .github read-only', 'if (isProtected(name)) mounts.push(readOnly(path));', ''],
      ['credential files blank', 'if (holdsCredentials(name)) mounts.push(mask(blank, path));', ''],
      ['git folders elsewhere read-only', '    mounts.push(readOnly(folder));', '    void folder;'],
      ['.git/config covered', 'mounts.push(mask(copy, await realOrSame(path)));', ''],
    ]),
    ...inFile('src/sandbox/workspace/protected.ts', [
      ['.git protected', "= ['.git', ", '= ['],
      ['.github protected', "'.github', "],
      ['action.yml protected', "'action.yml', "],
      [
        'repositories below the top',
        '...repositories.map(({ root }) => root)',
        '...repositories.slice(0, 0).map(({ root }) => root)',
      ],
    ]),
    ...inFile('src/sandbox/workspace/git-config.ts', [
      ['keys of an allow-list', 'KEPT.has(`${section.name}.${entry.key}`)', 'KEPT.size > 0'],
      ['no user in URLs', "value.replace(USER_INFO, '$1')", 'value'],
    ]),
  ],
};

const commands: Group = {
  name: 'commands',
  walls: ['bwrap', 'unshare', 'sudo-unshare'],
  tests: ['__tests__/sandbox/exec/environment.test.ts', '__tests__/sandbox/open.test.ts'],
  mutants: [
    ...inFile(environment, [
      [
        'allow-list of variables',
        'if (plain || passed.has(name)) result[name] = value;',
        'if (name.length > 0 || plain || passed.has(name)) result[name] = value;',
      ],
      [
        'no value that is a secret',
        'value === undefined || isSecret(value)',
        'value === undefined || (isSecret(value) && false)',
      ],
      ['never INPUT_ and the like', '&& !NEVER.test(name)', '|| NEVER.test(name)'],
      [
        'PATH of absolute folders',
        "PATH: absoluteFolders(environment['PATH'])",
        "PATH: environment['PATH'] ?? ''",
      ],
      ['private HOME', '    HOME: privateHome,\n', "    HOME: environment['HOME'] ?? '',\n"],
      ['proxies with a network only', '(shellNetwork && NETWORK.has(name))', 'NETWORK.has(name)'],
    ]),
    ...inFile(shellLine, [['limits', '; { ${LIMITS}; } 2>/dev/null', '']]),
    ...inFile('src/sandbox/exec/capture.ts', [
      [
        'output file: O_EXCL, O_NOFOLLOW',
        'O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW',
        'O_WRONLY | O_CREAT | O_APPEND | (O_EXCL & O_NOFOLLOW)',
      ],
    ]),
    ...inFile('src/sandbox/exec/process.ts', [
      [
        'what outlives a command is killed',
        "await wall.sweep({ pid: child.pid, ended: ending === 'exit' }, status.text(), launch);",
        '',
      ],
    ]),
  ],
};

/** Every layer of the walls. */
export const WALL_GROUPS: readonly Group[] = [namespaces, utilLinux, handingOver, mountPlan, commands];
