/** The archive of the last commit, which a runner downloads for each job. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const MAX_BYTES = 1_100_000;
const folder = makeFolder();

it('is small, and the action runs from what it holds', async () => {
  const archive = execFileSync('git', ['archive', '--format=tar.gz', 'HEAD'], {
    cwd: ROOT,
    maxBuffer: 2 ** 28,
  });
  expect(archive.length).toBeLessThan(MAX_BYTES);
  execFileSync('tar', ['--extract', '--gzip', '--directory', folder], { input: archive });
  expect(readdirSync(folder).toSorted()).toEqual(['LICENSE', 'README.md', 'action.yml', 'dist', 'merge']);
  expect(readdirSync(path.join(folder, 'dist'))).toContain('licenses.txt');

  const entryOf = (manifest: string): string => {
    const { runs } = parse(readFileSync(path.join(folder, manifest), 'utf8'));
    return path.join(folder, path.dirname(manifest), runs.main);
  };
  const run = await runAction({
    bundle: entryOf('action.yml'),
    script: [calls('shell', { command: 'echo from the archive' }), submits({ passed: true, summary: 's' })],
  });
  expect([run.exitCode, run.outputs.get('passed')]).toEqual([0, 'true']);
  expect(run.requests[1]?.raw).toContain('from the archive');
  // Without inputs the merge says what is missing.
  const merge = spawnSync(process.execPath, [entryOf('merge/action.yml')], {
    env: { ...process.env, GITHUB_WORKSPACE: folder, RUNNER_TEMP: folder },
    encoding: 'utf8',
  });
  expect(merge.status).toBe(52);
  expect(merge.stdout).toContain('verdicts');
});
