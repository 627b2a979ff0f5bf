/** The reports of every kind of verdict, compared with the files in `golden/`: `npx vitest run golden -u` writes them. */
import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';
import { captureLog } from '../support/surroundings.ts';
import { renderSample, sampleReports, sampleView } from './sample-reports.ts';

const samples = Object.entries(sampleReports);
const samplesOf = (...names: readonly string[]) => samples.filter(([name]) => names.includes(name));
/** The comment is made of the same parts as the summary: it is compared for a few. */
const commented = samplesOf('gate-not-met', 'plain-text', 'merge-undecided');
/** The last lines of the log. */
const logged = samplesOf('gate-not-met', 'config-error', 'skipped', 'merge-undecided', 'grounded');
const enveloped = samplesOf('gate-not-met', 'custom-schema', 'plain-text', 'merge-undecided', 'grounded');

describe('a report', () => {
  it.each(samples)('matches the golden job summary: %s', async (name, report) => {
    await expect(renderSample(report, 'summary')).toMatchFileSnapshot(`../golden/summary/${name}.md`);
  });

  it.each(commented)('matches the golden comment: %s', async (name, report) => {
    await expect(renderSample(report, 'comment')).toMatchFileSnapshot(`../golden/comment/${name}.md`);
  });

  it.each(logged)('matches the golden end of the log: %s', async (name, report) => {
    const { log, text } = captureLog(sampleView.secrets);
    const live = createLiveLog(log, 'summary', sampleView);
    await live.report?.(report, new AbortController().signal);
    await expect(text()).toMatchFileSnapshot(`../golden/log/${name}.txt`);
  });

  it.each(enveloped)('matches the golden envelope: %s', async (name, report) => {
    const whole = envelope(report, (text) => text);
    await expect(`${JSON.stringify(whole, null, 2)}\n`).toMatchFileSnapshot(
      `../golden/envelope/${name}.json`,
    );
  });

  it.each(samples)('gives an envelope that is valid by the published schema: %s', (_, report) => {
    const written = JSON.stringify(envelope(report, (text) => text));
    expect(issuesOf(JSON.parse(written))).toEqual([]);
  });
});
