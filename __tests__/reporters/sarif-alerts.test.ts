import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertsOf } from '../../src/reporters/sarif-alerts.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject } from '../../src/types.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
const CODE = 'function f(name) {\n  return query(name);\n}\n\nfunction g(name) {\n  return query(name);\n}\n';

function alerts(code: string, rows: readonly JsonObject[]) {
  const workspace = make();
  workspace.checkout('.', 'https://github.com/octo/demo');
  workspace.write('src/a.js', code);
  const locate = createLocator({ workspace: workspace.root, workingDirectory: '.', repositories: [] });
  return alertsOf({ findings: rows.map((row) => ({ path: 'src/a.js', ...row })) }, locate, createSecrets());
}

const fingerprints = (code: string, rows: readonly JsonObject[]) =>
  alerts(code, rows)
    .alerts.map((alert) => JSON.stringify([alert.ruleId, alert.place.path, alert.fingerprints]))
    .sort();

describe('fingerprints', () => {
  const rows = [
    { rule: 'injection', line: 2, severity: 'high', message: 'The name is not escaped.' },
    { rule: 'injection', line: 6, severity: 'high', message: 'The name is not escaped.' },
    { rule: 'naming', line: 1, severity: 'low', message: 'f says nothing.' },
    { line: 1, message: 'No comment.' },
    { message: 'The file has no tests.' },
  ];

  it('differ for each location and rule', () => {
    expect(new Set(fingerprints(CODE, rows)).size).toBe(5);
    // Two lines have the same text and the same rule.
    const own = alerts(CODE, rows).alerts.map((alert) => alert.fingerprints['structuredAgentFinding/v1']);
    expect(new Set(own).size).toBe(5);
  });

  it('do not depend on the order of findings', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (shuffled) => {
        expect(fingerprints(CODE, shuffled)).toEqual(fingerprints(CODE, rows));
      }),
      { numRuns: 20 },
    );
  });

  it('do not depend on the wording or the severity', () => {
    const again = rows.map((row) => ({
      ...row,
      title: 'Again',
      message: `In other words: ${row.line}`,
      severity: 'medium',
    }));
    expect(fingerprints(CODE, again)).toEqual(fingerprints(CODE, rows));
  });

  it('do not depend on the case of the rule', () => {
    const shouted = rows.map((row) => ('rule' in row ? { ...row, rule: ` ${row.rule.toUpperCase()}` } : row));
    expect(fingerprints(CODE, shouted)).toEqual(fingerprints(CODE, rows));
  });

  it('do not change when lines move or are indented', () => {
    const moved = rows.slice(0, 4).map((row) => ({ ...row, line: (row.line ?? 0) + 3 }));
    const code = `// one\n// two\n\n${CODE.replaceAll('\n', '\r\n  ')}`;
    expect(fingerprints(code, moved)).toEqual(fingerprints(CODE, rows.slice(0, 4)));
  });

  it('of structured-agent do not change when later lines change', () => {
    const own = (code: string) =>
      alerts(code, rows.slice(0, 1)).alerts.map((alert) => alert.fingerprints['structuredAgentFinding/v1']);
    expect(own(CODE.replace('}\n\n', '}\n\nlet x;\n'))).toEqual(own(CODE));
    expect(own(CODE.replace('query', 'queries'))).not.toEqual(own(CODE));
  });
});

describe('alerts', () => {
  it('merge findings with the same rule and line, with all messages and the highest severity', () => {
    const {
      alerts: found,
      findings,
      placed,
    } = alerts(CODE, [
      { line: 2, severity: 'low', title: 'Style', message: 'Long.' },
      { line: 2, severity: 'error', message: 'Wrong.' },
      { line: 2, severity: 'low', message: 'Style: Long.' },
      { path: 'nope.js', message: 'Lost.' },
    ]);
    expect(found.map(({ severity, message }) => [severity, message])).toEqual([
      ['error', 'Wrong.\n\nStyle: Long.'],
    ]);
    expect([findings, placed]).toEqual([4, 3]);
  });

  it('use the rule of the finding and never derive one from its text', () => {
    const { alerts: found, rules } = alerts(CODE, [
      { line: 1, rule: '@typescript-eslint/no-unused-vars', severity: 'medium', message: 'm' },
      { line: 2, category: ' SQL  Injection! ', severity: 'critical', message: 'm' },
      { line: 3, cwe: 'CWE-89', severity: 'low', message: 'm' },
      { line: 4, rule: '///', title: 'Title', message: 'm' },
      { line: 5, rule: 'x'.repeat(500), message: 'm' },
      { line: 6, rule: 'sql-injection', severity: 'low', message: 'm' },
    ]);
    expect(found.map(({ ruleId, place }) => [place.line, ruleId]).sort()).toEqual([
      [1, '@typescript-eslint/no-unused-vars'],
      [2, 'sql-injection'],
      [3, 'cwe-89'],
      [4, 'finding'],
      [5, 'x'.repeat(80)],
      [6, 'sql-injection'],
    ]);
    expect(rules.get('sql-injection')).toEqual({
      id: 'sql-injection',
      name: 'SQL Injection!',
      securityScore: 9.5,
    });
    expect(rules.get('finding')).toEqual({ id: 'finding', name: 'Finding', securityScore: null });
  });

  it('of failed tests have their own rule', () => {
    const workspace = make();
    workspace.write('a.test.js', 'x\n');
    const locate = createLocator({ workspace: workspace.root, workingDirectory: '.', repositories: [] });
    const failures = [{ test: 'adds', path: 'a.test.js', line: 1, message: 'expected 3' }];
    const { alerts: found } = alertsOf({ failures }, locate, createSecrets());
    expect(found.map(({ ruleId, message }) => [ruleId, message])).toEqual([
      ['failed-test', 'adds: expected 3'],
    ]);
  });
});

describe('an outvoted finding', () => {
  const rows = [
    { path: 'a.js', line: 1, rule: 'leak', severity: 'critical', message: 'x', outvoted: true },
    { path: 'a.js', line: 2, rule: 'naming', severity: 'medium', message: 'y' },
  ];
  const view = { minor: { isMinor: (row: JsonObject) => row['outvoted'] === true, remark: '' } };
  const found = (ofMerge: boolean) => {
    const workspace = make();
    workspace.write('a.js', 'x\ny\n');
    const locate = createLocator({ workspace: workspace.root, workingDirectory: '.', repositories: [] });
    const { alerts: all, rules } = alertsOf(
      { findings: rows },
      locate,
      createSecrets(),
      ofMerge ? { view } : {},
    );
    const scoreOf = (id: string) => rules.get(id)?.securityScore ?? null;
    return all.map(({ ruleId, severity }) => [ruleId, severity, scoreOf(ruleId) !== null]);
  };

  it('of a merge becomes a note without a score, so that code scanning does not fail', () => {
    expect(found(true)).toEqual([
      ['naming', 'warning', true],
      ['leak', 'note', false],
    ]);
  });

  it('of a single run keeps its severity, because only a merge can outvote', () => {
    expect(found(false)).toEqual([
      ['leak', 'error', true],
      ['naming', 'warning', true],
    ]);
  });
});
