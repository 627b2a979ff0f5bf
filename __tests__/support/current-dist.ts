/** Keeps the e2e tests from judging a bundle that the sources no longer build. */
import path from 'node:path';
import { isDistCurrent } from '../../scripts/sources-hash.ts';

export function setup(): void {
  if (!isDistCurrent(path.join(import.meta.dirname, '..', '..')))
    throw new Error('dist/ is older than src/: run npm run build');
}
