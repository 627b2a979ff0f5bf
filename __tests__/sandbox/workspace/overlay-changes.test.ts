/** The changes in an overlay: those that git finds between the checkout and a copy of it with the same edits. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { rememberWorkspace } from '../../../src/sandbox/workspace/workspace-diff.ts';
import { testAll } from '../../support/all.ts';
import { putFiles } from '../../support/local.ts';
import { exec, gitIn, isolatedWays, useWorld } from '../world.ts';

const never = new AbortController().signal;

const ODD = 'other/ü "q"\t.txt';
const FILES = ['a.txt', 'b.bin', 'dir/c.txt', 'dir/deep/d.txt', 'other/e.txt', ODD, 'run.sh', 'x'];
const FOLDERS = ['dir', 'dir/deep', 'other', 'new', 'new/er'];

/** Makes a repository with files, links, ignore rules and attributes. */
function makeRepository(folder: string): void {
  for (const name of FILES)
    putFiles(folder, { [name]: name === 'b.bin' ? Buffer.from([0, 1, 2]) : `${name}\nsecond\n` });
  chmodSync(join(folder, 'run.sh'), 0o755);
  symlinkSync('a.txt', join(folder, 'link'));
  putFiles(folder, {
    '.gitignore': 'ignored/\n*.log\n/top\n',
    'dir/.gitignore': '!keep.log\n',
    '.gitattributes': '*.txt text eol=crlf ident\n*.bin -diff\n',
    'tracked.log': 'tracked\n',
  });
  gitIn(folder, 'init', '-q');
  gitIn(folder, 'add', '-A');
  gitIn(folder, 'add', '-f', 'tracked.log');
  gitIn(folder, 'commit', '-qm', 'first');
  mkdirSync(join(folder, 'module'));
  gitIn(folder, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
  gitIn(folder, 'commit', '-qm', 'module');
  writeFileSync(join(folder, 'untracked'), 'before\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const file = fc.constantFrom(...FILES, 'link', 'new/f.txt', 'dir/keep.txt', 'untracked').map(quoted);
const folder = fc.constantFrom(...FOLDERS).map(quoted);
const edit = fc.oneof(
  fc
    .tuple(file, fc.constantFrom('new', 'one\\ntwo\\n', '', 'caf\\303\\251', '\\0\\1'))
    .map(([name, text]) => `mkdir -p "$(dirname ${name})"; rm -rf ${name}; printf '${text}' > ${name}`),
  file.map((name) => `printf 'more\\n' >> ${name}`),
  // The same size and the same time.
  file.map((name) => `cp -p ${name} /tmp/t && tr 'a-y' 'b-z' < /tmp/t > ${name}; touch -r /tmp/t ${name}`),
  file.map((name) => `touch ${name}`),
  file.map((name) => `rm -rf ${name}`),
  file.map((name) => `chmod u+x ${name}`),
  // Files only: behind a folder that nobody may enter, the changes are unknown.
  file.map((name) => `test -d ${name} || chmod 0640 ${name}`),
  fc.tuple(file, file).map(([from, to]) => `mv -T ${from} ${to}`),
  fc.tuple(file, file).map(([from, to]) => `ln -f ${from} ${to}`),
  file.map((name) => `ln -sfn 'some where' ${name}`),
  file.map((name) => `rm -rf ${name}; mkdir -p ${name}/in; echo x > ${name}/in/y`),
  folder.map((name) => `rm -rf ${name}`),
  folder.map((name) => `rm -rf ${name}; mkdir -p ${name}; echo again > ${name}/again`),
  folder.map((name) => `rm -rf ${name}; echo x > ${name}`),
  folder.map((name) => `mv -T ${name} moved`),
  folder.map((name) => `mkdir -p ${name}; mkfifo ${name}/pipe`),
);

const world = await useWorld();

describe.each(isolatedWays)('behind $name, the changes in an overlay', ({ options }) => {
  const open = async (workspace: string) => {
    const runFolder = mkdtempSync(join(world.temp, 'run-'));
    const own = { access: 'scratch', workspace, workingDirectory: workspace, runFolder } as const;
    const sandbox = await world.openReady({ ...options, ...own });
    expect(sandbox.scratch()).toBe('overlay');
    return sandbox;
  };
  const start = async () => {
    const base = mkdtempSync(join(world.base, 'changes-'));
    const workspace = join(base, 'repository');
    mkdirSync(workspace);
    makeRepository(workspace);
    const sandbox = await open(workspace);
    const changes = await rememberWorkspace(sandbox, never, { repository: workspace });
    return { base, workspace, sandbox, compare: async () => changes?.compare(never) };
  };

  it('are those of git diff --no-index between the checkout and a copy with the same edits', async () => {
    const { base, workspace, sandbox: first } = await start();
    await first.close();
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
        const sandbox = await open(workspace);
        try {
          const changes = await rememberWorkspace(sandbox, never, { repository: workspace });
          const script = edits.map((line) => `{ ${line}; } 2>/dev/null`).join('\n');
          await exec(sandbox, `${script}\ntrue`);
          const expected = diffOfCopy(base, workspace, script);
          const compared = await changes?.compare(never);
          expect(compared?.changedFiles).toBe(expected.files);
          expect(String(compared?.patch ?? '')).toBe(expected.patch);
          found += expected.files;
        } finally {
          await sandbox.close();
        }
      }),
      { numRuns: testAll ? 50 : 8 },
    );
    expect(found).toBeGreaterThan(10);
  });

  it.each<[title: string, script: string, names: readonly string[] | null]>([
    [
      'exclude ignored files by the rules of the checkout, and nested repositories',
      `mkdir ignored; echo x > ignored/x; echo x > a.log; echo x > dir/keep.log; echo more >> tracked.log
      echo '*' > .gitignore; echo '*.txt' > dir/.gitignore; echo x > dir/new.txt; mkdir new; echo '*' > new/.gitignore
      git init -q nested; echo x > nested/x; git init -q dir; echo x > hidden.js; rm -rf dir/deep`,
      [
        ...['.gitignore', 'dir/.gitignore', 'dir/deep/d.txt', 'dir/keep.log', 'dir/new.txt', 'hidden.js'],
        ...['new/.gitignore', 'tracked.log'],
      ],
    ],
    ['are none without a change of contents', 'touch a.txt; chmod 0600 x; mkdir empty', []],
    ['are unknown with a name that git takes for its own', 'mkdir n; echo x > n/.GIT; echo x >> a.txt', null],
    [
      'include a folder with an empty .git',
      'mkdir n; touch n/.git; echo x > n/x; mkdir -p m/.git; echo x > m/x',
      ['m/x', 'n/x'],
    ],
    [
      'are the same after git init in a folder of the checkout',
      'echo x > dir/c.txt; cd dir; git init -q; git -c user.name=t -c user.email=t@t commit -q --allow-empty -m x',
      ['dir/c.txt'],
    ],
    ['include names that begin with a colon', "mkdir ':'; echo x > ':(x)'; echo x > ':/x'", [':(x)', ':/x']],
    ['include files in the folder of a submodule', 'echo x > module/x; echo x > new', ['module/x', 'new']],
    [
      'run nothing that the agent put into attributes, configs or filters',
      'echo "* filter=evil diff=evil" > .gitattributes; echo x > a.txt',
      ['.gitattributes', 'a.txt'],
    ],
    [
      'are asked of the git of the system, not of one that the agent put on PATH',
      'mkdir bin; printf "#!/bin/sh\\ntouch /tmp/ran\\n" > bin/git; chmod +x bin/git',
      ['bin/git'],
    ],
  ])('%s', async (_, script, names) => {
    const { sandbox, workspace, compare } = await start();
    gitIn(workspace, 'config', 'filter.evil.clean', 'touch /tmp/ran; cat');
    await exec(sandbox, script);
    const compared = await compare();
    expect(compared?.changedFiles ?? null).toBe(names?.length ?? null);
    expect(String(compared?.patch ?? '').match(/(?<=^diff --git a\/)\S+/gmu) ?? []).toEqual(names ?? []);
    expect((await exec(sandbox, 'ls /tmp/ran')).exitCode).not.toBe(0);
    await sandbox.close();
  });

  it('form a patch without protected names, which git applies to the checkout', async () => {
    const { workspace, sandbox, compare, base } = await start();
    await exec(
      sandbox,
      'echo new > a.txt; mkdir -p .GitHub; echo x > .GitHub/x.yml; printf "\\0\\1" > b.bin; rm x',
    );
    const compared = await compare();
    expect(compared).toMatchObject({
      changedFiles: 4,
      leftOut: [{ name: '.GitHub/x.yml', why: 'protected' }],
    });
    const patch = join(base, 'patch');
    writeFileSync(patch, compared?.patch ?? '');
    gitIn(workspace, 'apply', patch);
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('new\r\n');
    expect(readFileSync(join(workspace, 'b.bin'))).toEqual(Buffer.from([0, 1]));
  });

  it('hold nothing of this machine when the agent replaces folders by links while git runs', async () => {
    const { base, workspace, sandbox } = await start();
    const outside = putFiles(join(base, 'outside'), { key: 'SECRET OF THIS MACHINE\n' });
    await exec(sandbox, 'mkdir new; echo x > new/key');
    const swap = `cd ${workspace}; mv new old && ln -s ${outside} new; for f in /tmp/.changes-*; do mv $f $f.x; ln -s ${outside} $f; done`;
    // A program of the agent that runs where git does.
    const exchanging: OpenedSandbox['exec'] = (script, limits) =>
      sandbox.exec(`( ${script}\n); status=$?; ( ${swap} ) >/dev/null 2>&1; exit $status`, limits);
    const changes = await rememberWorkspace({ ...sandbox, exec: exchanging }, never, {
      repository: workspace,
    });
    const compared = await changes?.compare(never).catch(() => null);
    expect(String(compared?.patch ?? '')).not.toContain('SECRET');
    expect(readdirSync(outside)).toEqual(['key']);
    expect(gitIn(workspace, 'status', '--porcelain')).toBe('?? untracked');
    await sandbox.close();
  });
});

/** What git says of a copy of the checkout in which a script ran, without ignored files. */
function diffOfCopy(base: string, workspace: string, script: string) {
  const folder = mkdtempSync(join(base, 'copy-'));
  for (const name of ['a', 'b']) {
    execFileSync('cp', ['-a', workspace, join(folder, name)]);
    execFileSync('rm', ['-rf', join(folder, name, '.git')]);
  }
  spawnSync('bash', ['-c', script.replaceAll('/tmp/t', `${folder}/t`)], { cwd: join(folder, 'b') });
  // Git refuses to compare pipes.
  execFileSync('find', [folder, '-type', 'p', '-delete']);
  const diff = (...args: string[]) =>
    spawnSync(
      'git',
      ['-c', 'core.attributesFile=/dev/null', 'diff', '--no-index', '--no-renames', ...args, 'a', 'b'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_DIR: '/nonexistent' },
      },
    ).stdout;
  const names = diff('--name-only', '-z').split('\0').filter(Boolean);
  const patch = diff('--binary', '--full-index', '--no-prefix', '-p')
    // A new file has the prefix of the new folder twice, and a removed one that of the old folder.
    .replace(/^diff --git ("?)[ab]\/(.*?)"? "?[ab]\/.*$/gmu, (line, mark: string, name: string) =>
      line === '' ? '' : `diff --git ${mark}a/${name}${mark} ${mark}b/${name}${mark}`,
    );
  return { files: names.length, patch };
}
