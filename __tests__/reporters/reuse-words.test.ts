import { describe, expect, it } from 'vitest';
import { reusedLine, reusedWords, wasReused } from '../../src/reporters/reuse-words.ts';
import { createSay } from '../../src/reporters/say.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const say = createSay(createSecrets());
const reused = (run_id: string, run_attempt = 2) => ({
  reuse: { key: 'aa', tree: 'bb', from: { run_id, run_attempt, session_id: 's' } },
});

describe('what is told of a reused verdict', () => {
  it('is whose it is, with the way there, and that no model was asked', () => {
    const report = sampleReport(reused('41'));
    expect(reusedLine(report, 'https://github.com', say)).toBe(
      '♻️ **Reused:** this is the verdict of [run 41](https://github.com/octo/demo/actions/runs/41/attempts/2). ' +
        'No model was asked: files, judge and model are the same as there.\n\n',
    );
    expect(reusedWords(report)).toBe('reused: the verdict of run 41, no model was asked');
  });

  it('is nothing of a run that a model judged, or whose payload was not published', () => {
    const judged = { reuse: { key: 'aa', tree: 'bb', from: null } };
    const reports = [{}, { reuse: null }, judged, { ...reused('41'), ...unpublished('no') }].map(
      sampleReport,
    );
    expect(reports.map(wasReused)).toEqual([false, false, false, false]);
    expect(reports.map(reusedWords)).toEqual([null, null, null, null]);
    expect(reports.map((report) => reusedLine(report, 'https://github.com', say))).toEqual(['', '', '', '']);
  });

  it('links to nothing that is no run', () => {
    for (const id of ['41/../../evil', '](https://x.y)', '41\n# ✅', '']) {
      const line = reusedLine(sampleReport(reused(id)), 'https://github.com', say);
      expect(line).not.toContain('](');
      expect(line.trimEnd()).not.toContain('\n');
    }
    expect(reusedLine(sampleReport(reused('41')), null, say)).toContain('the verdict of run 41. ');
  });
});
