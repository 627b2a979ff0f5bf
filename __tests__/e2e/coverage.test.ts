/** Coverage through the committed bundle: on each trigger and on the command line, in outputs, reports and a merge. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { type Reply, startModel } from '../support/fakes/model/server.ts';
import {
  type ActionOptions,
  calls,
  HAS_BWRAP,
  KEY,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const COUNT = 40;
const NAMES = Array.from({ length: COUNT }, (_, at) => `file${String(at).padStart(3, '0')}`);
/** The text of a file whose lines no other file has. */
const textOf = (name: string, middle: string) =>
  `const first_${name} = 1;\nconst ${middle}_${name} = 2;\nconst last_${name} = 3;\n`;
const filesWith = (middle: string) =>
  Object.fromEntries(NAMES.map((name) => [`src/${name}.ts`, textOf(name, middle)]));
/** As GitHub lists them. */
const ROWS = NAMES.map((name) => ({
  ...{ filename: `src/${name}.ts`, status: 'modified' as const, additions: 1, deletions: 1 },
  patch: `@@ -1,3 +1,3 @@\n const first_${name} = 1;\n-const old_${name} = 2;\n+const new_${name} = 2;\n const last_${name} = 3;`,
}));

const kept = mkdtempSync(path.join(os.tmpdir(), 'coverage-e2e-'));
let commits: ReturnType<typeof commitChange>;
let hub: GitHubServer;
const checkOut = async ({ workspace }: { readonly workspace: string }) =>
  cpSync(kept, workspace, { recursive: true });

beforeAll(() => {
  commits = commitChange(kept, filesWith('old'), filesWith('new'));
});
afterAll(() => rmSync(kept, { recursive: true }));
afterEach(() => hub.close());
beforeEach(() => serveFiles(ROWS));

async function serveFiles(files: Parameters<typeof servePullRequest>[1]): Promise<void> {
  hub = await servePullRequest('Rename', files, commits);
}

const HEADER = "awk '/^diff --git/ { at++ }";
const look = (which: string) =>
  calls('shell', { command: `${HEADER} at ${which} 20' "$TMPDIR/context/diff.patch"` });
const [half, rest] = [look('<='), look('>')];
const green = submits({ passed: true, complete: true, summary: 'Fine.', findings: [] });
const all: readonly Reply[] = [half, rest, green];
const toldToReadOn: readonly Reply[] = [half, green, rest, green];

const TRIGGERS = {
  pull_request: () => pullRequestEvent('Rename', commits),
  push: () => ({ ref: 'refs/heads/topic', ...commits, commits: [{}] }),
  merge_group: () => ({
    merge_group: {
      ...{ head_sha: commits.after, base_sha: commits.before, base_ref: 'refs/heads/main' },
      head_ref: `refs/heads/gh-readonly-queue/main/pr-7-${commits.before}`,
    },
  }),
  schedule: () => ({ schedule: '0 0 * * *' }),
} as const;

function runOn(
  name: keyof typeof TRIGGERS,
  script: readonly Reply[],
  inputs: Readonly<Record<string, string>> = {},
  more: Partial<ActionOptions> = {},
) {
  const queue = name === 'merge_group' ? { GITHUB_REF: TRIGGERS.merge_group().merge_group.head_ref } : {};
  return runAction({
    prepare: checkOut,
    script,
    inputs: { schema: 'code-review', 'github-token': 'test-token', ...inputs },
    github: { hub, name, event: TRIGGERS[name]() },
    variables: { ...queue },
    ...more,
  });
}

type Run = Awaited<ReturnType<typeof runOn>>;
const outputsOf = ({ outputs }: Run) =>
  ['run-coverage', 'run-line-coverage', 'run-unseen-files'].map((name) => outputs.get(name));
const endOf = ({ exitCode, outputs, envelope }: Run) =>
  [outputs.get('run-conclusion'), outputs.get('run-reason'), exitCode, envelope?.['subtype']].join(' ');
const ACCEPTED = 'success accepted 0 success';
const UNREAD = 'inconclusive unread 1 error_evidence';

describe('the coverage of a run', () => {
  it.each(['pull_request', 'push', 'merge_group'] as const)(
    'is that of the change on %s',
    async (trigger) => {
      const run = await runOn(trigger, toldToReadOn);
      expect([endOf(run), outputsOf(run)]).toEqual([ACCEPTED, ['1', '1', '0']]);
      expect(run.envelope).toMatchObject({
        rejections: 1,
        evidence: {
          context: 'complete',
          tool_calls: 2,
          coverage: {
            ...{ status: 'measured', why: null, lines: { changed: 80, shown: 80 } },
            files: { changed: 40, required: 40, shown: 40, unseen: [], not_required: [] },
          },
        },
      });
      expect(run.log).toContain('All 40 changed files were shown to the model');
    },
  );

  it('that stays below its share ends the run as unread, in every report', async () => {
    const run = await runOn('pull_request', [half, green, green], { 'report-file': 'report.html' });
    expect([endOf(run), outputsOf(run)]).toEqual([UNREAD, ['0.5', '0.5', '20']]);
    expect(run.envelope).not.toHaveProperty('structured_output');
    expect(run.outputs.has('passed')).toBe(false);
    const unseen = NAMES.slice(20).map((name) => ({ path: `src/${name}.ts`, hunks: 1, shown_hunks: 0 }));
    expect(run.envelope).toMatchObject({
      error: expect.stringMatching(
        /^The payload meets its gate, but only 20 of 40 changed files were shown/u,
      ),
      evidence: { coverage: { files: { shown: 20, unseen }, lines: { changed: 80, shown: 40 } } },
    });
    for (const text of [run.log, run.summary, run.files['report.html']]) {
      expect(text).toContain('20 of 40 changed files were shown to the model');
      expect(text).toMatch(/src\/file020\.ts/u);
    }
  });

  it('is reported where it does not decide, and is among the weaknesses', async () => {
    const run = await runOn('pull_request', [half, green], { schema: 'code-review', 'min-coverage': 'off' });
    expect([endOf(run), outputsOf(run)]).toEqual([ACCEPTED, ['0.5', '0.5', '20']]);
    expect(run.summary).toMatch(/weaker than it could be:\*\*\n> - [^\n]*20 of (?:the )?40/u);
  });

  it('is unknown on a schedule, where only a typed share decides', async () => {
    const runs = await Promise.all(
      ['auto', '0.1'].map((share) => runOn('schedule', [green], { 'min-coverage': share })),
    );
    expect(runs.map(endOf)).toEqual([ACCEPTED, UNREAD]);
    for (const run of runs) {
      expect(outputsOf(run)).toEqual(['', '', '']);
      expect(run.envelope).toMatchObject({ evidence: { coverage: { status: 'unknown' } } });
    }
  });

  it('is that of a run over the other wire, streamed', async () => {
    const run = await runOn('push', toldToReadOn, { stream: 'on' }, { provider: 'anthropic' });
    expect([endOf(run), outputsOf(run)]).toEqual([ACCEPTED, ['1', '1', '0']]);
  });
});

describe('a file without a patch', () => {
  const gap = ROWS.map(({ patch, ...row }, at) => (at === 3 ? row : { ...row, patch }));

  it('is known from git, with the history', async () => {
    await hub.close();
    await serveFiles(gap);
    const run = await runOn('pull_request', all);
    expect([endOf(run), outputsOf(run)]).toEqual([ACCEPTED, ['1', '1', '0']]);
  });

  it('is unseen without it', async () => {
    await hub.close();
    await serveFiles(gap);
    const files = filesWith('new');
    const run = await runOn('pull_request', all, {}, { prepare: async () => undefined, files });
    expect([endOf(run), outputsOf(run)]).toEqual([UNREAD, ['0.975', '1', '1']]);
    expect(run.envelope).toMatchObject({
      error: expect.stringContaining('fetch-depth: 0'),
      evidence: { coverage: { files: { unseen: [{ path: 'src/file003.ts', hunks: 0 }] } } },
    });
  });
});

describe('a merge', () => {
  it('has the coverage of each leg', async () => {
    const legs = await Promise.all(
      (
        [
          ['api', all],
          ['web', [half, green]],
        ] as const
      ).map(([leg, script]) => runOn('pull_request', script, { leg, 'min-coverage': 'off' })),
    );
    const files = Object.fromEntries(
      legs.map(({ envelope }, at) => [`verdicts/${at}/result.json`, JSON.stringify(envelope)]),
    );
    const merged = await runAction({
      entry: 'merge',
      files,
      prepare: checkOut,
      inputs: { verdicts: 'verdicts', expect: 'api, web' },
      github: { hub, event: pullRequestEvent('Rename', commits) },
    });
    expect(merged.exitCode).toBe(0);
    const votes = [40, 20].map((shown) => ({
      votes: [{ evidence: { coverage: { status: 'measured', files: { required: 40, shown } } } }],
    }));
    expect(merged.envelope).toMatchObject({ merged: { legs: votes } });
    expect(merged.summary).toMatch(/\*\*web\*\* \|[^\n]*20 of (?:its )?40/u);
  });
});

describe('the command line', () => {
  const CLI = path.join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

  async function judge(script: readonly Reply[], args: readonly string[]) {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'coverage-cli-'));
    const model = await startModel(script);
    try {
      cpSync(kept, folder, { recursive: true });
      const usual = ['--model', 'scripted-1', '--base-url', `${model.url}/v1`, '--schema', 'code-review'];
      const sandbox = ['--sandbox', HAS_BWRAP ? 'required' : 'off'];
      const child = spawn(
        process.execPath,
        [CLI, '-p', 'Judge.', '--output-format', 'object', ...usual, ...sandbox, ...args],
        {
          cwd: folder,
          env: { PATH: process.env['PATH'], HOME: folder, STRUCTURED_AGENT_API_KEY: KEY },
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
      let text = '';
      child.stdout.on('data', (chunk) => {
        text += String(chunk);
      });
      const [code] = await once(child, 'close');
      return { code, envelope: JSON.parse(text) };
    } finally {
      await model.close();
      rmSync(folder, { recursive: true });
    }
  }

  it.each([
    ['all', toldToReadOn, ['--base', 'main'], 0, 'accepted', 40],
    ['half', [half, green, green], ['--base', 'main'], 1, 'unread', 20],
    ['no known change', [green], [], 0, 'accepted', 0],
    ['no known change, with a typed share', [green], ['--min-coverage', '1'], 1, 'unread', 0],
  ] as const)('with a model that reads %s', async (_, script, args, code, reason, shown) => {
    const ended = await judge(script, args);
    expect([ended.code, ended.envelope.reason]).toEqual([code, reason]);
    expect(ended.envelope.evidence.coverage).toMatchObject({
      status: args[0] === '--base' ? 'measured' : 'unknown',
      files: { shown },
    });
  });
});
