/**
 * Bundles the action into dist/: ncc joins the modules, one chunk for each lazy import, and esbuild takes out blanks and
 * comments (ncc minifies its main file only). Our names stay, so that the stack in a bug report can be read; those of the
 * large chunks, which hold other people's packages alone, are shortened: the start of a run waits until they are parsed.
 * With `--check` it leaves dist/ alone and exits 1 unless the sources build exactly what is committed there.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { differences } from './differences.ts';
import { writeLazyUndici } from './lazy-undici.ts';

const root = path.join(import.meta.dirname, '..');

/** Characters; no chunk with code of ours is as large before it is minified. */
const VENDOR_CHUNK = 300_000;

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
  writeLazyUndici(root);
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

if (process.argv.includes('--check')) {
  if (!check()) process.exitCode = 1;
} else {
  process.stdout.write(`dist: ${(build('dist') / 1e6).toFixed(2)} MB\n`);
}
