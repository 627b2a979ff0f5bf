/** Whole runs: the command of a test report, and a change that GitHub does not give. */
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findChangeContext } from '../../src/github/find-context.ts';
import { eventOf, openHub, pullAs } from '../github/world.ts';
import { describeOpen } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { skipWaits } from '../support/waits.ts';
import { coverageOf, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

describeOpen('a test report', () => {
  const inputs = { schema: 'test-report', sandbox: 'required', 'min-coverage': 'auto' };
  const OWN = '{"properties":{"passed":{"type":"boolean"},"command":{}},"required":["passed","command"]}';
  const red = { passed: false, failure_count: 1, failures: [{ test: 'adds', message: 'is 3' }] };
  const report = (line: string, more = {}): Reply => submit('test-report', { command: line, ...more });
  /** Runs commands, and then reports each of some lines until one is taken. */
  const run = (commands: readonly string[], lines: readonly string[], more = {}, payload = {}) => {
    const files = { 'a.ts': 'a\n', 'package-lock.json': '{}\n' };
    commitChange(path.join(base, 'workspace'), {}, files);
    const reports = lines.map((line) => report(line, payload));
    return converse([...commands.map(command), ...reports], { ...inputs, ...more });
  };
  const [ran, edited] = [
    'no command was run whose whole line is "true"',
    'were changed before "true" was judged: "a.ts"',
  ];

  it.each<[string, readonly string[], readonly string[], string, object?, object?]>([
    ['ran well', [' test -e a.ts '], ['test -e a.ts'], 'accepted 0'],
    ['was not run', ['id'], ['true'], `unsupported 1, ${ran}`],
    ['was named otherwise', ['true; true'], ['true'], `unsupported 1, ${ran}`],
    ['was named rightly when told', ['true; true'], ['true', 'true; true'], 'accepted 1'],
    ['failed', ['exit 3'], ['exit 3'], 'unsupported 1, "exit 3" ended with exit code 3'],
    ['failed in a pipe', ['false | cat'], ['false | cat'], 'unsupported 1, ended with exit code 1'],
    ['was repaired', ['test -e new', 'touch new', 'test -e new'], ['test -e new'], 'accepted 0'],
    [
      'ran well, and failed then',
      ['test ! -e new', 'touch new', 'test ! -e new'],
      ['test ! -e new'],
      'unsupported 1, exit code 1',
    ],
    ['ran after an edit', ['echo b >a.ts', 'true'], ['true'], `unsupported 1, ${edited}`],
    ['ran after an installation', ['echo []>package-lock.json', 'true'], ['true'], 'accepted 0'],
    ['failed, in a red report', ['false'], ['false'], 'gate_not_met 0', {}, red],
    ['was not run, with min-coverage: off', [], ['true'], 'accepted 0', { 'min-coverage': 'off' }],
    ['means something else to the user', [], ['true'], 'accepted 0', { schema: OWN }],
  ])('whose command %s', async (_, commands, lines, expected, more = {}, payload = {}) => {
    const judged = await run(commands, lines, more, payload);
    const [end, told = ''] = expected.split(', ');
    expect(`${judged.report.verdict.reason} ${judged.rejections.length}`).toBe(end);
    expect(judged.report.verdict.error ?? '').toContain(told);
  });

  it('lists its commands, and the files that were made before', async () => {
    const { report: done } = await run(['touch new; exit 2', 'true'], ['true']);
    expect(done.evidence?.commands).toEqual([
      { command: 'touch new; exit 2', exitCode: 2, seconds: expect.any(Number) },
      { command: 'true', exitCode: 0, seconds: expect.any(Number) },
    ]);
    expect(done.weaknesses.join('\n')).toContain('the agent changed or made "new"');
  });
});

describe('a change that GitHub does not give', () => {
  beforeEach(() => void skipWaits());
  afterEach(() => void vi.unstubAllGlobals());
  const PULL = '/repos/o/r/pulls/7';
  /** The context of a pull request whose files GitHub refuses to list. */
  const refused = (status: number) => ({
    findContext: () => {
      const event = eventOf('pull_request', { pull_request: pullAs(7) });
      const { hub } = openHub(event, { [`${PULL}/files`]: status, [PULL]: pullAs(7) });
      return findChangeContext(hub, () => undefined);
    },
  });
  const lost = { findContext: async () => 'unknown' as const };
  const none = { findContext: async () => null };
  const local = { ...none, entry: 'command-line' as const };

  it.each([
    ['403', refused(403), 'code-review', 'unsupported', 'partial', 'pull-requests: read'],
    ['422', refused(422), 'security-review', 'unsupported', 'partial', 'GitHub answered 422'],
    ['500', refused(500), 'code-review', 'unsupported', 'partial', 'GitHub answered 500'],
    ['no answer whether there is one', lost, 'code-review', 'unsupported', 'partial', 'pull-requests: read'],
    ['500, and nothing is required', refused(500), 'verdict', 'accepted', 'partial', 'GitHub answered 500'],
    ['an event without a change', none, 'code-review', 'accepted', 'unknown', 'The event names no change'],
    ['a command line without one', local, 'verdict', 'accepted', 'unknown', 'Give it one with base'],
  ] as const)('%s', async (_, world, schema, reason, status, told) => {
    const inputs = { schema, 'min-coverage': 'auto' };
    const judged = await converse([command('true'), submit(schema)], inputs, world);
    expect([judged.report.verdict.reason, coverageOf(judged)]).toEqual([reason, `${status}, 0 of 0 files`]);
    expect(judged.report.evidence?.coverage?.why).toContain(told);
  });
});
