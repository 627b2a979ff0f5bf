import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createMachine } from '../../src/cli/world.ts';
import { gitIn } from '../sandbox/world.ts';
import { makeFolder } from '../support/surroundings.ts';

it('the subject is what git says of the checkout around the workspace, once there is a commit', async () => {
  const root = makeFolder();
  const workspace = path.join(root, 'packages');
  mkdirSync(workspace);
  const subject = async () => (await createMachine({}, workspace, '.')).machine.subject;
  gitIn(root, 'init', '-q', '-b', 'main');
  expect(await subject()).toBeNull();
  gitIn(root, 'remote', 'add', 'origin', 'https://token@github.com/octo/demo.git');
  gitIn(root, 'commit', '-q', '--allow-empty', '-m', 'first');
  const sha = gitIn(root, 'rev-parse', 'HEAD');
  const run = { event: '', pull_request: null, run_id: '', run_attempt: 1, checked_out: sha };
  expect(await subject()).toEqual({ repository: 'octo/demo', sha, ref: 'refs/heads/main', ...run });
});
