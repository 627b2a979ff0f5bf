import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bySeverity, locationOfRow, readFindings, severityMark } from '../../src/reporters/findings.ts';
import type { JsonObject } from '../../src/types.ts';

const at = (path: string, line: number | null = null, endLine: number | null = null) => ({
  path,
  line,
  endLine,
});

describe('readFindings', () => {
  const code = { path: 'a.js', line: 4, end_line: 6, title: 't', message: 'm' };
  const bare = { securityScore: null, place: null, title: null, isKind: true };
  it.each<[string, JsonObject, object]>([
    [
      'findings',
      { severity: 'high', category: 'injection', cwe: 'CWE-89', ...code },
      {
        severity: 'error',
        securityScore: 8,
        place: at('a.js', 4, 6),
        title: 't',
        message: 'm',
        rule: 'injection',
        isKind: true,
      },
    ],
    [
      'failures',
      { test: 'boots' },
      { ...bare, severity: 'error', title: 'boots', message: 'boots', rule: 'failed-test' },
    ],
    [
      'problems',
      { file: 'x.js', description: 'a', rule: 'no-x', category: 'x' },
      { ...bare, severity: 'warning', place: at('x.js'), message: 'a', rule: 'no-x', isKind: false },
    ],
  ])('reads a row of %s: %j', (list, row, finding) => {
    expect(readFindings({ passed: false, [list]: [row] })).toEqual([{ ...finding, row }]);
  });

  it('needs a text, and a severity or a file, in an object of a top-level list', () => {
    const payload = {
      problems: [
        { message: 'taken', severity: 'purple' },
        { message: 'neither' },
        { path: 'no-text.js', severity: 'high' },
        { message: '  ', title: '', path: 'blank.js' },
        { message: 4, path: 'number.js' },
        null,
        'text',
        [{ message: 'nested', path: 'y.js' }],
      ],
      deeper: { findings: [{ message: 'c', path: 'z.js' }] },
      findings: 'none',
    };
    expect(readFindings(payload).map(({ message, severity }) => [message, severity])).toEqual([
      ['taken', 'warning'],
    ]);
  });

  it('sorts by severity, then in payload order', () => {
    const rows = (name: string) =>
      ['low', 'medium', 'high', 'critical'].map((severity) => ({ severity, message: `${name} ${severity}` }));
    const order = readFindings({ findings: rows('f'), others: rows('o') }).map(({ message }) => message);
    const wanted = 'f critical, o critical, f high, o high, f medium, o medium, f low, o low';
    expect(order).toEqual(wanted.split(', '));
  });

  it('gives every finding a text, a known severity and a valid place, for any payload', () => {
    const key = fc.constantFrom(...'message title severity path file line end_line __proto__ x'.split(' '));
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('high', 'a.js:3', 'a.js', 3));
    const payload = fc.dictionary(
      fc.constantFrom('findings', 'failures'),
      fc.array(fc.dictionary(key, value)),
    );
    fc.assert(
      fc.property(payload, (each) => {
        for (const { message, severity, place } of readFindings(JSON.parse(JSON.stringify(each)))) {
          expect(message.trim()).not.toBe('');
          expect(['error', 'warning', 'note']).toContain(severity);
          if (place === null) continue;
          expect(place.path).not.toMatch(/^$|\p{Cc}/u);
          const numbers = [place.line, place.endLine].filter((number) => number !== null);
          expect(numbers.every((number) => Number.isInteger(number) && number >= 1)).toBe(true);
          expect(place.endLine === null || (place.line ?? Infinity) < place.endLine).toBe(true);
        }
      }),
    );
  });
});

it.each<[JsonObject, ReturnType<typeof at> | null]>([
  [{ path: ' src/a.js ', line: 3 }, at('src/a.js', 3)],
  [{ path: 3, file: 'a.js', line: 3, end_line: 5 }, at('a.js', 3, 5)],
  [{ path: 'a.js:7' }, at('a.js', 7)],
  [{ path: 'a.js:7:2', line: 4, end_line: 4 }, at('a.js', 4)],
  [{ path: 'a.js', line: 5, end_line: 3 }, at('a.js', 5)],
  [{ path: 'a.js', line: 0, end_line: 3 }, at('a.js')],
  [{ path: 'a.js', line: 1.5 }, at('a.js')],
  [{ path: 'a.js', line: 1e9 + 1 }, at('a.js')],
  [{ path: 'a\nb' }, null],
  [{ path: 'x'.repeat(4_097) }, null],
  [{ line: 3 }, null],
])('the place of %j', (row, place) => {
  expect(locationOfRow(row)?.place ?? null).toEqual(place);
});

it.each([
  ['error', '🔴&nbsp;', { error: null, blocker: null, Critical: 9.5, HIGH: 8 }],
  ['warning', '🟡&nbsp;', { warning: null, major: null, ' medium': 5.5, moderate: 5.5 }],
  ['note', '🔵&nbsp;', { note: null, info: null, minor: null, low: 2 }],
  ['warning', '', { purple: null, constructor: null }],
])('a %s has the mark %j and comes from the words and scores %o', (severity, mark, words) => {
  for (const [word, securityScore] of Object.entries(words)) {
    const [finding] = readFindings({ findings: [{ severity: word, message: 'm' }] });
    expect([finding, severityMark(word)]).toMatchObject([{ severity, securityScore }, mark]);
  }
});

it('bySeverity sorts by severity and keeps the order of other rows', () => {
  const rows = [{ at: 0 }, { severity: 'low', at: 1 }, { severity: 'error', at: 2 }, { at: 3 }];
  expect(bySeverity(rows).map((row) => row['at'])).toEqual([2, 1, 0, 3]);
});
