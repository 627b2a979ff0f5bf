import { describe, expect, it } from 'vitest';
import { commitPage, runPage } from '../../src/reporters/links.ts';
import type { Subject } from '../../src/types.ts';
import { sampleReport } from './sample-report.ts';

const { subject } = sampleReport();
const changed = (changes: Partial<Subject>) => (subject === null ? null : { ...subject, ...changes });

describe('the pages of a run', () => {
  it('are those of its attempt and its commit', () => {
    expect([runPage(subject, 'https://github.com/'), commitPage(subject, 'https://ghe.example')]).toEqual([
      'https://github.com/octo/demo/actions/runs/42/attempts/1',
      `https://ghe.example/octo/demo/commit/${subject?.sha}`,
    ]);
  });

  it.each([
    { repository: 'octo/demo) [x](https://evil.example' },
    { repository: 'octo' },
    { run_id: '42)', sha: 'abc)' },
    { run_id: '', sha: '' },
  ])('are none for %j', (changes) => {
    const odd = changed(changes);
    expect([runPage(odd, 'https://github.com'), commitPage(odd, 'https://github.com')]).toEqual([null, null]);
  });

  it('are none outside GitHub', () => {
    expect([runPage(null, 'https://github.com'), runPage(subject, null)]).toEqual([null, null]);
  });
});
