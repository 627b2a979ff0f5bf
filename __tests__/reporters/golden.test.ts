/** The reports of every kind of verdict, compared with the files in `golden/`: `npx vitest run golden -u` writes them. */
import { expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { commentBody, renderPage } from '../../src/reporters/summary-and-comment.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { Subject } from '../../src/types.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';
import { captureLog } from '../support/surroundings.ts';
import { VIEW } from './sample-report.ts';
import { sampleReports } from './sample-reports.ts';

const samples = Object.entries(sampleReports);
const samplesOf = (...names: readonly string[]) => samples.filter(([name]) => names.includes(name));
/** The comment is made of the same parts as the summary: it is compared for a few. */
const commented = samplesOf('gate-not-met', 'plain-text', 'merge-undecided');
/** The last lines of the log. */
const logged = samplesOf('gate-not-met', 'config-error', 'skipped', 'merge-undecided', 'grounded');
const enveloped = samplesOf('gate-not-met', 'custom-schema', 'plain-text', 'merge-undecided', 'grounded');

it.each(samples)('the golden job summary of %s', async (name, report) => {
  const page = renderPage(viewOf(report, VIEW), 1024 ** 2);
  await expect(page).toMatchFileSnapshot(`../golden/summary/${name}.md`);
});

it.each(commented)('the golden comment of %s', async (name, report) => {
  const body = commentBody(report, report.subject as Subject, VIEW);
  await expect(body).toMatchFileSnapshot(`../golden/comment/${name}.md`);
});

it.each(logged)('the golden end of the log of %s', async (name, report) => {
  const { log, text } = captureLog(VIEW.secrets);
  const live = createLiveLog(log, 'summary', VIEW);
  await live.report?.(report, new AbortController().signal);
  await expect(text()).toMatchFileSnapshot(`../golden/log/${name}.txt`);
});

it.each(enveloped)('the golden envelope of %s', async (name, report) => {
  const whole = envelope(report, (text) => text);
  await expect(`${JSON.stringify(whole, null, 2)}\n`).toMatchFileSnapshot(`../golden/envelope/${name}.json`);
});

it.each(samples)('the envelope of %s is valid by the published schema', (_, report) => {
  const written = JSON.stringify(envelope(report, (text) => text));
  expect(issuesOf(JSON.parse(written))).toEqual([]);
});
