/** Keeps the e2e tests from judging a bundle that the sources no longer build. */
import path from 'node:path';
import { isDistCurrent } from '../../scripts/sources-hash.ts';
import { detectBackend } from '../../src/sandbox/detect.ts';

export async function setup(): Promise<void> {
  if (!isDistCurrent(path.join(import.meta.dirname, '..', '..')))
    throw new Error('dist/ is older than src/: run npm run build');
  const { kind } = await detectBackend({ mode: 'required', shellNetwork: false });
  if (kind === 'none')
    console.log('No sandbox works on this machine, so what needs one is skipped. Fix: install bubblewrap.');
}
