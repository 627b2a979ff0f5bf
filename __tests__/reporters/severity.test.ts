import { describe, expect, it } from 'vitest';
import { bySeverity, severityMark } from '../../src/reporters/severity.ts';

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
