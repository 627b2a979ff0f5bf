import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionRun, calls, HAS_BWRAP, KEY, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const good = submits({ passed: true, summary: 'all well' });

const commit = (workspace: string) =>
  execFileSync(
    'sh',
    [
      '-c',
      'git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm first --allow-empty',
    ],
    { cwd: workspace },
  );

describe('the workspace', () => {
  it('the patch leaves out files that contain a known secret, and the log says so', async () => {
    let patch = '';
    const write = `echo 'key=${KEY}' > a.txt; printf 'x\\0%s' '${KEY}' > a.bin; echo '${KEY}' | base64 > b; echo fine > c`;
    const run = await runAction({
      script: (_request, index) => (index === 0 ? calls('shell', { command: write }) : good),
      files: { 'a.txt': 'one\n' },
      prepare: ({ workspace }) => Promise.resolve(void commit(workspace)),
      onEnd: (outputs) => {
        patch = readFileSync(outputs.get('run-patch-file') ?? '', 'utf8');
      },
    });
    expect([run.exitCode, run.outputs.get('run-changed-files')]).toEqual([0, '4']);
    expect(patch.match(/^diff --git .*$/gmu)).toEqual(['diff --git a/c b/c']);
    expect(run.log).toContain('The patch leaves out "a.bin", "a.txt", "b": a secret that this run knows');
  });

  it.each([{}, { sandbox: 'off' }])(
    'the checkout is unchanged at the end, and the patch applies to it (%o)',
    async (inputs) => {
      const state = (folder: string) =>
        execFileSync(
          'sh',
          [
            '-c',
            'find . -not -path "./.git/*" -not -name .git | sort | xargs -d "\\n" stat -c "%n %f %s %Y" ; find . -type f -not -path "./.git/*" -exec sha256sum {} + | sort; git status --short --ignored',
          ],
          { cwd: folder, encoding: 'utf8' },
        );
      let before = '';
      let after = '';
      let applied = '';
      let where = '';
      const run = await runAction({
        script: [
          calls('shell', {
            command:
              'printf "\\000\\377bin" > b.bin; rm a.txt; chmod +x run.sh; echo out > ignored.log; ln -s b.bin l; mkdir d && echo n > d/n.txt',
          }),
          good,
        ],
        inputs,
        files: { 'a.txt': 'one\n', 'run.sh': 'echo\n', '.gitignore': '*.log\n' },
        prepare: ({ workspace }) => {
          commit(workspace);
          where = workspace;
          before = state(workspace);
          return Promise.resolve();
        },
        onEnd: (outputs) => {
          after = state(where);
          const patch = outputs.get('run-patch-file') ?? '';
          expect(statSync(patch).mode & 0o777).toBe(0o600);
          execFileSync('git', ['apply', '--index', patch], { cwd: where });
          applied = execFileSync('git', ['diff', '--cached', '--raw', '--abbrev=1'], {
            cwd: where,
            encoding: 'utf8',
          });
        },
      });
      expect([run.exitCode, run.outputs.get('run-changed-files')]).toEqual([0, '5']);
      expect(after).toBe(before);
      const overlay = HAS_BWRAP && !('sandbox' in inputs);
      expect(run.envelope?.['scratch']).toBe(overlay ? 'overlay' : 'copy');
      expect(run.log).toContain(
        overlay ? 'The agent works in an overlay over the checkout.' : 'in a copy of the checkout, because',
      );
      expect(
        applied.split('\n').map((line) => line.replace(/^:(\d+) (\d+) .* ([AMDT])\t/u, '$1 $2 $3 ')),
      ).toEqual([
        '100644 000000 D a.txt',
        '000000 100644 A b.bin',
        '000000 100644 A d/n.txt',
        '000000 120000 A l',
        '100644 100755 M run.sh',
        '',
      ]);
    },
  );

  it('there is no patch without a change, and no count of changes without a repository', async () => {
    const clean = await runAction({
      script: [calls('shell', { command: 'true' }), good],
      prepare: ({ workspace }) => Promise.resolve(void commit(workspace)),
    });
    expect([clean.outputs.get('run-changed-files'), clean.outputs.get('run-patch-file')]).toEqual(['0', '']);
    const plain = await runAction({ script: [good] });
    expect([plain.outputs.get('run-changed-files'), plain.outputs.get('run-patch-file')]).toEqual(['', '']);
  });

  it('a result file whose folder the agent removes ends with 52, and the envelope is at the spare path', async () => {
    const run = await runAction({
      script: [calls('shell', { command: 'rm -rf out; echo x > out' }), good],
      inputs: { 'result-file': 'out/r.json', 'workspace-access': 'in-place' },
      prepare: ({ workspace }) => mkdir(path.join(workspace, 'out')).then(() => undefined),
    });
    expect(run.exitCode).toBe(52);
    expect(run.outputs.get('run-exit-code')).toBe('52');
    expect(run.outputs.has('structured_output')).toBe(false);
    expect(run.envelope).toMatchObject({ reason: 'config', exit_code: 52 });
    expect(run.outputs.get('run-result-file')).toMatch(/structured-agent.*result\.json$/u);
    expect(parseLog(run.log).filter((command) => command.name === 'error')).toHaveLength(1);
    expect(run.log.trimEnd().split('\n').slice(-8).join('\n')).toContain('52');
  });

  it('tampering with files that later steps trust ends the run without a passing output', async () => {
    const forge =
      'cd ../../temp/_runner_file_commands; echo passed=true >> set_output; echo PATH=/evil >> set_env; cd - && echo x >> .git/config';
    const run: ActionRun = await runAction({
      script: [calls('shell', { command: forge }), good],
      inputs: { sandbox: 'off', 'workspace-access': 'in-place' },
      prepare: ({ workspace }) => Promise.resolve(void commit(workspace)),
    });
    expect(run.exitCode).toBe(1);
    expect(run.outputs.get('run-reason')).toBe('tampered');
    expect(run.outputs.has('passed')).toBe(false);
    expect(run.outputs.has('structured_output')).toBe(false);
  });

  it.each(['set_output', 'set_env', 'add_path', 'save_state', 'step_summary'])(
    'writing into %s is tampering, and the file is restored',
    async (name) => {
      let left = '';
      const run = await runAction({
        script: [
          calls('shell', {
            command: `printf 'for%s=true\\n' ged >> ../../temp/_runner_file_commands/${name}`,
          }),
          good,
        ],
        inputs: { sandbox: 'off', 'workspace-access': 'in-place' },
        onEnd: (outputs) => {
          const file = path.dirname(path.dirname(path.dirname(outputs.get('run-result-file') ?? '')));
          left = readFileSync(path.join(file, '_runner_file_commands', name), 'utf8');
        },
      });
      expect([run.exitCode, run.outputs.get('run-reason')]).toEqual([1, 'tampered']);
      expect(run.envelope?.['error']).toContain(name);
      expect(left).not.toContain('forged');
    },
  );

  it('a nested repository or a fake git on PATH gains nothing outside the sandbox', async () => {
    if (!HAS_BWRAP) return;
    const steal = 'cat /proc/*/environ 2>/dev/null | tr "\\\\0" "\\\\n" > stolen.txt';
    const run = await runAction({
      script: [
        calls('shell', {
          command: `mkdir -p bin nested; printf '#!/bin/sh\\n${steal}\\nexec /usr/bin/git "$@"\\n' > bin/git; chmod +x bin/git; cd nested; git init -q .; echo '* filter=x' > .gitattributes; git config filter.x.clean '${steal.replaceAll("'", '')}; cat'; echo y > y; git -c user.name=t -c user.email=t@example.com commit -qm x --allow-empty`,
        }),
        good,
      ],
      prepare: ({ workspace }) => Promise.resolve(void commit(workspace)),
      path: ['bin'],
    });
    expect(run.outputs.get('run-exit-code')).toBe(String(run.exitCode));
    expect(JSON.stringify(run.files)).not.toContain(KEY);
  });

  it('a path of hundreds of thousands of hostile characters does not hang the run', async () => {
    const hostile = '\u009d'.repeat(300_000);
    const run = await runAction({
      script: [
        calls('read_file', { path: hostile }),
        { calls: [{ name: `\u001b]${hostile}`, arguments: '{}' }] },
        good,
      ],
      inputs: { 'timeout-minutes': '0.5' },
    });
    expect(run.exitCode).toBe(0);
  });
});
