/** Test suites of small real projects in every sandbox, with the toolchains of this machine and without a network. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../../src/sandbox/run-folder.ts';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { createWorld, exec, shellWays, UNSHARE, type World } from './world.ts';

const PATIENCE = 600_000;

interface Suite {
  readonly name: string;
  /** The suite is skipped unless this command succeeds on this machine. */
  readonly probe: readonly [string, ...string[]];
  readonly files: Readonly<Record<string, string>>;
  readonly command: string;
  readonly says: RegExp;
}

const suites: readonly Suite[] = [
  {
    name: 'npm test with a writable npm cache',
    probe: ['npm', '--version'],
    files: {
      'package.json': '{"name":"p","version":"1.0.0","scripts":{"test":"node --test"}}',
      'a.test.js': `require('node:test')('adds', () => require('node:assert').equal(1 + 1, 2));\n`,
    },
    command: 'npm test 2>&1 && npm cache verify',
    says: /pass 1\b[\s\S]*Cache verified/u,
  },
  {
    name: 'a Python virtual environment in the workspace',
    probe: ['python3', '-c', 'import venv, ensurepip'],
    files: {
      'test_a.py':
        'import unittest\nclass A(unittest.TestCase):\n    def test_a(self): self.assertEqual(1 + 1, 2)\n',
    },
    command: 'python3 -m venv --without-pip .venv && .venv/bin/python -m unittest 2>&1',
    says: /Ran 1 test[\s\S]*OK/u,
  },
  {
    name: 'pytest',
    probe: ['python3', '-m', 'pytest', '--version'],
    files: {
      'test_b.py': 'def test_b(tmp_path):\n    (tmp_path / "x").write_text("x")\n    assert 1 + 1 == 2\n',
    },
    command: 'python3 -m pytest -q test_b.py',
    says: /1 passed/u,
  },
  {
    // Without an import: compiling the standard library takes half a minute and is left to one test below.
    name: 'go build',
    probe: ['go', 'version'],
    files: {
      'go.mod': 'module example.test/p\n\ngo 1.20\n',
      'a.go': 'package p\n\nconst Two = 2\n',
    },
    command: 'go build ./... && ls "$(go env GOCACHE)" | wc -l',
    says: /^2\d\d$/mu,
  },
  {
    name: 'cargo test',
    probe: ['cargo', '--version'],
    files: {
      'Cargo.toml': '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
      'src/lib.rs': '#[test]\nfn a() {\n    assert_eq!(1 + 1, 2);\n}\n',
    },
    command: 'cargo test --offline 2>&1',
    says: /test result: ok\. 1 passed/u,
  },
  {
    name: 'javac and java',
    probe: ['javac', '-version'],
    files: {
      'A.java':
        'class A {\n  public static void main(String[] a) {\n    System.out.println(1 + 1);\n  }\n}\n',
    },
    command: 'javac A.java && java A',
    says: /^2$/mu,
  },
  {
    name: 'maven',
    probe: ['mvn', '--version'],
    files: {},
    command: 'mvn --version',
    says: /Apache Maven \d/u,
  },
];

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

for (const way of shellWays.filter(({ name }) => name !== 'none'))
  describe(`behind ${way.name}, in a scratch layer`, () => {
    for (const suite of suites) {
      const [file, ...args] = suite.probe;
      it.runIf(spawnSync(file, args, { stdio: 'ignore' }).status === 0)(
        suite.name,
        async () => {
          const workspace = project(suite.files);
          // The home of this machine, which contains toolchains.
          const paths = { home: homedir(), workspace, workingDirectory: workspace };
          const sandbox = await world.openReady({ ...way.options, ...paths, access: 'scratch' });
          const { exitCode, output } = await exec(sandbox, suite.command, PATIENCE);
          expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringMatching(suite.says) });
        },
        PATIENCE,
      );
    }

    it('caches of earlier steps are in the private home, read-only and without credentials', async () => {
      const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')));
      put(home, {
        '.cargo/bin/mytool': '',
        '.cargo/registry/cache/x.crate': 'crate\n',
        '.cargo/credentials.toml': 'token',
        'go/pkg/mod/x@v1/x.go': 'package x\n',
        '.m2/repository/x.jar': 'jar\n',
        '.npm/_cacache/x': 'npm\n',
      });
      const workspace = project({});
      const paths = {
        home,
        access: 'scratch',
        workspace,
        workingDirectory: workspace,
        environment: { PATH: `${join(home, '.cargo/bin')}:/usr/bin:/bin` },
        readable: [join(home, '.m2/repository')],
      } as const;
      const sandbox = await world.openReady({ ...way.options, ...paths });
      const command =
        'cd; cat .cargo/registry/cache/x.crate .m2/repository/x.jar; ls -A . .cargo; touch .cargo/own && touch .m2/repository/y';
      expect((await exec(sandbox, command)).output).toMatch(
        /^crate\njar\n\.:\n\.cargo\n\.gitconfig\n\.m2\n\n\.cargo:\nregistry\n.*Read-only file system\n$/u,
      );
      const online = await world.openReady({ ...way.options, ...paths, shellNetwork: true });
      expect((await exec(online, 'ls -A ~')).output).toBe('.gitconfig\n');
      await closeAll([sandbox, online], home);
    });
  });

it.runIf(spawnSync('/usr/bin/env', ['go', 'version'], { stdio: 'ignore' }).status === 0)(
  'go finds a module that an earlier step downloaded, without a network',
  async () => {
    // The usual Go of most users, if it is installed.
    const way = shellWays.find(({ name }) => name === UNSHARE) ?? shellWays[0];
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')));
    const modules = downloadModule(home);
    const workspace = project({
      'go.mod': 'module example.test/p\n\ngo 1.20\n\nrequire example.test/dep v1.0.0\n',
      'p.go': 'package p\n\nimport "example.test/dep"\n\nconst Two = dep.Two\n',
    });
    const sandbox = await world.openReady({
      ...way?.options,
      home,
      access: 'scratch',
      workspace,
      workingDirectory: workspace,
      environment: { PATH: process.env['PATH'], HOME: home, GOMODCACHE: modules },
      readable: [modules],
    });
    // Not "go test", because it first compiles half of the standard library into an empty cache.
    const { output } = await exec(
      sandbox,
      `GONOSUMDB='*' GOFLAGS=-mod=mod go list -deps -f '{{.ImportPath}} {{.Dir}}'`,
      PATIENCE,
    );
    expect(output).toMatch(/^example\.test\/dep \S+\/example\.test\/dep@v1\.0\.0$/mu);
    await closeAll([sandbox], home);
  },
  PATIENCE,
);

/** A module cache with one module, filled by go from a directory. */
function downloadModule(home: string): string {
  const modules = join(home, 'go', 'pkg', 'mod');
  const source = 'example.test/dep@v1.0.0';
  put(home, {
    [`src/${source}/go.mod`]: 'module example.test/dep\n\ngo 1.20\n',
    [`src/${source}/dep.go`]: 'package dep\n\nconst Two = 2\n',
    'proxy/example.test/dep/@v/list': 'v1.0.0\n',
    'proxy/example.test/dep/@v/v1.0.0.info': '{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}',
    'proxy/example.test/dep/@v/v1.0.0.mod': 'module example.test/dep\n\ngo 1.20\n',
    'use/go.mod': 'module use\n\ngo 1.20\n\nrequire example.test/dep v1.0.0\n',
  });
  const zip = join(home, 'proxy/example.test/dep/@v/v1.0.0.zip');
  const pack =
    'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z:\n    for n in ("go.mod", "dep.go"): z.write(sys.argv[2] + "/" + n, sys.argv[2] + "/" + n)\n';
  execFileSync('python3', ['-c', pack, zip, source], { cwd: join(home, 'src') });
  execFileSync('/usr/bin/env', ['go', 'mod', 'download'], {
    cwd: join(home, 'use'),
    env: {
      ...process.env,
      HOME: home,
      GOPROXY: `file://${join(home, 'proxy')}`,
      GONOSUMDB: '*',
      GONOSUMCHECK: '1',
      GOFLAGS: '-mod=mod -modcacherw',
      GOMODCACHE: modules,
    },
    stdio: 'pipe',
  });
  return modules;
}

function project(files: Readonly<Record<string, string>>): string {
  const workspace = mkdtempSync(join(world.home, 'work', 'project-'));
  put(workspace, files);
  return workspace;
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) writeFileSync(path, text);
  }
}

async function closeAll(sandboxes: readonly OpenedSandbox[], home: string): Promise<void> {
  for (const sandbox of sandboxes) await sandbox.close();
  await removeFolder(home);
}
