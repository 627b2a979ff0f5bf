import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionOptions, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const finding = {
  severity: 'error',
  path: 'lib/sum.js',
  line: 2,
  title: 'Off by one',
  message: 'It adds 1.',
};
const payload = {
  passed: false,
  summary: 'one error',
  findings: [finding, { severity: 'note', path: 'nope.js', line: 1, message: 'not there' }],
};

/** A checkout with `path: sub`, and a foreign one beside it. */
const options: ActionOptions = {
  files: { 'sub/lib/sum.js': 'one\ntwo\n', 'tools/lib/sum.js': 'one\ntwo\n', 'out.sarif': 'of another run' },
  variables: { GITHUB_REPOSITORY: 'octo/demo', GITHUB_SERVER_URL: 'https://github.com' },
  async prepare({ workspace }) {
    for (const [folder, name] of [
      ['sub', 'octo/demo'],
      ['tools', 'octo/tools'],
    ] as const) {
      mkdirSync(path.join(workspace, folder, '.git'), { recursive: true });
      writeFileSync(path.join(workspace, folder, '.git/HEAD'), 'ref: refs/heads/main\n');
      writeFileSync(
        path.join(workspace, folder, '.git/config'),
        `[remote "origin"]\nurl = https://github.com/${name}\n`,
      );
    }
  },
};

describe('findings', () => {
  it('stand at their lines in annotations, summary and SARIF, with paths of the repository', async () => {
    const run = await runAction({
      ...options,
      script: [submits(payload)],
      inputs: { 'sarif-file': 'out.sarif' },
    });
    expect(run.exitCode).toBe(1);
    const annotations = parseLog(run.log).filter(({ properties }) => properties['title'] !== undefined);
    expect(annotations).toContainEqual({
      name: 'error',
      properties: { title: 'Off by one', file: 'lib/sum.js', line: '2' },
      data: 'It adds 1.',
    });
    expect(annotations).toContainEqual({
      name: 'notice',
      properties: { title: 'Finding' },
      data: 'nope.js, line 1: not there',
    });
    expect(run.summary).toMatch(/\]\(https:\/\/github\.com\/octo\/demo\/blob\/[0-9a-f]+\/lib\/sum\.js#L2\)/);
    expect(run.summary).not.toContain('/nope.js#');
    const sarif: { runs: [{ results: { locations: unknown }[] }] } = JSON.parse(run.files['out.sarif'] ?? '');
    expect(sarif.runs[0].results.map(({ locations }) => locations)).toEqual([
      [
        {
          physicalLocation: {
            artifactLocation: { uri: 'lib/sum.js', uriBaseId: '%SRCROOT%' },
            region: { startLine: 2 },
          },
        },
      ],
    ]);
  });

  it('of a run that judged nothing are nowhere, and no SARIF file of another run is left', async () => {
    const run = await runAction({
      ...options,
      script: [{ text: 'no verdict' }],
      inputs: { 'sarif-file': 'out.sarif', 'force-output': 'false' },
    });
    expect(run.exitCode).toBe(1);
    expect('out.sarif' in run.files).toBe(false);
  });
});
