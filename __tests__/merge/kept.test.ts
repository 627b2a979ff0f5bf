import { describe, expect, it } from 'vitest';
import { keep } from '../../src/merge/kept.ts';
import { readFindings } from '../../src/reporters/findings.ts';
import { createSecrets } from '../../src/text/secrets.ts';

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
    const kept = keep(findings, createSecrets());
    const expected = [
      {
        severity: 'error',
        path: null,
        line: null,
        endLine: null,
        rule: null,
        title: null,
        message: 'Grave.',
        inShort: null,
      },
      {
        ...{ severity: 'note', path: 'a.ts', line: 3, endLine: 5, rule: 'r', title: 't' },
        message: 'Ünï — "quoted"\n\u2028'.trim(),
        inShort: null,
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
    const kept = keep(readFindings({ findings: rows }), createSecrets());
    expect([kept.read().length, kept.leftOut, kept.read()[0]?.message]).toEqual([300, 100, '399']);
  });

  it('begin as they were written where they are too long and have no blanks, as in Chinese', () => {
    const message = '数据库的查询由文本拼接而成，任何人都可以注入。'.repeat(400);
    const title = '注入'.repeat(400);
    const findings = readFindings({ findings: [{ severity: 'high', title, message }] });
    const [kept] = keep(findings, createSecrets()).read();
    expect(kept).toMatchObject({ title: `${title.slice(0, 300)}…`, message: `${message.slice(0, 4_000)}…` });
  });
});
