/**
 * Bundles the action into dist/: ncc joins the modules, one chunk for each lazy import, and esbuild takes out blanks and
 * comments (ncc minifies its main file only). Our names stay, so that the stack in a bug report can be read; those of the
 * large chunks, which hold other people's packages alone, are shortened: the start of a run waits until they are parsed.
 * With `--check` it leaves dist/ alone and exits 1 unless the sources build exactly what is committed there. With `--types`
 * it writes types/ instead, the declarations of the library.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { HASH_FILE, sourcesHash } from './sources-hash.ts';

const root = path.join(import.meta.dirname, '..');

/** Characters; no chunk with code of ours is as large before it is minified. */
const VENDOR_CHUNK = 250_000;

/** The oldest Node that runs the bundle; `engines` in package.json says the same. */
const OLDEST_NODE = 22;

/**
 * The files of dist/ that are started or imported. An older Node fails in the bundle with a TypeError that does not say why,
 * so each of them says what is needed before it loads main.js, in a syntax that every Node with ES modules reads.
 */
const ENTRIES: Readonly<Record<string, string>> = {
  // The action, which a runner starts, and the library, which is imported.
  'index.js': `import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
${onOldNode(`  const started = process.argv[1] ?? '';
  if (existsSync(started) && realpathSync(started) === fileURLToPath(import.meta.url)) {
    console.log('::error::' + message);
    process.exit(52);
  }
  const fields = { name: 'StructuredAgentError', conclusion: 'inconclusive', reason: 'config', exitCode: 52 };
  throw Object.assign(new Error(message), fields);`)}
export const { runStructuredAgent, StructuredAgentError } = await import('./main.js');
`,
  'cli.js': `#!/usr/bin/env node
${onOldNode(`  console.error(message);
  process.exit(52);`)}
await import('./main.js');
`,
  'merge.js': `${onOldNode(`  console.log('::error::' + message);
  process.exit(52);`)}
await import('./main.js');
`,
};

function onOldNode(statements: string): string {
  return `if (Number(process.versions.node.split('.')[0]) < ${OLDEST_NODE}) {
  const message = 'structured-agent needs Node.js ${OLDEST_NODE} or newer, and this is ' + process.version + '.';
${statements}
}`;
}

const run = (tool: string, args: readonly string[]) =>
  execFileSync(path.join(root, 'node_modules', '.bin', tool), args, { cwd: root, stdio: 'inherit' });

/** How a module reads a text file beside it; the bundle has the text in its place. */
const TEXT_FILE = /readFileSync\(new URL\('(\.\/[\w.-]+)', import\.meta\.url\), 'utf8'\)/gu;

/** Puts the text files of the sources into the modules that were compiled into build/. */
function embedTextFiles(): void {
  const compiled = path.join(root, 'build', 'src');
  for (const name of readdirSync(compiled, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const module = path.join(compiled, name);
    const text = readFileSync(module, 'utf8');
    const folder = path.join(root, 'src', path.dirname(name));
    const embedded = text.replaceAll(TEXT_FILE, (_, file: string) =>
      JSON.stringify(readFileSync(path.join(folder, file), 'utf8')),
    );
    if (embedded !== text) writeFileSync(module, embedded);
  }
}

/** Builds the bundle into a folder of the project, of which nothing stays; its size in bytes. */
function build(folder: string): number {
  const target = path.join(root, folder);
  for (const old of [path.join(root, 'build'), target]) rmSync(old, { recursive: true, force: true });
  // tsc first: left to itself, ncc type-checks the tests as well, or gives up ES modules.
  run('tsc', ['--project', 'tsconfig.build.json']);
  embedTextFiles();
  writeLazyUndici();
  run('ncc', [
    'build',
    'build/src/main.js',
    '--out',
    folder,
    // What ncc keeps of another commit's build in the home folder gives imports other numbers: the same sources, other bytes.
    '--no-cache',
    '--no-source-map-register',
    '--license',
    'licenses.txt',
  ]);

  renameSync(path.join(target, 'index.js'), path.join(target, 'main.js'));
  for (const [name, text] of Object.entries(ENTRIES)) {
    writeFileSync(path.join(target, name), text, { mode: name === 'cli.js' ? 0o755 : 0o644 });
  }

  let bytes = 0;
  for (const name of readdirSync(target)) {
    const file = path.join(target, name);
    const text = readFileSync(file, 'utf8');
    if (!name.endsWith('.js')) {
      bytes += Buffer.byteLength(text);
      continue;
    }
    const { code } = transformSync(text, {
      format: 'esm',
      target: 'node22',
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: name !== 'main.js' && text.length > VENDOR_CHUNK,
      legalComments: 'none',
    });
    writeFileSync(file, code);
    bytes += Buffer.byteLength(code);
  }
  writeFileSync(path.join(target, HASH_FILE), `${sourcesHash(root)}\n`);
  return bytes;
}

/** Whether the sources build what is committed in dist/; says what differs. */
function check(): boolean {
  const uncommitted = execFileSync('git', ['status', '--porcelain', '--', 'dist'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (uncommitted !== '') {
    console.error(`dist/ holds changes that are not committed:\n${uncommitted}`);
    return false;
  }
  const folder = path.join('build', 'dist');
  build(folder);
  const found = differences(path.join(root, 'dist'), path.join(root, folder));
  if (found.length === 0) {
    console.log('dist/ is what the sources build.');
    return true;
  }
  console.error(found.join('\n'));
  console.error('dist/ is not what the sources build. Run npm run build and commit it.');
  return false;
}

// Two packages of GitHub's toolkit import @actions/http-client as they are loaded, and with it the 400 KB of undici:
// @actions/core for `getIDToken` alone, @actions/github for a `fetch` that we never leave to it. The bundle gets copies of
// them beside stand-ins that import the real package on the first call.

/** The methods of the client that core calls, and those that github calls for values that we replace. */
const HTTP_CLIENT = `export class HttpClient {
  constructor(...options) {
    this.options = options;
  }
  getAgent() {}
  getAgentDispatcher() {}
  async getJson(...request) {
    const { HttpClient } = await import('REAL/lib/index.js');
    return new HttpClient(...this.options).getJson(...request);
  }
}
`;

const UNDICI = `export async function fetch(...request) {
  const { default: undici } = await import('REAL/index.js');
  return undici.fetch(...request);
}
`;

/** Puts the copies and the stand-ins where what was compiled into build/ finds them first. */
function writeLazyUndici(): void {
  const from = path.join(root, 'node_modules');
  const to = path.join(root, 'build', 'node_modules');
  for (const name of ['@actions/core', '@actions/github']) {
    cpSync(path.join(from, name), path.join(to, name), { recursive: true, dereference: true });
  }
  const client = path.join(to, '@actions/http-client');
  writeStandIn(client, path.join(from, '@actions/http-client'), {
    '.': HTTP_CLIENT,
    './lib/auth': "export * from 'REAL/lib/auth.js';\n",
  });
  writeStandIn(path.join(to, '@actions/github/node_modules/undici'), path.join(from, 'undici'), {
    '.': UNDICI,
  });
}

/** A package of the real one's name, version and licence with these modules, in which REAL stands for its folder. */
function writeStandIn(folder: string, real: string, modules: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  const { name, version, license }: Record<string, unknown> = JSON.parse(
    readFileSync(path.join(real, 'package.json'), 'utf8'),
  );
  const exports: Record<string, string> = {};
  for (const [entry, text] of Object.entries(modules)) {
    const file = `./${path.basename(entry === '.' ? 'index' : entry)}.js`;
    exports[entry] = file;
    writeFileSync(path.join(folder, file), text.replaceAll('REAL', path.relative(folder, real)));
  }
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name, version, license, type: 'module', exports }),
  );
}

/** Characters shown before the first difference, and of it. */
const LEAD = 60;
const SHOWN = 200;

/**
 * A text for each file of two flat folders that is not in both with the same bytes and the same right to be executed;
 * none where they are the same.
 */
export function differences(expectedFolder: string, builtFolder: string): string[] {
  const expected = new Set(readdirSync(expectedFolder));
  const built = new Set(readdirSync(builtFolder));
  const found: string[] = [];
  for (const name of [...new Set([...expected, ...built])].sort()) {
    if (!built.has(name)) found.push(`${name} is committed and was not built`);
    else if (!expected.has(name)) found.push(`${name} was built and is not committed`);
    else found.push(...difference(name, path.join(expectedFolder, name), path.join(builtFolder, name)));
  }
  return found;
}

function difference(name: string, expectedFile: string, builtFile: string): string[] {
  const expected = readFileSync(expectedFile);
  const built = readFileSync(builtFile);
  const isExecutable = (file: string) => (statSync(file).mode & 0o100) !== 0;
  if (isExecutable(expectedFile) !== isExecutable(builtFile))
    return [`${name} is executable in one of the two only`];
  if (expected.equals(built)) return [];
  const shortest = Math.min(expected.length, built.length);
  let at = 0;
  while (at < shortest && expected[at] === built[at]) at += 1;
  const excerpt = (bytes: Buffer) =>
    JSON.stringify(bytes.toString('ascii', Math.max(0, at - LEAD), at + SHOWN));
  return [
    `${name}: ${expected.length} bytes committed, ${built.length} built, alike up to byte ${at}`,
    `  committed: ${excerpt(expected)}`,
    `  built:     ${excerpt(built)}`,
  ];
}

/** Writes types/: of the declarations that tsc makes, those that the entry reaches. */
function writeTypes(): void {
  const types = path.join(root, 'types');
  const all = mkdtempSync(path.join(os.tmpdir(), 'types-'));
  const kept = new Set<string>();
  const keep = (name: string): void => {
    if (kept.has(name)) return;
    kept.add(name);
    const text = readFileSync(path.join(all, 'src', `${name}.d.ts`), 'utf8');
    for (const [, next = ''] of text.matchAll(/from '(\.[\w./-]+)\.(?:ts|js)'/gu))
      keep(path.join(path.dirname(name), next));
    mkdirSync(path.join(types, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(types, `${name}.d.ts`), text.replaceAll(/(from '\.[\w./-]+)\.ts'/gu, "$1.js'"));
  };
  try {
    const options = ['--declaration', '--emitDeclarationOnly', '--outDir', all, '--rootDir', root];
    run('tsc', ['--project', 'tsconfig.build.json', ...options]);
    rmSync(types, { recursive: true, force: true });
    keep('main');
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  if (process.argv.includes('--types')) writeTypes();
  else if (!process.argv.includes('--check'))
    process.stdout.write(`dist: ${(build('dist') / 1e6).toFixed(2)} MB\n`);
  else if (!check()) process.exitCode = 1;
}
