/** What people are shown of every kind of verdict, compared with the files in `golden/`: `npx vitest run golden -u` writes them. */
import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';
import { proseOf, render, sparks } from '../support/texts/gfm.ts';
import { renderSample, sampleReports } from './sample-reports.ts';

const samples = Object.entries(sampleReports);
/** Whose comment is compared, too: it is made of the same parts as the summary. */
const COMMENTED = ['accepted', 'gate-not-met', 'plain-text', 'config-error', 'merge-undecided', 'reused'];
/** Hundreds of rows show nothing more than a few do. */
const isShort = ([name]: (typeof samples)[number]) => !name.includes('many');

describe('a report', () => {
  it.each(samples.filter(isShort))('is shown in the job summary: %s', async (name, report) => {
    await expect(renderSample(report, 'summary')).toMatchFileSnapshot(`../golden/summary/${name}.md`);
  });

  it.each(samples.filter(([name]) => COMMENTED.includes(name)))(
    'is shown in the comment: %s',
    async (name, report) => {
      await expect(renderSample(report, 'comment')).toMatchFileSnapshot(`../golden/comment/${name}.md`);
    },
  );

  it.each(samples)('is an envelope of the published schema: %s', (_, report) => {
    const written = JSON.stringify(envelope(report, (text) => text));
    expect(issuesOf(JSON.parse(written))).toEqual([]);
  });

  it.each(samples)('does nothing but be read, in summary and comment: %s', (_, report) => {
    for (const kind of ['summary', 'comment'] as const)
      expect(sparks(proseOf(render(renderSample(report, kind))))).toEqual([]);
  });
});
