/** The reports of every kind of verdict, compared with the files in `golden/`: `npx vitest run golden -u` writes them. */
import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { actionsIn } from '../support/texts/gfm.ts';
import { VIEW } from './sample-report.ts';
import { renderSample, SAMPLE_SECRET, sampleReports } from './sample-reports.ts';

const samples = Object.entries(sampleReports);
const samplesOf = (...names: readonly string[]) => samples.filter(([name]) => names.includes(name));
/** The comment is made of the same parts as the summary: it is compared for a few. */
const commented = samplesOf('gate-not-met', 'plain-text', 'coverage-hostile', 'merge-undecided', 'grounded');
/** The last lines of the log. */
const logged = samplesOf(
  ...['accepted', 'gate-not-met', 'plain-text', 'skipped', 'hostile'],
  ...['merge-undecided', 'coverage-hostile', 'grounded'],
);
const enveloped = samplesOf(
  ...['accepted', 'custom-schema', 'plain-text', 'merge-undecided', 'coverage-unseen', 'grounded'],
);

describe('a report', () => {
  it.each(samples)('matches the golden job summary: %s', async (name, report) => {
    await expect(renderSample(report, 'summary')).toMatchFileSnapshot(`../golden/summary/${name}.md`);
  });

  it.each(commented)('matches the golden comment: %s', async (name, report) => {
    await expect(renderSample(report, 'comment')).toMatchFileSnapshot(`../golden/comment/${name}.md`);
  });

  it.each(logged)('matches the golden end of the log: %s', async (name, report) => {
    const { log, text } = captureLog(knowSecrets(SAMPLE_SECRET));
    await createLiveLog({ ...VIEW, secrets: knowSecrets(SAMPLE_SECRET), log, level: 'summary' }).report?.(
      report,
      new AbortController().signal,
    );
    await expect(text()).toMatchFileSnapshot(`../golden/log/${name}.txt`);
  });

  it.each(enveloped)('matches the golden envelope: %s', async (name, report) => {
    const text = JSON.stringify(
      envelope(report, (each) => each),
      null,
      2,
    );
    await expect(`${text}\n`).toMatchFileSnapshot(`../golden/envelope/${name}.json`);
  });

  it.each(samples)('gives an envelope that is valid by the published schema: %s', (_, report) => {
    const written = JSON.stringify(envelope(report, (text) => text));
    expect(issuesOf(JSON.parse(written))).toEqual([]);
  });

  it.each(samples)('triggers no action in summary and comment: %s', (_, report) => {
    for (const kind of ['summary', 'comment'] as const)
      expect(
        actionsIn(
          renderSample(report, kind),
          /^https:\/\/github\.com\/(?:octo\/demo|org\/structured-agent)\//u,
        ),
      ).toEqual([]);
  });
});
