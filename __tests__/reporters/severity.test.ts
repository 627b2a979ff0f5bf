import { describe, expect, it } from 'vitest';
import { bySeverity, securityScore, severityMark, severityOf } from '../../src/reporters/findings.ts';

describe('severityOf', () => {
  it.each([
    ['error', 'blocker Critical FATAL error high severe'],
    ['warning', 'warning warn Major MEDIUM moderate'],
    ['note', 'notice minor low info informational note suggestion nit nitpick style trivial hint'],
  ])('knows the words for %s', (severity, words) => {
    const known = words.split(' ').map((word) => severityOf(` ${word}`));
    expect(new Set(known)).toEqual(new Set([severity]));
  });

  it('knows nothing of other words and values', () => {
    expect(
      ['purple', '', 'constructor', '__proto__', 3, null, true, ['high'], undefined].map(severityOf),
    ).toEqual(Array.from({ length: 9 }, () => null));
  });
});

describe('securityScore', () => {
  it('is a number that GitHub shows as the same word, for words of a scale for vulnerabilities alone', () => {
    const scores = ['critical', 'High', 'medium', 'moderate', 'low', 'error', 'minor', 7].map(securityScore);
    expect(scores).toEqual([9.5, 8, 5.5, 5.5, 2, null, null, null]);
  });
});

describe('severityMark', () => {
  it('marks the words that schemas use, whatever their case, and nothing else', () => {
    const marks = ['error', 'HIGH', 'Warning', 'info', 'purple', '', 3, null].map(severityMark);
    expect(marks).toEqual(['🔴&nbsp;', '🔴&nbsp;', '🟡&nbsp;', '🔵&nbsp;', '', '', '', '']);
  });
});

describe('bySeverity', () => {
  it('puts the gravest first and keeps the order of the others', () => {
    const rows = [{ at: 0 }, { severity: 'low', at: 1 }, { severity: 'error', at: 2 }, { at: 3 }];
    expect(bySeverity(rows).map((row) => row['at'])).toEqual([2, 1, 0, 3]);
  });
});
