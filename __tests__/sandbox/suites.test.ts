/**
 * Test suites of small projects, with the tools where the setup actions put them. All of them are prepared with the
 * network in a home of their own and run in the sandbox without one. Only with TEST_ALL=1; skipped if a tool is missing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
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
  /**
   * Runs outside, in the workspace, with bash; commands get what it exports. $HOME and $TOOLS, the tool cache, are those of
   * the test, $OUTSIDE is a folder elsewhere, and $MACHINE_HOME holds the tools of this machine.
   */
  readonly prepare?: string;
  readonly command: string;
  readonly says: RegExp;
}

/** A project of node, with the tool cache of actions/setup-node. */
const node = (name: string, prepare: string, command: string): Suite => ({
  ...{ name, needs: 'npm --version', command, says: /pass 1\b/u },
  files: {
    'package.json': '{"name":"p","scripts":{"test":"node --test"},"dependencies":{"is-number":"7.0.0"}}',
    'a.test.js': `require('node:test')('1', () => require('node:assert').ok(require('is-number')(1)));`,
  },
  prepare: `
[ -x "$TOOLS/node/bin/npm" ] || {
  mkdir -p "$TOOLS/node/bin"
  cp "$NODE" "$TOOLS/node/bin/node"
  npm install --silent --global --prefix "$TOOLS/node" npm@11 corepack@0.34
}
PATH=$TOOLS/node/bin:$PATH
${prepare}`,
});

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>p</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version>
<scope>test</scope></dependency></dependencies></project>`;
const JAVA_TEST = `import org.junit.Test;
public class ATest { @Test public void adds() { org.junit.Assert.assertEquals(2, 1 + 1); } }`;

const SUITES: readonly Suite[] = [
  node('npm test, node of actions/setup-node', 'npm install --silent', 'npm test'),
  node(
    'pnpm of pnpm/action-setup',
    `npm install --silent --prefix ~/setup-pnpm pnpm@10
export PNPM_HOME=~/setup-pnpm/node_modules/.bin
PATH=$PNPM_HOME:$PATH
ln -sf ../pnpm/bin/pnpm.cjs $PNPM_HOME/pnpm
pnpm install`,
    'pnpm test',
  ),
  node(
    'pnpm of corepack',
    `registry=$(npm config get registry)
COREPACK_NPM_REGISTRY=\${registry%/} COREPACK_INTEGRITY_KEYS=0 corepack pnpm@10.12.1 install`,
    'corepack pnpm@10.12.1 test',
  ),
  node(
    'yarn 4 without node_modules',
    `npm install --silent --prefix ~/work/berry @yarnpkg/cli-dist@4
mkdir -p .yarn/releases
cp ~/work/berry/node_modules/@yarnpkg/cli-dist/bin/yarn.js .yarn/releases/yarn.cjs
YARN_ENABLE_IMMUTABLE_INSTALLS=0 node .yarn/releases/yarn.cjs install`,
    'node .yarn/releases/yarn.cjs test',
  ),
  {
    name: 'Cargo with a crate of the registry',
    needs: 'rustup --version && cargo --version',
    files: {
      'Cargo.toml':
        '[package]\nname = "p"\nedition = "2021"\n[dependencies]\nitoa = "1"\n[lib]\ndoctest = false\n',
      'src/lib.rs': '#[test]\nfn a() {\n    assert_eq!(itoa::Buffer::new().format(2), "2");\n}\n',
    },
    prepare: `toolchain=$(HOME=$MACHINE_HOME rustc --print sysroot)
copy=~/.rustup/toolchains/$(basename "$toolchain")
mkdir -p ~/.cargo "$copy"
cp -a "$(dirname "$(command -v rustup)")" ~/.cargo/bin
(cd "$toolchain" && tar c --exclude share --exclude lib/rustlib/src .) | tar x -C "$copy"
unset RUSTUP_HOME
export CARGO_HOME=~/.cargo PATH=~/.cargo/bin:$PATH
rustup default "$(basename "$toolchain")"
cargo fetch`,
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
PATH=$TOOLS/go/1/x64/bin:~/go/bin:$PATH
go mod tidy
export GOPATH=$OUTSIDE/gopath
go mod download`,
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
PATH=~/.local/bin:~/.pyenv/shims:~/.pyenv/bin:/usr/local/bin:/usr/bin:/bin
pyenv rehash
python3 -m ensurepip
python3 -m pip install --quiet --user pytest
python3 -m venv .venv
.venv/bin/pip install --quiet pytest
poetry=~/.local/share/pipx/venvs/poetry/bin
python3 -m venv "\${poetry%/bin}"
"$poetry/pip" install --quiet poetry
ln -s "$poetry/poetry" ~/.local/bin/poetry
poetry run pip install --quiet pytest`,
    command: 'pytest -q && .venv/bin/python -m pytest -q && poetry run pytest -q',
    says: /(?:1 passed[\s\S]*){3}/u,
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
mkdir ~/.dotnet/corefx
export DOTNET_ROOT=~/.dotnet PATH=~/.dotnet:$PATH`,
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
const { PATH: MACHINE_PATH = '' } = process.env;

describe.runIf(testAll && hasSandbox)('without a network', { timeout: PATIENCE }, async () => {
  const world = await useWorld();
  const TOOLS = join(world.home, 'work', '_tool');
  const machine = { ...process.env, MACHINE_HOME: homedir(), NODE: process.execPath };
  const env: NodeJS.ProcessEnv = { ...machine, HOME: world.home, TOOLS, OUTSIDE: world.base };

  it.for(SUITES)('$name', async ({ needs, files, prepare = ':', command, says }, { skip }) => {
    skip(spawnSync('bash', ['-c', needs]).status !== 0);
    const workspace = putFiles(mkdtempSync(join(world.home, 'work', 'suite-')), files);
    const args = ['--norc', '-euc', `{\n${prepare}\n} >&2; env -0`];
    const exported = execFileSync('bash', args, { cwd: workspace, env, encoding: 'utf8', stdio: 'pipe' });
    const environment: Record<string, string> = { RUNNER_TOOL_CACHE: TOOLS, PATH: SYSTEM };
    for (const [, name = '', value = ''] of exported.matchAll(/([^=]+)=([^\0]*)\0/gu))
      if (value !== env[name]) environment[name] = value.replace(MACHINE_PATH, SYSTEM);
    const sandbox = await world.openReady({ workspace, workingDirectory: workspace, environment });
    const { exitCode, output } = await exec(sandbox, command, PATIENCE);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringMatching(says) });
  });
});
