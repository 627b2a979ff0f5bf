/** One bundle for every front door: the file that was started says which one is meant; imported, it starts nothing. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What dist/ holds: the bundle itself is the action, and beside it lies one line for each other door. */
const DOORS: Readonly<Record<string, () => Promise<unknown>>> = {
  'index.js': () => import('./action.ts'),
  'cli.js': () => import('./cli.ts'),
};

export type { JsonSchema, RunOptions, RunResult, TypedSchema } from './library.ts';
export { runStructuredAgent, StructuredAgentError } from './library.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const started = process.argv[1] === undefined ? '' : realpathSync(process.argv[1]);
if (path.dirname(started) === here) await DOORS[path.basename(started)]?.();
