/** The checkout and the files that later steps trust, after an agent that changes whatever it can. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ActionOptions,
  calls,
  HAS_BWRAP,
  KEY,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';

const good = submits({ passed: true, summary: 'all well' });
const sh = (script: string, cwd: string) => execFileSync('sh', ['-c', script], { cwd, encoding: 'utf8' });
const COMMIT =
  'git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm first --allow-empty';
const STATE = `find . -not -path "./.git/*" -not -name .git | sort | xargs -d "\\n" stat -c "%n %f %s %Y"
  find . -type f -not -path "./.git/*" -exec sha256sum {} + | sort; git status --short --ignored`;

/** Runs one command in a committed checkout; `onEnd` gets the checkout, the patch, and the checkout's state before. */
function runIn(
  command: string,
  options: ActionOptions = {},
  onEnd: (workspace: string, patch: string, before: string) => void = () => undefined,
) {
  let [checkout, before] = ['', ''];
  return runAction({
    script: [calls('shell', { command }), good],
    ...options,
    prepare: ({ workspace }) => {
      checkout = workspace;
      sh(COMMIT, workspace);
      before = sh(STATE, workspace);
      return Promise.resolve();
    },
    onEnd: (outputs) => onEnd(checkout, outputs.get('run-patch-file') ?? '', before),
  });
}

describe('the checkout', () => {
  const CHANGE = `printf "\\000\\377bin" > b.bin; rm a.txt; chmod +x run.sh; echo out > ignored.log
    ln -s b.bin l; mkdir d && echo n > d/n.txt`;
  const files = { 'a.txt': 'one\n', 'run.sh': 'echo\n', '.gitignore': '*.log\n' };

  const changed = [
    '100644 000000 D a.txt',
    '000000 100644 A b.bin',
    '000000 100644 A d/n.txt',
    '000000 120000 A l',
    '100644 100755 M run.sh',
    '',
  ];
  const readChanges = (workspace: string) =>
    sh('git diff --cached --raw --abbrev=1', workspace)
      .split('\n')
      .map((line) => line.replace(/^:(\d+) (\d+) .* ([AMDT])\t/u, '$1 $2 $3 '));

  it.runIf(HAS_BWRAP)('is unchanged, and the patch applies to it', async () => {
    let applied: readonly string[] = [];
    const run = await runIn(`${CHANGE}; ls`, { files }, (workspace, patch, before) => {
      expect(sh(STATE, workspace)).toBe(before);
      expect(statSync(patch).mode & 0o777).toBe(0o600);
      sh(`git apply --index '${patch}'`, workspace);
      applied = readChanges(workspace);
    });
    expect([run.exitCode, run.requests[1]?.raw]).toEqual([0, expect.stringContaining('b.bin')]);
    expect(applied).toEqual(changed);
  });

  it('with sandbox: off holds the changes, and there is no patch', async () => {
    let left: readonly string[] = [];
    const run = await runIn(CHANGE, { files, inputs: { sandbox: 'off' } }, (workspace, patch) => {
      expect(patch).toBe('');
      sh('git add -A', workspace);
      left = readChanges(workspace);
    });
    expect([run.exitCode, run.envelope?.['scratch']]).toEqual([0, undefined]);
    expect(left).toEqual(changed);
  });

  it('has no patch if it is no repository', async () => {
    const run = await runAction({ script: [calls('shell', { command: 'echo x > new' }), good] });
    expect([run.exitCode, run.outputs.get('run-patch-file')]).toEqual([0, '']);
  });

  it.runIf(HAS_BWRAP)(
    'gives a nested repository or a fake git on PATH nothing outside the sandbox',
    async () => {
      const steal = 'cat /proc/*/environ 2>/dev/null | tr "\\\\0" "\\\\n" > stolen.txt';
      const command = `mkdir -p bin nested; printf '#!/bin/sh\\n${steal}\\nexec /usr/bin/git "$@"\\n' > bin/git
      chmod +x bin/git; cd nested; git init -q .; echo '* filter=x' > .gitattributes
      git config filter.x.clean '${steal.replaceAll("'", '')}; cat'; echo y > y
      git -c user.name=t -c user.email=t@example.com commit -qm x --allow-empty`;
      const run = await runIn(command, { path: ['bin'] });
      expect(run.outputs.get('run-exit-code')).toBe(String(run.exitCode));
      expect(JSON.stringify(run.files)).not.toContain(KEY);
    },
  );
});

it('files that later steps trust are restored if an agent without a sandbox writes into them', async () => {
  const names = ['set_output', 'set_env', 'add_path', 'save_state', 'step_summary'];
  let [folder, after] = ['', ''];
  const forge = () =>
    calls('shell', { command: `cd '${folder}'; echo forged=true | tee -a ${names.join(' ')}` });
  const run = await runAction({
    script: (_, index) => (index === 0 ? forge() : good),
    inputs: { sandbox: 'off' },
    prepare: async ({ outputFile }) => {
      folder = path.dirname(outputFile);
    },
    onEnd: () => {
      after = sh('cat *', folder);
    },
  });
  expect([run.exitCode, run.outputs.get('run-reason')]).toEqual([1, 'tampered']);
  expect(names).toContainEqual(/[a-z]+_[a-z]+(?= was changed)/u.exec(String(run.envelope?.['error']))?.[0]);
  expect(after).not.toContain('forged=');
});
