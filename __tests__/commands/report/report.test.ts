import { readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { renderReportPage } from '../../../src/commands/report/html-page.ts';
import { runReport } from '../../../src/commands/report/report.ts';
import { createReportPage } from '../../../src/commands/report/report-page.ts';
import { typedEnvelope } from '../../../src/envelope/envelope.ts';
import { envelope } from '../../../src/reporters/envelope.ts';
import { createMessages } from '../../../src/reporters/messages.ts';
import type { Report } from '../../../src/reporters/report-types.ts';
import { PROSE, sampleEvents } from '../../reporters/sample-events.ts';
import { notMet, sampleReport, unpublished } from '../../reporters/sample-report.ts';
import { sampleReports } from '../../reporters/sample-reports.ts';
import { knowSecrets, makeFolder } from '../../support/surroundings.ts';
import { repository, runIn } from '../check/world.ts';

const secrets = knowSecrets('sk-canary-1');
const same = (text: string) => text;
const MESSAGES = { version: '0.1.0', cwd: '/w', mask: secrets.mask, secrets };
const messages = sampleEvents.flatMap(createMessages({ ...MESSAGES, mask: same }));
const WHOLE = messages.map((message) => JSON.stringify(message)).join('\n');

function pageOf(report: Partial<Report>, transcript = WHOLE): string {
  const whole = typedEnvelope(envelope(sampleReport(report), same));
  return renderReportPage({ envelope: whole, transcript, secrets });
}

it('the page shows verdict, findings and conversation', async () => {
  const issues = [{ path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' }];
  const gate = { status: 'not_met', issues } as const;
  const page = pageOf({ ...sampleReports['grounded'], verdict: notMet, gate });
  await expect(page).toMatchFileSnapshot('../../golden/report/page.html');
});

it.each<[string, Partial<Report>]>([
  ['accepted, without a gate', { gate: { status: 'none', issues: [] } }],
  ['no verdict, because the model gave none', unpublished('Prose only.')],
  ['passed (a replay, judged by no model)', { replayed: true }],
])('the page is titled %s, also without a transcript', (title, report) => {
  const page = pageOf(report, '');
  expect(page).toContain(`<title>${title} · structured-agent</title>`);
  expect(page).toContain('There is no transcript of this run.');
});

it('the page shows a call without a result, and skips lines that are not events', () => {
  const lines = WHOLE.split('\n').slice(0, 3);
  const page = pageOf({}, [...lines, 'nonsense', '[1]', '{"type":"x"}', '{"type":"assist'].join('\n'));
  expect(page.match(/no result/gu)).toHaveLength(2);
  expect(page).not.toContain('nonsense');
});

it('the page cuts a long text, and says that a payload is too long', () => {
  const message = { content: [{ text: 'x'.repeat(1_000_000) }] };
  const page = pageOf({ payload: { text: 'x'.repeat(30_000) } }, JSON.stringify({ type: 'user', message }));
  expect(page).toMatch(/Too long for this page[\s\S]*x…<\/pre>/u);
  expect(page.length).toBeLessThan(30_000);
});

it('a run writes a private page of the last verdict with secrets masked', async () => {
  const file = path.join(makeFolder(), 'new', 'report.html');
  const reporter = createReportPage({ ...MESSAGES, file });
  for (const event of sampleEvents) reporter.event?.(event);
  for (const payload of [{ summary: 'EARLIER' }, { summary: 'PAYLOAD sk-canary-1' }])
    await reporter.report?.(sampleReport({ payload }), new AbortController().signal);
  const page = readFileSync(file, 'utf8');
  for (const text of [PROSE, 'OUTPUT-CANARY ***', 'PAYLOAD ***']) expect(page).toContain(text);
  expect(page).not.toMatch(/sk-canary|NATIVE-CANARY|EARLIER/u);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

const RESULT = { 'results/result.json': JSON.stringify(envelope(sampleReport(), same)) };

it('the command writes report.html into the results folder and prints its path', async () => {
  const cwd = repository({ ...RESULT, 'results/transcript.jsonl': WHOLE });
  symlinkSync('..', path.join(cwd, 'results', 'up'));
  const { code, out } = await runIn(runReport, cwd, ['results/up/results']);
  const page = path.join(cwd, 'results', 'report.html');
  expect([code, out]).toEqual([0, `${page}\n`]);
  expect(readFileSync(page, 'utf8')).toContain('Judge this.');
  expect(statSync(page).mode & 0o777).toBe(0o600);
});

const NO_PAGE = { ...RESULT, 'results/report.html/x': '' };
it.each<[string, Readonly<Record<string, string>>, string[], RegExp]>([
  ['no folder', {}, [], /Name one results folder: structured-agent report RESULTS/u],
  ['two folders', RESULT, ['results', 'b'], /Name one results folder/u],
  ['a missing folder', {}, ['none'], /none\/result\.json" is not there, or .* Name the results folder/u],
  ['a result that is not JSON', { 'r/result.json': '{' }, ['r'], /is not the result of/u],
  ['JSON that is not a result', { 'r/result.json': '{"type":"x"}' }, ['r'], /is not the result of/u],
  ['a page that cannot be written', NO_PAGE, ['results'], /cannot be written/u],
  ['a name with invisible characters', {}, ['\u202ex\n::error::'], /x\\n: :error: :/u],
])('%s ends with 52 and one line', async (_, files, argv, says) => {
  const { code, out, err } = await runIn(runReport, repository(files), argv);
  expect([code, out, err]).toEqual([52, '', expect.stringMatching(says)]);
  expect(err).toMatch(/^structured-agent report: [^\n\x1b\u202e]+\n$/u);
});
