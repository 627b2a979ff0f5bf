/** Whole runs: the command of a test report, and findings, which prove nothing by what the agent wrote or may not read. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import { putFiles } from '../support/local.ts';
import { submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');

const COMMAND = '{"properties":{"passed":{"type":"boolean"},"command":{}},"required":["passed","command"]}';
const failed = { passed: false, failure_count: 1, failures: [{ test: 'adds', message: 'is 3' }] };
const ran = 'no command was run whose whole line is "true"';
const edited = 'were changed before "true" was judged: "a.ts"';
const made = 'the agent changed or made "new"';
const absent = 'test ! -e new';

it.runIf(hasSandbox).each<[string, readonly string[], readonly string[], string, object?, object?]>([
  ['ran well', [' test -e a.ts '], ['test -e a.ts'], 'accepted 0'],
  ['was not run', ['id'], ['true'], `unsupported 1, ${ran}`],
  ['was named otherwise', ['true; true'], ['true'], `unsupported 1, ${ran}`],
  ['was named rightly when told', ['true; true'], ['true', 'true; true'], 'accepted 1'],
  ['failed', ['exit 3'], ['exit 3'], 'unsupported 1, "exit 3" ended with exit code 3'],
  ['failed in a pipe', ['false | cat'], ['false | cat'], 'unsupported 1, ended with exit code 1'],
  ['was repaired', ['test -e new', 'touch new', 'test -e new'], ['test -e new'], 'accepted 0'],
  ['ran well, and failed then', [absent, 'touch new', absent], [absent], 'unsupported 1, exit code 1'],
  ['ran after a file was made', ['touch new; exit 2', 'true'], ['true'], `accepted 0, ${made}`],
  ['ran after an edit', ['echo b >a.ts', 'true'], ['true'], `unsupported 1, ${edited}`],
  ['ran after an installation', ['echo []>package-lock.json', 'true'], ['true'], 'accepted 0'],
  ['ran outside of a sandbox', ['true'], ['true'], 'unsupported 1, needs a sandbox', { sandbox: 'off' }],
  ['failed, in a red report', ['false'], ['false'], 'gate_not_met 0', {}, failed],
  ['was not run, with min-coverage: off', [], ['true'], 'accepted 0', { 'min-coverage': 'off' }],
  ['means something else to the user', [], ['true'], 'accepted 0', { schema: COMMAND }],
])('a test report whose command %s', async (_, commands, lines, expected, more = {}, payload = {}) => {
  commitChange(workspace(), {}, { 'a.ts': 'a\n', 'package-lock.json': '{}\n' });
  // It is sent until one is taken.
  const reports = lines.map((line) => submit('test-report', { command: line, ...payload }));
  const inputs = { schema: 'test-report', sandbox: 'required', 'min-coverage': 'auto', ...more };
  const { report, rejections } = await converse([...commands.map(command), ...reports], inputs);
  const [end, told = ''] = expected.split(', ');
  expect(`${report.verdict.reason} ${rejections.length}`).toBe(end);
  expect([report.verdict.error, ...report.weaknesses].join('\n')).toContain(told);
  const measured = { exitCode: expect.any(Number), seconds: expect.any(Number) };
  expect(report.evidence?.commands).toEqual(commands.map((line) => ({ command: line, ...measured })));
});

const SCHEMA = '{"properties":{"findings":{"type":"array","items":{"properties":{"path":{},"quote":{}}}}}}';
const MET = '{"properties":{"findings":{"maxItems":1}}}';
const about = { severity: 'warning', message: 'Look.', line: 1 };
const review = (passed: boolean, count: number) => {
  const bad = { ...about, category: 'correctness', title: 'Bad', path: 'a.ts', quote: 'it is nowhere' };
  return submit('code-review', { passed, findings: Array(count).fill(bad) });
};

/** How often it goes back, and how many findings are published, and marked. */
it.each([
  ['a preset', 'code-review', 'auto', [review(false, 1)], [1, 1, 1]],
  ["a schema of one's own", SCHEMA, 'auto', [review(false, 1)], [0, 1, 1]],
  ['a schema without quotes', SCHEMA.replace('"quote"', '"proof"'), 'auto', [review(false, 1)], [0, 1, null]],
  ['a greener payload', 'code-review', 'off', [review(false, 2), review(true, 0)], [1, 2, 2]],
  ['a payload that meets its gate', 'code-review', MET, [review(true, 2), review(true, 1)], [1, 2, 2]],
])('no greener payload is taken after a bad quote: %s', async (_, schema, gate, replies, counts) => {
  const { report, rejections } = await converse(replies, { schema, gate });
  const published = Object(report.payload?.['findings']).length;
  const unproven = report.evidence?.grounding?.unproven ?? null;
  expect([rejections.length, published, unproven]).toEqual(counts);
});

it('nothing is proven by a file outside, of git or of credentials, or by what the agent wrote', async () => {
  const [shown, other] = ['export const shown = "to everyone";', 'export const other = "in another file";'];
  const own = 'const invented = "by the agent";';
  const files = { 'a.ts': shown, 'b.ts': other, 'c.ts': other, 'moved.ts': shown, 'linked.ts': shown };
  commitChange(workspace(), {}, files);
  const closed = ['../outside.txt', '.git/config.txt', 'nested/.GIT/config.txt', 'gha-creds-1.json'];
  for (const name of closed) putFiles(workspace(), { [name]: other });
  symlinkSync('..', path.join(workspace(), 'link'));
  const written = ['a.ts', 'new.ts', '/tmp/new.ts'];
  const lines = [
    `echo '${own}' | tee -a ${written.join(' ')}`,
    'mv -f b.ts moved.ts && ln -sf c.ts linked.ts',
  ];
  const names = [...closed, `${base}/outside.txt`, 'link/outside.txt', 'moved.ts', 'linked.ts'];
  const quotes = [...names.map((name) => [name, other]), ...written.map((name) => [name, own])];
  const findings = [['a.ts', shown], ...quotes].map(([file, quote]) => ({ ...about, path: file, quote }));
  const script = [...(hasSandbox ? lines : []).map(command), submit('verdict', { findings })];
  const inputs = { grounding: 'mark', sandbox: hasSandbox ? 'required' : 'off' };
  const { report } = await converse(script, inputs, { locate: (place) => place });
  const { commands = [], findings: found = [] } = report.evidence ?? {};
  expect(commands.every(({ exitCode }) => exitCode === 0)).toBe(true);
  const grounding = found.map((each) => each.grounding);
  expect(grounding).toEqual(['exact', ...quotes.map(() => 'unproven')]);
});
