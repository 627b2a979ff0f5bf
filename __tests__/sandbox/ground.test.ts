/** Unusual places and machines, and the toolchains of this one, all with TEST_ALL=1. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { testAll } from '../support/all.ts';
import { putFiles } from '../support/local.ts';
import { allWays, exec, gitIn, isolatedWays, UNSHARE, useWorld } from './world.ts';

const isRoot = process.getuid?.() === 0;
/** Names that a shell, a shell script or the mount table could misread. */
const ODD = [`it's "q" \`id\` $HOME $(id) \\040`, 'new\nline\ttab ', '-rf', '*?[a];#&|<>:,=%s ünï 😀'];
const PLAIN = { PATH: '/usr/bin:/bin' };

interface Suite {
  /** The suite is skipped unless this program is on this machine. */
  readonly needs: string;
  readonly files: Readonly<Record<string, string>>;
  readonly command: string;
  readonly says: RegExp;
}
const SUITES: readonly Suite[] = [
  {
    needs: 'npm',
    files: {
      'package.json': '{"name":"p","version":"1.0.0","scripts":{"test":"node --test"}}',
      'a.test.js': `require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));\n`,
    },
    command: 'npm test 2>&1 && npm cache verify',
    says: /pass 1\b[\s\S]*Cache verified/u,
  },
  {
    needs: 'python3',
    files: { 'test_a.py': 'import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n' },
    command: 'python3 -m venv --without-pip .venv && .venv/bin/python -m unittest 2>&1',
    says: /Ran 1 test[\s\S]*OK/u,
  },
  {
    needs: 'go',
    files: { 'go.mod': 'module example.test/p\n\ngo 1.20\n', 'a.go': 'package p\n\nconst Two = 2\n' },
    command: 'go build ./... && ls "$(go env GOCACHE)" | wc -l',
    says: /^2\d\d$/mu,
  },
  {
    needs: 'cargo',
    files: {
      'Cargo.toml': '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
      'src/lib.rs': '#[test]\nfn a() {\n    assert_eq!(1 + 1, 2);\n}\n',
    },
    command: 'cargo test --offline 2>&1',
    says: /test result: ok\. 1 passed/u,
  },
];

const world = await useWorld();

const newFolder = (name: string) => mkdtempSync(join(world.base, `${name}-`));

describe.each(isolatedWays)('behind $name', ({ options: way }) => {
  /** A sandbox in a scratch layer over a workspace that is also the working directory. */
  const openIn = (workspace: string, options: Partial<SandboxOptions> = {}) =>
    world.openReady({ ...way, workspace, workingDirectory: workspace, access: 'scratch', ...options });

  it.each(ODD)('supports a path with special characters: %j', async (name) => {
    const workspace = join(newFolder('odd'), name);
    const workingDirectory = join(workspace, name);
    mkdirSync(workingDirectory, { recursive: true });
    gitIn(workspace, 'init', '-q', '.');
    const sandbox = await openIn(workspace, { workingDirectory });
    const command =
      'printf %s "$PWD"; echo x > file && git status --short | wc -l; touch ../.git/x 2>/dev/null || echo closed';
    expect((await exec(sandbox, command)).output).toBe(`${workingDirectory}1\nclosed\n`);
    expect((await sandbox.read('file', 10)).kind).toBe('file');
  });

  it('sets limits for commands and starts a plain shell; reads a start file only if the user passes it', async () => {
    const own = join(putFiles(newFolder('start'), { 'own.sh': 'own=read\n' }), 'own.sh');
    const given = { environment: { ...PLAIN, BASH_ENV: own }, passEnv: ['BASH_ENV'], readable: [own] };
    const sandbox = await world.openReady({ ...way, ...given });
    const bare = await world.openReady({ ...way, environment: PLAIN });
    const limits = 'ulimit -c; ulimit -u; ulimit -f; echo "[$BASH_ENV] $# $own"; bash -c \'echo "[$own]"\'';
    expect((await exec(bare, limits)).output).toBe('0\n8192\n16777216\n[] 0 \n[]\n');
    expect((await exec(sandbox, limits)).output).toBe(`0\n8192\n16777216\n[${own}] 0 read\n[read]\n`);
    expect((await exec(bare, 'nosuch\necho "$LINENO"')).output).toMatch(/line 1: nosuch: .*\n2\n$/u);
  });

  it.runIf(isRoot)(
    'as root, runs commands as the owner of the workspace, who can write all of it',
    async () => {
      const workspace = putFiles(newFolder('owned'), { file: 'one\n', 'folder/file': 'one\n' });
      execFileSync('chown', ['-R', '65533:65533', workspace]);
      const sandbox = await openIn(workspace, { environment: PLAIN });
      for (const name of ['tool', 'made/tool', '/tmp/tool']) await sandbox.write(name, Buffer.from('tool\n'));
      const command =
        'set -e; id -u; for f in file tool new folder/new made/tool made/new /tmp/tool /tmp/new ~/new; do echo x >> $f; done; git config --global a.b c; echo all';
      expect((await exec(sandbox, command)).output).toBe('65533\nall\n');
      const long = await exec(sandbox, "head -c 40000 /dev/zero | tr '\\0' x");
      expect((await exec(sandbox, `wc -c < ${long.fullOutputPath}`)).output).toBe('40000\n');
      expect(statSync(join(workspace, 'file')).uid).toBe(65533);
      expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('one\n');
    },
  );

  it.runIf(isRoot)('shows a workspace that is a mount point with another mount inside', async () => {
    const workspace = newFolder('mount');
    const inner = join(workspace, 'inner');
    for (const place of [workspace, inner]) {
      mkdirSync(place, { recursive: true });
      execFileSync('/bin/mount', ['-t', 'tmpfs', 'none', place]);
    }
    try {
      putFiles(workspace, { a: 'a\n', 'inner/b': 'b\n' });
      const sandbox = await openIn(workspace);
      const command = 'cat a inner/b; touch c inner/d 2>/dev/null && echo wrote';
      expect((await exec(sandbox, command)).output).toBe('a\nb\nwrote\n');
      await sandbox.close();
    } finally {
      for (const place of [inner, workspace]) execFileSync('/bin/umount', [place]);
    }
  });

  for (const { needs, files, command, says } of testAll ? SUITES : SUITES.slice(0, 1))
    it.runIf(spawnSync('which', [needs]).status === 0)(`tests a project with ${needs}`, async () => {
      const workspace = putFiles(mkdtempSync(join(world.home, 'work', 'project-')), files);
      // The home of this machine, which contains toolchains.
      const sandbox = await openIn(workspace, { home: homedir() });
      const { exitCode, output } = await exec(sandbox, command, 250_000);
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringMatching(says) });
    });

  it('caches of earlier steps are in the private home, read-only and without credentials', async () => {
    const home = putFiles(newFolder('home'), {
      '.cargo/bin/mytool': '',
      '.cargo/registry/cache/x.crate': 'crate\n',
      '.cargo/credentials.toml': 'token',
      'go/pkg/mod/x@v1/x.go': 'package x\n',
      '.m2/repository/x.jar': 'jar\n',
      '.npm/_cacache/x': 'npm\n',
    });
    const environment = { PATH: `${join(home, '.cargo/bin')}:/usr/bin:/bin` };
    const given = { home, environment, readable: [join(home, '.m2/repository')] };
    const sandbox = await openIn(newFolder('project'), given);
    const command =
      'cd; cat .cargo/registry/cache/x.crate .m2/repository/x.jar; ls -A . .cargo; touch .cargo/own && touch .m2/repository/y';
    expect((await exec(sandbox, command)).output).toMatch(
      /^crate\njar\n\.:\n\.cargo\n\.gitconfig\n\.m2\n\n\.cargo:\nregistry\n.*Read-only file system\n$/u,
    );
    const online = await openIn(newFolder('project'), { ...given, shellNetwork: true });
    expect((await exec(online, 'ls -A ~')).output).toBe('.gitconfig\n');
  });
});

describe('a machine without a requirement of the sandbox', () => {
  const fails = (text: string) => `#!/bin/sh\necho "${text}" >&2\nexit 1\n`;
  const needsHelpers = /needs bubblewrap, or util/u;
  const canUnshare = allWays.some(({ name }) => name === UNSHARE);
  it.each<[title: string, links: readonly string[], scripts: Readonly<Record<string, string>>, why: RegExp]>([
    ['unshare without nsenter', ['unshare', 'setpriv', 'sudo'], {}, needsHelpers],
    ['a bwrap that cannot create a namespace', [], { bwrap: fails('bwrap: uid map') }, /bwrap: .*uid map/u],
    [
      'an unshare that cannot create a namespace',
      ['nsenter', 'setpriv', 'sudo'],
      { unshare: fails('unshare: not permitted') },
      canUnshare ? /unshare: not permitted/u : needsHelpers,
    ],
  ])('%s: fails in mode required with a fix, offers no shell in mode auto, runs nothing', async (...row) => {
    const [, links, scripts, why] = row;
    const folder = newFolder('helpers');
    for (const name of links) symlinkSync(join('/usr/bin', name), join(folder, name));
    for (const [name, text] of Object.entries(scripts))
      writeFileSync(join(folder, name), text, { mode: 0o755 });
    const required = await world.open({ mode: 'required', helperFolders: [folder] });
    const failure = await required.ready().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SandboxError);
    expect(failure).toMatchObject({ message: expect.stringMatching(why) });
    expect(failure).toMatchObject({ message: expect.stringMatching(/Fix[\s\S]*set sandbox to `off`/u) });
    await expect(exec(required, 'touch ran')).rejects.toBeInstanceOf(SandboxError);
    const auto = await world.open({ mode: 'auto', helperFolders: [folder] });
    expect([auto.shellOffered, auto.isolation()]).toEqual([false, 'none']);
    await expect(exec(auto, 'touch ran')).rejects.toBeInstanceOf(SandboxError);
    await expect(auto.read('ran', 10)).rejects.toMatchObject({ missing: true });
  });
});
