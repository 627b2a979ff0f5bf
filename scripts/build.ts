/**
 * Bundles the action into dist/: ncc joins the modules, one chunk for each lazy import, and esbuild removes whitespace and
 * comments (ncc minifies its main file only). Our names stay, so that the stack in a bug report is readable. Those in large
 * chunks, which contain only other people's packages, are shortened: a run starts after they are parsed.
 * With `--check` it exits 1 unless the sources build exactly what is committed. With `--types` it writes types/ instead,
 * the declarations of the library.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { makeMetaSchema } from './meta-schema.ts';
import { HASH_FILE, sourcesHash } from './sources-hash.ts';

const root = path.join(import.meta.dirname, '..');
const at = (...names: readonly string[]) => path.join(root, ...names);

/** Characters; every chunk that contains code of ours is smaller before it is minified. */
const VENDOR_CHUNK = 250_000;

/** The files in dist/ that are started or imported. */
const ENTRIES: Readonly<Record<string, string>> = {
  'index.js': "import { startAction } from './main.js';\nawait startAction();\n",
  'cli.js': [
    '#!/usr/bin/env node',
    'if (Number.parseInt(process.versions.node) < 24) {',
    "  console.error('structured-agent needs Node 24 or newer.');",
    '  process.exit(1);',
    '}',
    "const { startCommandLine } = await import('./main.js');",
    'await startCommandLine();\n',
  ].join('\n'),
  'merge.js': "import { startMerge } from './main.js';\nawait startMerge();\n",
  'library.js': "export { runStructuredAgent, StructuredAgentError } from './main.js';\n",
};

/**
 * Files in place of those that GitHub's toolkit imports at each start and that we never call: @actions/core needs them for
 * `getIDToken`, and @actions/github for agents and a `fetch` that we replace. They keep 0.4 MB out of the start.
 */
const STAND_INS: Readonly<Record<string, string>> = {
  '@actions/http-client/lib/index.js': 'export class HttpClient { getAgent() {} getAgentDispatcher() {} }\n',
  '@actions/http-client/lib/auth.js': 'export class BearerCredentialHandler {}\n',
  '@actions/github/node_modules/undici/index.js': 'export const { fetch } = globalThis;\n',
  '@actions/github/node_modules/undici/package.json':
    '{ "name": "undici", "version": "0.0.0", "license": "MIT", "type": "module", "exports": "./index.js" }\n',
};

/**
 * Files of OpenAI's SDK, and which of their imports no adapter of ours calls: other resources, clients of other vendors,
 * helpers over streams. Its client makes an object of each resource, so that the bundler cannot leave them out by itself;
 * they are three quarters of what a run would have to parse before its first request.
 */
const UNUSED_IMPORTS: Readonly<Record<string, RegExp>> = {
  'index.mjs': /(azure|bedrock|computer)\.mjs$/u,
  'client.mjs': /auth\/workload|resources\/(?!index|chat\/chat|responses\/responses)/u,
  'resources/chat/completions/completions.mjs': /lib\/|messages\.mjs$/u,
  'resources/responses/responses.mjs': /lib\/|input-\w+\.mjs$/u,
};

/** How a file of the SDK names what it imports. */
const NAMED_IMPORT = /^(?:import|export) \{([^}]*)\} from ["'](\.[^"']+)["']/gmu;

/** How a module reads a text file beside it; the bundle has the text in its place. */
const TEXT_FILE = /readFileSync\(new URL\('(\.\/[\w.-]+)', import\.meta\.url\), 'utf8'\)/gu;

function run(tool: string, ...args: readonly string[]): void {
  execFileSync(at('node_modules/.bin', tool), args, { cwd: root, stdio: 'inherit' });
}

function build(): void {
  for (const folder of ['build', 'dist']) rmSync(at(folder), { recursive: true, force: true });
  // tsc first: left to itself, ncc type-checks the tests as well, or gives up ES modules.
  run('tsc', '--project', 'tsconfig.build.json');
  embedTextFiles();
  writeFileSync(at('build/src/contract/draft-07-meta-schema.js'), makeMetaSchema());
  writeStandIns();
  // A cache would give imports other numbers: the same sources, other bytes.
  const options = ['--no-cache', '--no-source-map-register', '--license', 'licenses.txt'];
  run('ncc', 'build', 'build/src/main.js', '--out', 'dist', ...options);
  renameSync(at('dist/index.js'), at('dist/main.js'));
  for (const file of globSync('dist/*.js', { cwd: root })) {
    const text = readFileSync(at(file), 'utf8');
    const { code } = transformSync(text, {
      format: 'esm',
      target: 'node24',
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: file !== 'dist/main.js' && text.length > VENDOR_CHUNK,
      legalComments: 'none',
    });
    writeFileSync(at(file), code);
  }
  for (const [name, text] of Object.entries(ENTRIES))
    writeFileSync(at('dist', name), text, { mode: name === 'cli.js' ? 0o755 : 0o644 });
  writeFileSync(at('dist', HASH_FILE), `${sourcesHash(root)}\n`);
}

/** Puts the text files of the sources into the modules that were compiled into build/. */
function embedTextFiles(): void {
  for (const module of globSync('**/*.js', { cwd: at('build/src') })) {
    const folder = at('src', path.dirname(module));
    const text = readFileSync(at('build/src', module), 'utf8');
    const embed = (_: string, file: string) => JSON.stringify(readFileSync(path.join(folder, file), 'utf8'));
    writeFileSync(at('build/src', module), text.replaceAll(TEXT_FILE, embed));
  }
}

/** Copies packages to build/, where the stand-ins are found before the real files. */
function writeStandIns(): void {
  for (const name of ['@actions/core', '@actions/github', '@actions/http-client', 'openai'])
    cpSync(at('node_modules', name), at('build/node_modules', name), { recursive: true, dereference: true });
  for (const [name, unused] of Object.entries(UNUSED_IMPORTS)) {
    const importer = at('build/node_modules/openai', name);
    for (const [, names = '', from = ''] of readFileSync(importer, 'utf8').matchAll(NAMED_IMPORT)) {
      if (!unused.test(from)) continue;
      const classes = (names.match(/\w+(?= as |,|\s*$)/gu) ?? []).map((each) => `export class ${each} {}\n`);
      writeFileSync(path.join(path.dirname(importer), from), classes.join(''));
    }
  }
  for (const [name, text] of Object.entries(STAND_INS)) {
    const file = at('build/node_modules', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Builds, and fails unless git sees no change. */
function check(): void {
  build();
  const changes = execFileSync('git', ['status', '--porcelain', '--', 'dist'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (changes === '') return;
  console.error(`${changes}dist/ as committed is not what the sources build. Commit it.`);
  process.exitCode = 1;
}

/** Writes types/: of the declarations that tsc makes, those that the entry reaches. */
function writeTypes(): void {
  for (const folder of ['build', 'types']) rmSync(at(folder), { recursive: true, force: true });
  // `npm run check` checks the types.
  const options = [
    '--noCheck',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    'build',
    '--rootDir',
    '.',
  ];
  run('tsc', '--project', 'tsconfig.build.json', ...options);
  // Grows while it is read.
  const names = new Set(['library']);
  for (const name of names) {
    const text = readFileSync(at('build/src', `${name}.d.ts`), 'utf8');
    for (const [, next = ''] of text.matchAll(/from '(\.[\w./-]+)\.ts'/gu))
      names.add(path.join(path.dirname(name), next));
    mkdirSync(at('types', path.dirname(name)), { recursive: true });
    writeFileSync(at('types', `${name}.d.ts`), text.replaceAll(/(from '\.[\w./-]+)\.ts'/gu, "$1.js'"));
  }
}

if (process.argv.includes('--types')) writeTypes();
else if (process.argv.includes('--check')) check();
else build();
