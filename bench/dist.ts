/** What lies in dist/, and what of it a run loads. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLE } from '../examples/demo/runner.ts';

const DIST = path.dirname(BUNDLE);

/** A variable that each SDK reads and nothing else names: it tells which file of the bundle holds the SDK. */
const MARKS: Readonly<Record<string, string>> = { anthropic: 'ANTHROPIC_LOG', openai: 'OPENAI_LOG' };

/** Every file of dist/ with its size. */
export function bundleFiles(): readonly { readonly name: string; readonly bytes: number }[] {
  return readdirSync(DIST, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(path.join(DIST, name)).isFile())
    .map((name) => ({ name, bytes: statSync(path.join(DIST, name)).size }));
}

/**
 * Which provider SDKs a run loaded, from the coverage that it left: V8 lists every script that was compiled, so a file
 * that is not listed was not loaded.
 */
export function loadedSdks(coverage: string): { readonly sdks: readonly string[]; readonly bytes: number } {
  const loaded = new Set(readdirSync(coverage).flatMap((report) => scriptsOf(path.join(coverage, report))));
  const sdks = Object.entries(MARKS).flatMap(([sdk, mark]) => (loaded.has(fileWith(mark)) ? [sdk] : []));
  return { sdks, bytes: [...loaded].reduce((sum, file) => sum + statSync(file).size, 0) };
}

/** The one file of dist/ that holds a mark. */
function fileWith(mark: string): string {
  const files = bundleFiles()
    .map(({ name }) => path.join(DIST, name))
    .filter((file) => file.endsWith('.js') && readFileSync(file, 'utf8').includes(mark));
  const [only, ...more] = files;
  if (only === undefined || more.length > 0)
    throw new Error(`${files.length} files of dist/ hold ${mark}: no mark of one SDK.`);
  return only;
}

/** The files of dist/ in one coverage report. */
function scriptsOf(report: string): readonly string[] {
  const urls = [...readFileSync(report, 'utf8').matchAll(/"url":"(file:[^"]+)"/gu)].map(
    (match) => match[1] ?? '',
  );
  return urls.map((url) => fileURLToPath(url)).filter((file) => file.startsWith(DIST + path.sep));
}
