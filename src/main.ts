/** One bundle for all entries: starts the entry whose file was executed. Imported as a library, it starts nothing. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The entries of dist/ by file name. Each entry file imports this module. */
const ENTRIES: Readonly<Record<string, () => Promise<unknown>>> = {
  'index.js': () => import('./action.ts'),
  'cli.js': () => import('./cli.ts'),
  'merge.js': () => import('./merge/action.ts'),
};

export type { JsonSchema, RunOptions, RunResult, TypedSchema } from './library.ts';
export { runStructuredAgent, StructuredAgentError } from './library.ts';
export type { RunEvent } from './reporters/report-types.ts';
export type { Reason, Usage } from './types.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
await ENTRIES[doorOf(process.argv[1])]?.();

/**
 * The file name of the entry that was started, however its path was written; empty when another program imports the
 * library.
 */
function doorOf(given: string | undefined): string {
  for (const file of given === undefined ? [] : [given, `${given}.js`]) {
    try {
      const started = realpathSync(file);
      // `node dist` starts the folder's index.js; doing nothing would look like success.
      if (started === here) return 'index.js';
      if (path.dirname(started) === here) return path.basename(started);
    } catch {
      // With `node -e CODE WORD` the argument is not a file.
    }
  }
  return '';
}
