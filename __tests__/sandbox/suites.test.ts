/** Test suites of small real projects, with the toolchains of this machine and without a network: all with TEST_ALL=1. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../../src/sandbox/run-folder.ts';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { testAll } from '../support/all.ts';
import { createWorld, exec, isolatedWays, type World } from './world.ts';

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
];

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

for (const way of isolatedWays)
  describe(`behind ${way.name}, in a scratch layer`, () => {
    for (const suite of testAll ? suites : suites.slice(0, 1)) {
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
