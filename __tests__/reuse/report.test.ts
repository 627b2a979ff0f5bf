import { describe, expect, it } from 'vitest';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleReusedReport, unpublished } from '../reporters/sample-report.ts';

const sanitizer = createMarkdownSanitizer(createSecrets());
const linesOf = (report: Report, serverUrl: string | null = 'https://github.com') =>
  report.view?.paragraph?.(report, serverUrl, sanitizer) ?? '';

describe('the report of a reused verdict', () => {
  it('links to the run that produced it and says that no model was asked', () => {
    const report = sampleReusedReport({}, '41', 2);
    expect(linesOf(report)).toBe(
      '♻️ **Reused:** this is the verdict of [run 41](https://github.com/octo/demo/actions/runs/41/attempts/2). ' +
        'No model was asked: files, policy and model are the same as there.\n\n',
    );
    expect(report.view).toMatchObject({
      isWithoutModel: true,
      logClause: 'reused: the verdict of run 41, no model was asked',
    });
  });

  it('says nothing about reuse when the payload is not published', () => {
    expect(sampleReusedReport(unpublished('no')).view).toBeUndefined();
  });

  it('contains no link for an invalid run id', () => {
    for (const id of ['41/../../evil', '](https://x.y)', '41\n# ✅', '']) {
      const line = linesOf(sampleReusedReport({}, id));
      expect(line).not.toContain('](');
      expect(line.trimEnd()).not.toContain('\n');
    }
    expect(linesOf(sampleReusedReport(), null)).toContain('the verdict of run 41. ');
  });
});
