/** Whole runs: the command of a test report, and findings, which prove nothing by what the agent wrote or may not read. */
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeOpen, hasSandbox } from '../sandbox/world.ts';
import { submits } from '../support/fakes/model/server.ts';
import { putFiles } from '../support/local.ts';
import { submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');

describeOpen('a test report', () => {
  const inputs = { schema: 'test-report', sandbox: 'required', 'min-coverage': 'auto' };
  const OWN = '{"properties":{"passed":{"type":"boolean"},"command":{}},"required":["passed","command"]}';
  const red = { passed: false, failure_count: 1, failures: [{ test: 'adds', message: 'is 3' }] };
  /** Runs commands, and then reports each of some lines until one is taken. */
  const run = (commands: readonly string[], lines: readonly string[], more = {}, payload = {}) => {
    commitChange(workspace(), {}, { 'a.ts': 'a\n', 'package-lock.json': '{}\n' });
    const reports = lines.map((line) => submit('test-report', { command: line, ...payload }));
    return converse([...commands.map(command), ...reports], { ...inputs, ...more });
  };
  const ran = 'no command was run whose whole line is "true"';
  const edited = 'were changed before "true" was judged: "a.ts"';
  const absent = 'test ! -e new';

  it.each<[string, readonly string[], readonly string[], string, object?, object?]>([
    ['ran well', [' test -e a.ts '], ['test -e a.ts'], 'accepted 0'],
    ['was not run', ['id'], ['true'], `unsupported 1, ${ran}`],
    ['was named otherwise', ['true; true'], ['true'], `unsupported 1, ${ran}`],
    ['was named rightly when told', ['true; true'], ['true', 'true; true'], 'accepted 1'],
    ['failed', ['exit 3'], ['exit 3'], 'unsupported 1, "exit 3" ended with exit code 3'],
    ['failed in a pipe', ['false | cat'], ['false | cat'], 'unsupported 1, ended with exit code 1'],
    ['was repaired', ['test -e new', 'touch new', 'test -e new'], ['test -e new'], 'accepted 0'],
    ['ran well, and failed then', [absent, 'touch new', absent], [absent], 'unsupported 1, exit code 1'],
    ['ran after an edit', ['echo b >a.ts', 'true'], ['true'], `unsupported 1, ${edited}`],
    ['ran after an installation', ['echo []>package-lock.json', 'true'], ['true'], 'accepted 0'],
    ['failed, in a red report', ['false'], ['false'], 'gate_not_met 0', {}, red],
    ['was not run, with min-coverage: off', [], ['true'], 'accepted 0', { 'min-coverage': 'off' }],
    ['means something else to the user', [], ['true'], 'accepted 0', { schema: OWN }],
  ])('whose command %s', async (_, commands, lines, expected, more = {}, payload = {}) => {
    const { report, rejections } = await run(commands, lines, more, payload);
    const [end, told = ''] = expected.split(', ');
    expect(`${report.verdict.reason} ${rejections.length}`).toBe(end);
    expect(report.verdict.error ?? '').toContain(told);
  });

  it('lists its commands, and the files that were made before', async () => {
    const { evidence, weaknesses } = (await run(['touch new; exit 2', 'true'], ['true'])).report;
    const seconds = expect.any(Number);
    expect(evidence?.commands).toEqual([
      { command: 'touch new; exit 2', exitCode: 2, seconds },
      { command: 'true', exitCode: 0, seconds },
    ]);
    expect(weaknesses.join('\n')).toContain('the agent changed or made "new"');
  });
});

const about = { severity: 'warning', message: 'Look.', line: 1 };
describe('a bad quote', () => {
  const string = { type: 'string' };
  const row = { severity: string, message: string, path: string, quote: string, line: { type: 'integer' } };
  const findings = { type: 'array', items: { type: 'object', properties: row } };
  const SCHEMA = JSON.stringify({ type: 'object', properties: { passed: { type: 'boolean' }, findings } });
  const MET = '{"properties":{"findings":{"maxItems":1}}}';
  const bad = { ...about, path: 'a.ts', quote: 'this is nowhere at all' };
  const payload = (passed: boolean, count: number) => ({ passed, findings: Array(count).fill(bad) });

  it.each<[string, string, readonly [boolean, number], readonly [boolean, number], 'first' | 'last']>([
    ['off, fewer that pass', 'off', [false, 2], [true, 0], 'first'],
    ['a number, fewer, and still too many', MET, [true, 3], [true, 2], 'last'],
    ['a number, fewer, and few enough', MET, [true, 2], [true, 1], 'first'],
  ])('lets no greener payload be taken, with gate %s', async (_, gate, first, last, kept) => {
    const script = [submits(payload(...first)), submits(payload(...last))];
    const { report, rejections } = await converse(script, { schema: SCHEMA, grounding: 'require', gate });
    expect(rejections).toHaveLength(1);
    const { passed, findings: published } = report.payload ?? {};
    expect([passed, Object(published).length]).toEqual(kept === 'first' ? first : last);
  });

  const unproven = { exact: 0, moved: 0, unproven: 1 };
  it.each([
    ['a preset', 'code-review', 1, unproven],
    ["a schema of one's own", SCHEMA, 0, unproven],
    ['a schema without quotes', SCHEMA.replace('"quote"', '"proof"'), 0, null],
  ])('with grounding: auto and %s', async (_, schema, rounds, counts) => {
    const finding = { ...bad, category: 'correctness', title: 'Bad' };
    const red = submit('code-review', { passed: false, findings: [finding] });
    const { report, rejections } = await converse([red], { schema, gate: 'passed', grounding: 'auto' });
    expect([rejections.length, report.evidence?.grounding]).toEqual([rounds, counts]);
  });
});

const [SHOWN, OTHER] = ['export const shown = "to everyone";', 'export const other = "in another file";'];
const OWN = 'const invented = "by the agent";';

/** Files with a text, which the last ones get from the agent. */
const FILES: [title: string, name: string, text: string, line?: string][] = [
  ['outside, by ..', '../outside.txt', OTHER],
  ['outside, by its absolute path', 'BASE/outside.txt', OTHER],
  ['outside, behind a link', 'link/outside.txt', OTHER],
  ['of git', '.git/config.txt', OTHER],
  ['of a nested git folder', 'nested/.GIT/config.txt', OTHER],
  ['of credentials', 'gha-creds-1.json', OTHER],
  ['that the agent made', 'new.ts', OWN, `echo '${OWN}' >new.ts`],
  ['that the agent changed', 'a.ts', OWN, `echo '${OWN}' >>a.ts`],
  ['that the agent moved', 'a.ts', OTHER, 'mv -f b.ts a.ts'],
  ['that the agent made a link', 'a.ts', OTHER, 'ln -sf b.ts a.ts'],
  ['that the agent made outside', '/tmp/t.ts', OWN, `echo '${OWN}' >/tmp/t.ts`],
];

it.each(FILES.filter(([, , , line]) => line === undefined || hasSandbox))(
  'a file %s proves nothing',
  async (_, written, text, line) => {
    commitChange(workspace(), {}, { 'a.ts': `${SHOWN}\n`, 'b.ts': `${OTHER}\n` });
    symlinkSync('..', path.join(workspace(), 'link'));
    const name = written.replace('BASE', base);
    if (line === undefined) putFiles('/', { [path.resolve(workspace(), name)]: `${text}\n` });
    const findings = [
      { ...about, path: name, quote: text },
      { ...about, path: 'a.ts', quote: SHOWN },
    ];
    const script = [...(line === undefined ? [] : [command(line)]), submit('verdict', { findings })];
    const inputs = { grounding: 'mark', sandbox: line === undefined ? 'off' : 'required' };
    const { report } = await converse(script, inputs, { locate: (place) => place });
    const grounding = report.evidence?.findings.map((each) => each.grounding);
    expect(grounding).toEqual(['unproven', 'exact']);
  },
);
