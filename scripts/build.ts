/**
 * Bundles the action into dist/: ncc joins the modules, one chunk for each lazy import, and esbuild takes out blanks and
 * comments (ncc minifies its main file only). Our names stay, so that the stack in a bug report can be read; those of the
 * large chunks, which hold other people's packages alone, are shortened: the start of a run waits until they are parsed.
 * With `--check` it leaves dist/ alone and exits 1 unless the sources build exactly what is committed there.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { differences } from './differences.ts';

const root = path.join(import.meta.dirname, '..');

/** Characters; no chunk with code of ours is as large before it is minified. */
const VENDOR_CHUNK = 300_000;

// It has to say what is missing on an old Node, which could not even read the bundle.
const CLI = `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('structured-agent needs Node.js 22 or newer, and this is ' + process.version + '.');
  process.exit(52);
}
await import('./index.js');
`;

const run = (tool: string, args: readonly string[]) =>
  execFileSync(path.join(root, 'node_modules', '.bin', tool), args, { cwd: root, stdio: 'inherit' });

/** Builds the bundle into a folder of the project, of which nothing stays; its size in bytes. */
function build(folder: string): number {
  const target = path.join(root, folder);
  for (const old of [path.join(root, 'build'), target]) rmSync(old, { recursive: true, force: true });
  // tsc first: left to itself, ncc type-checks the tests as well, or gives up ES modules.
  run('tsc', ['--project', 'tsconfig.build.json']);
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

  // What a shell starts, and what merge/action.yml starts.
  writeFileSync(path.join(target, 'cli.js'), CLI, { mode: 0o755 });
  writeFileSync(path.join(target, 'merge.js'), "import './index.js';\n");

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
      target: 'node24',
      minifyWhitespace: true,
      minifySyntax: true,
      minifyIdentifiers: name !== 'index.js' && text.length > VENDOR_CHUNK,
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
