/**
 * Test suites of small projects, with the tools where the setup actions put them. All of them are prepared with the
 * network in a home of their own and run in the sandbox without one. Only with TEST_ALL=1; skipped if a tool is missing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testAll } from '../support/all.ts';
import { putFiles } from '../support/local.ts';
import { exec, hasSandbox, useWorld } from './world.ts';

const PATIENCE = 900_000;

interface Suite {
  readonly name: string;
  /** Succeeds if the tools are on this machine. */
  readonly needs: string;
  readonly files: Readonly<Record<string, string>>;
  /** Runs outside, in the workspace, with bash. HOME is that of the test; $MACHINE_HOME holds the tools of this machine. */
  readonly prepare?: string;
  /** Folders that the setup action adds to PATH: `~` is the home, `@` the tool cache, `%` a folder outside. */
  readonly path?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly command: string;
  readonly says: RegExp;
}

const PACKAGE = `{"name":"p","version":"1.0.0","scripts":{"test":"node --test"},"dependencies":{"is-number":"7.0.0"}}`;
const NODE_TEST = `
const isNumber = require('is-number');
require('node:test')('one is a number', () => require('node:assert').ok(isNumber(1)));
`;
const NODE = {
  needs: 'npm --version',
  files: { 'package.json': PACKAGE, 'a.test.js': NODE_TEST },
  path: ['@/node/bin'],
  says: /pass 1\b/u,
};
/** The tool cache of actions/setup-node. */
const SETUP_NODE = `
[ -x "$TOOLS/node/bin/npm" ] || {
  mkdir -p "$TOOLS/node/bin"
  cp "$NODE" "$TOOLS/node/bin/node"
  npm install --silent --global --prefix "$TOOLS/node" npm@11 corepack@0.34
}
PATH=$TOOLS/node/bin:$PATH`;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>p</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>
<scope>test</scope></dependency></dependencies></project>`;
const JAVA_TEST = `import org.junit.Test;
public class ATest { @Test public void adds() { org.junit.Assert.assertEquals(2, 1 + 1); } }`;

const SUITES: readonly Suite[] = [
  {
    name: 'npm test, node of actions/setup-node',
    ...NODE,
    prepare: `${SETUP_NODE}\nnpm install --silent`,
    command: 'npm test',
  },
  {
    name: 'pnpm of pnpm/action-setup',
    ...NODE,
    prepare: `${SETUP_NODE}
npm install --silent --prefix ~/setup-pnpm pnpm@10
ln -sf ../pnpm/bin/pnpm.cjs ~/setup-pnpm/node_modules/.bin/pnpm
PNPM_HOME=~/setup-pnpm/node_modules/.bin ~/setup-pnpm/node_modules/.bin/pnpm install`,
    path: ['~/setup-pnpm/node_modules/.bin', ...NODE.path],
    variables: { PNPM_HOME: '~/setup-pnpm/node_modules/.bin' },
    command: 'pnpm test',
  },
  {
    name: 'pnpm of corepack',
    ...NODE,
    prepare: `${SETUP_NODE}
registry=$(npm config get registry)
export COREPACK_NPM_REGISTRY=\${registry%/} COREPACK_INTEGRITY_KEYS=0
corepack pnpm@10.12.1 install`,
    command: 'corepack pnpm@10.12.1 test',
  },
  {
    name: 'yarn 1 with an npm prefix in the home',
    ...NODE,
    prepare: `${SETUP_NODE}\nnpm install --silent --global --prefix ~/.npm-global yarn@1\n~/.npm-global/bin/yarn install`,
    path: ['~/.npm-global/bin', ...NODE.path],
    command: 'yarn test',
  },
  {
    name: 'yarn 4 without node_modules',
    ...NODE,
    prepare: `${SETUP_NODE}
npm install --silent --prefix ~/work/berry @yarnpkg/cli-dist@4
mkdir -p .yarn/releases
cp ~/work/berry/node_modules/@yarnpkg/cli-dist/bin/yarn.js .yarn/releases/yarn.cjs
YARN_ENABLE_IMMUTABLE_INSTALLS=0 node .yarn/releases/yarn.cjs install`,
    command: 'node .yarn/releases/yarn.cjs test',
  },
  {
    name: 'Cargo with a crate of the registry',
    needs: 'rustup --version && cargo --version',
    files: {
      'Cargo.toml':
        '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n[lib]\ndoctest = false\n',
      'src/lib.rs': '#[test]\nfn a() {\n    assert_eq!(itoa::Buffer::new().format(2), "2");\n}\n',
    },
    prepare: `toolchain=$(HOME=$MACHINE_HOME rustc --print sysroot)
copy=~/.rustup/toolchains/$(basename "$toolchain")
mkdir -p ~/.cargo "$copy"
cp -a "$(dirname "$(command -v rustup)")" ~/.cargo/bin
(cd "$toolchain" && tar c --exclude share --exclude lib/rustlib/src .) | tar x -C "$copy"
unset RUSTUP_HOME CARGO_HOME
PATH=~/.cargo/bin:$PATH
rustup default "$(basename "$toolchain")"
cargo fetch`,
    path: ['~/.cargo/bin'],
    variables: { CARGO_HOME: '~/.cargo' },
    command: 'cargo test --offline',
    says: /test result: ok\. 1 passed/u,
  },
  {
    name: 'Go of actions/setup-go with a module of the cache',
    needs: 'go version',
    files: {
      'go.mod': 'module example.test/p\n\ngo 1.20\n\nrequire github.com/google/uuid v1.6.0\n',
      'a_test.go':
        'package p\n\nimport (\n\t"testing"\n\t"github.com/google/uuid"\n)\n\nfunc TestA(t *testing.T) {\n\tt.Log(uuid.NameSpaceDNS)\n}\n',
    },
    prepare: `mkdir -p "$TOOLS/go/1/x64"
cp -a "$(go env GOROOT)/." "$TOOLS/go/1/x64"
PATH=$TOOLS/go/1/x64/bin:$PATH
go mod tidy
GOPATH=$OUTSIDE/gopath go mod download`,
    path: ['@/go/1/x64/bin', '~/go/bin'],
    variables: { GOPATH: '%/gopath' },
    command: 'go test -v ./... && GOPATH= go list -deps -f "{{.Dir}}" -test',
    says: /^--- PASS: TestA[\s\S]*home\/go\/pkg\/mod\/github.com\/google\/uuid@/mu,
  },
  {
    name: 'Maven with a local repository',
    needs: 'mvn --version',
    files: { 'pom.xml': POM, 'src/test/java/ATest.java': JAVA_TEST },
    // Java takes the home from /etc/passwd.
    prepare: 'MAVEN_OPTS=-Duser.home=$HOME mvn -q test && rm -r target',
    command: 'MAVEN_OPTS=-Duser.home=$HOME mvn -o test',
    says: /Tests run: 1, Failures: 0[\s\S]*BUILD SUCCESS/u,
  },
  {
    name: 'pytest of ~/.local, of a virtual environment of the workspace and of one of Poetry, with pyenv',
    needs: 'pyenv --version',
    files: {
      'test_a.py': 'def test_a():\n    assert 1 + 1 == 2\n',
      'pyproject.toml': '[tool.poetry]\npackage-mode = false\n',
    },
    // The copy finds its library with LD_LIBRARY_PATH, as with actions/setup-python.
    prepare: `root=$(HOME=$MACHINE_HOME pyenv root)
version=$(HOME=$MACHINE_HOME pyenv version-name)
export PYENV_ROOT=$HOME/.pyenv LD_LIBRARY_PATH=$HOME/.pyenv/versions/3/lib
mkdir -p ~/.pyenv/versions/3 ~/.local/bin
cp -a "$root/bin" "$root/libexec" "$root/pyenv.d" ~/.pyenv
(cd "$root/versions/$version" && tar c --exclude site-packages --exclude test .) | tar x -C ~/.pyenv/versions/3
sed -i "s|$root/versions/$version|$HOME/.pyenv/versions/3|g" ~/.pyenv/versions/3/lib/python3*/_sysconfigdata*.py
echo 3 > ~/.pyenv/version
PATH=~/.pyenv/shims:~/.pyenv/bin:/usr/local/bin:/usr/bin:/bin
pyenv rehash
python3 -m ensurepip
python3 -m pip install --quiet --user pytest
python3 -m venv .venv
.venv/bin/pip install --quiet pytest
poetry=~/.local/share/pipx/venvs/poetry/bin
python3 -m venv "\${poetry%/bin}"
"$poetry/pip" install --quiet poetry
ln -s "$poetry/poetry" ~/.local/bin/poetry
~/.local/bin/poetry run pip install --quiet pytest`,
    path: ['~/.local/bin', '~/.pyenv/shims', '~/.pyenv/bin'],
    variables: { PYENV_ROOT: '~/.pyenv', LD_LIBRARY_PATH: '~/.pyenv/versions/3/lib' },
    command: 'pytest -q && .venv/bin/python -m pytest -q && poetry run pytest -q',
    says: /(?:1 passed[\s\S]*){3}/u,
  },
  {
    name: 'Ruby with minitest',
    needs: 'ruby -e \'require "minitest"\'',
    files: {
      'a.rb':
        'require "minitest/autorun"\nclass A < Minitest::Test\n  def test_a = assert_equal(2, 1 + 1)\nend\n',
    },
    command: 'ruby a.rb',
    says: /1 runs, 1 assertions, 0 failures/u,
  },
  {
    name: 'PHPUnit',
    needs: 'phpunit --version',
    files: {
      'ATest.php':
        '<?php\nclass ATest extends PHPUnit\\Framework\\TestCase {\n  function testA() { $this->assertSame(2, 1 + 1); }\n}\n',
    },
    command: 'phpunit ATest.php',
    says: /OK \(1 test, 1 assertion\)/u,
  },
  {
    name: '.NET of ~/.dotnet',
    needs: 'mcs --version && pip --version',
    files: {
      'a.cs': 'class A { static void Main() { System.Console.WriteLine("sum " + (1 + 1)); } }\n',
      'a.runtimeconfig.json':
        '{"runtimeOptions":{"framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"},"configProperties":{"System.Globalization.Invariant":true}}}',
    },
    // A package of PyPI with the runtime; the compiler is that of Mono. Keys of ASP.NET lie in `corefx`.
    prepare: `mcs -out:a.dll a.cs
pip install --quiet --target ~/work/dotnet dotnetcore2
cp -a ~/work/dotnet/dotnetcore2/bin ~/.dotnet
chmod +x ~/.dotnet/dotnet
mkdir ~/.dotnet/corefx`,
    path: ['~/.dotnet'],
    variables: { DOTNET_ROOT: '~/.dotnet' },
    command: 'dotnet a.dll && ! ls ~/.dotnet/corefx',
    says: /sum 2/u,
  },
  {
    name: 'Chromium of the system and where Puppeteer puts it',
    needs: 'chromium --version && test -d /usr/lib/chromium',
    files: { 'a.html': '<p id=a></p><script>a.textContent = "sum " + (1 + 1)</script>' },
    prepare: `mkdir -p ~/.cache/puppeteer/chrome/linux-1
(cd /usr/lib/chromium && tar c --exclude extensions .) | tar x -C ~/.cache/puppeteer/chrome/linux-1`,
    command: `set -- --headless --no-sandbox --disable-gpu --disable-background-networking --dump-dom file://$PWD/a.html
chromium "$@" && ~/.cache/puppeteer/chrome/linux-1/chromium "$@"`,
    says: /sum 2[\s\S]*sum 2/u,
  },
];

const SYSTEM = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const isReady = (needs: string) => testAll && hasSandbox && spawnSync('bash', ['-c', needs]).status === 0;

describe.runIf(testAll)('test suites in the sandbox, without a network', async () => {
  const world = await useWorld();
  const tools = join(world.home, 'work', '_tool');
  const place = (text: string) =>
    text.replace(/^~/u, world.home).replace(/^@/u, tools).replace(/^%/u, world.base);

  for (const [index, suite] of SUITES.entries()) {
    const test = async () => {
      const workspace = join(world.home, 'work', `suite-${index}`, 'repo');
      putFiles(workspace, suite.files);
      const machine = { ...process.env, MACHINE_HOME: homedir(), NODE: process.execPath };
      const env = { ...machine, HOME: world.home, TOOLS: tools, OUTSIDE: world.base };
      execFileSync('bash', ['--norc', '-euc', suite.prepare ?? ':'], { cwd: workspace, env, stdio: 'pipe' });
      const given = Object.entries(suite.variables ?? {}).map(([name, value]) => [name, place(value)]);
      const path = [...(suite.path ?? []).map(place), SYSTEM].join(':');
      const environment = { ...Object.fromEntries(given), RUNNER_TOOL_CACHE: tools, PATH: path };
      const sandbox = await world.openReady({ workspace, workingDirectory: workspace, environment });
      const { exitCode, output } = await exec(sandbox, suite.command, PATIENCE);
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringMatching(suite.says) });
    };
    it.skipIf(!isReady(suite.needs))(suite.name, test, PATIENCE);
  }
});
