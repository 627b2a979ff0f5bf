import { describe, expect, it } from 'vitest';
import { clipped } from '../../src/merge/clipped.ts';
import { keep } from '../../src/merge/kept.ts';
import { readFindings } from '../../src/reporters/findings.ts';

describe('kept findings', () => {
  it('are what the payload says, each time they are read', () => {
    const findings = readFindings({
      findings: [
        {
          severity: 'low',
          message: 'Ünï — "quoted"\n\u2028',
          rule: 'r',
          title: 't',
          file: 'a.ts',
          line: 3,
          end_line: 5,
        },
        { severity: 'high', message: 'Grave.' },
      ],
    });
    const kept = keep(findings);
    const expected = [
      {
        severity: 'error',
        path: null,
        line: null,
        endLine: null,
        rule: null,
        title: null,
        message: 'Grave.',
      },
      {
        ...{ severity: 'note', path: 'a.ts', line: 3, endLine: 5, rule: 'r', title: 't' },
        message: 'Ünï — "quoted"\n\u2028'.trim(),
      },
    ];
    expect(kept.read()).toEqual(expected);
    expect(kept.read()).toEqual(expected);
    expect(kept.leftOut).toBe(0);
  });

  it('are the gravest of more than anybody reads', () => {
    const rows = Array.from({ length: 400 }, (_, at) => ({
      severity: at === 399 ? 'high' : 'low',
      message: `${at}`,
    }));
    const kept = keep(readFindings({ findings: rows }));
    expect([kept.read().length, kept.leftOut, kept.read()[0]?.message]).toEqual([300, 100, '399']);
  });
});

describe('a clipped text', () => {
  it('is cut between words, never within one', () => {
    expect(clipped('one two three', 13)).toBe('one two three');
    expect(clipped('one two three', 12)).toBe('one two…');
    expect(clipped('one two three', 8)).toBe('one two…');
    expect(clipped('onetwothree', 5)).toBe('…');
    expect(clipped(null, 5)).toBe(null);
  });

  it('holds a secret whole or not at all', () => {
    const secret = 'sk-0123456789';
    for (let max = 0; max < 40; max++) {
      const text = clipped(`before ${secret} behind it there is more`, max);
      expect(text.includes(secret) || !text.includes('sk')).toBe(true);
    }
  });
});
