/** Whole runs: the command of a test report, and a change that GitHub does not give. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/fakes/model/server.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { coverageOf, endOf, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const ACCEPTED = 'success accepted 0';
const UNSUPPORTED = 'inconclusive unsupported 1';

describe.runIf(HAS_BWRAP)('a test report', () => {
  const report = (line: string, more = {}): Reply => submit('test-report', { command: line, ...more });
  const inputs = { schema: 'test-report', sandbox: 'required', 'min-coverage': 'auto' };
  const run = (replies: readonly Reply[], more = {}) => {
    const files = { 'a.ts': 'a\n', 'package-lock.json': '{}\n' };
    commitChange(path.join(base, 'workspace'), {}, files);
    return converse(replies, { ...inputs, ...more });
  };
  const red = { passed: false, failure_count: 1, failures: [{ test: 'adds', message: 'is 3' }] };

  it.each<[string, readonly Reply[], string, number, string | RegExp]>([
    ['ran well', [command(' test -e a.ts '), report('test -e a.ts')], ACCEPTED, 0, ''],
    [
      'was not run',
      [command('true'), report('npm test')],
      UNSUPPORTED,
      1,
      'no command was run whose whole line is "npm test"',
    ],
    ['was named otherwise', [command('true; true'), report('true')], UNSUPPORTED, 1, 'no command was run'],
    [
      'was named rightly when told',
      [command('true; true'), report('true'), report('true; true')],
      ACCEPTED,
      1,
      '',
    ],
    ['failed', [command('exit 3'), report('exit 3')], UNSUPPORTED, 1, '"exit 3" ended with exit code 3'],
    [
      'failed in a pipe',
      [command('false | cat'), report('false | cat')],
      UNSUPPORTED,
      1,
      'ended with exit code 1',
    ],
    [
      'failed, in a red report',
      [command('false'), report('false', red)],
      'failure gate_not_met 1',
      0,
      /gate/,
    ],
    [
      'was repaired',
      [command('test -e new'), command('touch new'), command('test -e new'), report('test -e new')],
      ACCEPTED,
      0,
      '',
    ],
    [
      'ran after an edit',
      [command('echo b >a.ts'), command('true'), report('true')],
      UNSUPPORTED,
      1,
      'were changed before "true" was judged: "a.ts"',
    ],
    [
      'ran after an installation',
      [command('echo []>package-lock.json'), command('true'), report('true')],
      ACCEPTED,
      0,
      '',
    ],
  ])('whose command %s', async (_, replies, end, rounds, told) => {
    const judged = await run(replies);
    expect([endOf(judged), judged.rejections.length]).toEqual([end, rounds]);
    expect(judged.report.verdict.error ?? '').toMatch(told);
  });

  it('lists its commands, and the files that were made before', async () => {
    const { report: done } = await run([command('touch new; exit 2'), command('true'), report('true')]);
    expect(done.evidence?.commands).toEqual([
      { command: 'touch new; exit 2', exitCode: 2, seconds: expect.any(Number) },
      { command: 'true', exitCode: 0, seconds: expect.any(Number) },
    ]);
    expect(done.weaknesses.join('\n')).toContain('the agent changed or made "new"');
  });

  it('is taken as it is with min-coverage: off', async () => {
    expect(endOf(await run([report('npm test')], { 'min-coverage': 'off' }))).toBe(ACCEPTED);
  });
});

describe('a change that GitHub does not give', () => {
  const subject = { about: 'pull request #7', contents: 'diff', author: 'whoever opened it' };
  const refused = (status: number) => ({
    findContext: async () => ({
      subject,
      load: async () => ({
        ...{ pull: null, range: null, listed: null, prefersGit: false },
        notes: [`The changed files are missing: GitHub answered ${status}. It needs pull-requests: read.`],
        readBaseAttributes: async () => null,
      }),
    }),
  });
  const lost = { findContext: async () => 'unknown' as const };
  const none = { findContext: async () => null };

  it.each([
    ['403', refused(403), 'code-review', UNSUPPORTED, 'partial'],
    ['422', refused(422), 'security-review', UNSUPPORTED, 'partial'],
    ['500', refused(500), 'code-review', UNSUPPORTED, 'partial'],
    ['no answer whether there is one', lost, 'code-review', UNSUPPORTED, 'partial'],
    ['500, and nothing is required', refused(500), 'verdict', ACCEPTED, 'partial'],
    ['an event without a change', none, 'code-review', ACCEPTED, 'unknown'],
  ] as const)('%s', async (_, world, schema, end, status) => {
    const judged = await converse(
      [command('true'), submit(schema)],
      { schema, 'min-coverage': 'auto' },
      world,
    );
    expect([endOf(judged), coverageOf(judged)]).toEqual([end, `${status}, 0 of 0 files`]);
    if (world !== lost && status === 'partial' && end === UNSUPPORTED)
      expect(judged.report.verdict.error).toContain('It needs pull-requests: read.');
  });
});
