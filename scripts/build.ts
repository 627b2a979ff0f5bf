/**
 * Bundles the action into dist/: ncc joins the modules, one chunk for each lazy import, and esbuild takes out blanks and
 * comments (ncc minifies its main file only). Our names stay, so that the stack in a bug report can be read; those of the
 * large chunks, which hold other people's packages alone, are shortened: the start of a run waits until they are parsed.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';

const root = path.join(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

const run = (tool: string, args: readonly string[]) =>
  execFileSync(path.join(root, 'node_modules', '.bin', tool), args, { cwd: root, stdio: 'inherit' });

for (const folder of ['build', 'dist']) rmSync(path.join(root, folder), { recursive: true, force: true });
// tsc first: left to itself, ncc type-checks the tests as well, or gives up ES modules.
run('tsc', ['--project', 'tsconfig.build.json']);
run('ncc', [
  'build',
  'build/src/main.js',
  '--out',
  'dist',
  '--no-source-map-register',
  '--license',
  'licenses.txt',
]);

/** Characters; no chunk with code of ours is as large before it is minified. */
const VENDOR_CHUNK = 300_000;

// What a shell starts: it has to say what is missing on an old Node, which could not even read the bundle.
writeFileSync(
  path.join(dist, 'cli.js'),
  `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error('structured-agent needs Node.js 22 or newer, and this is ' + process.version + '.');
  process.exit(52);
}
await import('./index.js');
`,
  { mode: 0o755 },
);

// What merge/action.yml starts.
writeFileSync(path.join(dist, 'merge.js'), "import './index.js';\n");

let bytes = 0;
for (const name of readdirSync(dist)) {
  const file = path.join(dist, name);
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
process.stdout.write(`dist: ${(bytes / 1e6).toFixed(2)} MB\n`);
