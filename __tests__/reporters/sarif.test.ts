import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSarif, type SarifOptions, sarifLog } from '../../src/reporters/sarif.ts';
import { alertsOf } from '../../src/reporters/sarif-alerts.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';
import { type Workspace, workspaces } from './workspace-world.ts';

const make = workspaces();
const secrets = knowSecrets('sk-canary-123');
const signal = new AbortController().signal;
const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };
const CODE = 'function f(name) {\n  return query(name);\n}\n\nfunction g(name) {\n  return query(name);\n}\n';

/** A workspace whose `sub` is the checkout. */
function usual(code = CODE): Workspace {
  const workspace = make();
  workspace.checkout('sub', 'https://github.com/octo/demo');
  workspace.write('sub/src/a.js', code);
  return workspace;
}
const locatorOf = ({ root }: Workspace) =>
  createLocator({ workspace: root, workingDirectory: 'sub', repositories: ['octo/demo'] });

/** The parts of a log that tests look at. */
interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly locations: readonly { readonly physicalLocation: SarifPlace }[];
}
interface SarifPlace {
  readonly artifactLocation: { readonly uri: string };
  readonly region: { readonly startLine: number };
}
interface SarifRun {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly automationDetails: { readonly id: string };
  readonly invocations: readonly {
    readonly toolExecutionNotifications: readonly Pick<SarifResult, 'message'>[];
  }[];
  readonly results: readonly SarifResult[];
}
interface SarifLog {
  readonly runs: readonly [SarifRun];
}

const file = new URL('../fixtures/sarif-schema-2.1.0.json', import.meta.url);
const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(file, 'utf8'));
// One pattern of the schema has an extra bracket, which is invalid in Unicode mode.
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const validate = ajv.compile(schema);

/** The violations of the OASIS schema and of GitHub's rules in a log. */
function problemsOf(log: SarifLog): readonly string[] {
  validate(log);
  const problems = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  const [{ results, tool }] = log.runs;
  const { rules } = tool.driver;
  if (new Set(rules.map(({ id }) => id)).size !== rules.length) problems.push('a rule twice');
  if (results.length > 5_000) problems.push('too many results');
  const seen = new Set<string>();
  for (const { ruleId, ruleIndex, message, locations, partialFingerprints } of results) {
    const where = locations[0]?.physicalLocation;
    if (rules[ruleIndex]?.id !== ruleId) problems.push(`no rule ${ruleId}`);
    if (message.text.trim() === '') problems.push('no text');
    if (where === undefined || where.artifactLocation.uri === '') problems.push('no location');
    if ((where?.region.startLine ?? 0) < 1) problems.push('no line');
    const alert = JSON.stringify([ruleId, where?.artifactLocation.uri, partialFingerprints]);
    if (seen.has(alert)) problems.push(`one alert twice: ${alert}`);
    seen.add(alert);
  }
  return problems;
}

/** A reporter for a workspace, with the file and the lines that it writes. */
function open(workspace = usual(), changes: Partial<SarifOptions> = {}) {
  const lines: string[] = [];
  const target = path.join(workspace.root, 'out.sarif');
  const reporter = createSarif({
    file: target,
    secrets,
    locate: locatorOf(workspace),
    notify: (text) => lines.push(text),
    version: '0.1.0',
    informationUri: 'https://github.com/org/structured-agent',
    category: 'CI/review (node 24)',
    serverUrl: 'https://github.com',
    ...changes,
  });
  const report = (each: Report) => reporter.report?.(each, signal);
  return {
    reporter,
    target,
    lines,
    report,
    /** Reports a payload and reads the written log. */
    async write(payload: JsonObject) {
      await report(sampleReport({ payload }));
      const text = readFileSync(target, 'utf8');
      const log: SarifLog = JSON.parse(text);
      return { text, log, run: log.runs[0], problems: problemsOf(log) };
    },
  };
}

describe('the SARIF log', () => {
  it('has rules, results and regions', async () => {
    const place = { path: 'sub/src/a b#.js', line: 2, end_line: 3 };
    const workspace = usual();
    workspace.write('sub/src/a b#.js', CODE);
    const findings = [
      {
        severity: 'critical',
        category: 'SQL injection',
        cwe: 'CWE-89',
        ...place,
        title: 'SQL injection',
        message: 'Not escaped.',
      },
      { severity: 'low', category: 'SQL injection', ...place, message: 'Nor logged.' },
      { severity: 'low', path: 'sub/src/a.js', message: 'About the file.' },
    ];
    const { log, problems } = await open(workspace).write({ findings });
    expect(problems).toEqual([]);
    await expect(`${JSON.stringify(log, null, 2)}\n`).toMatchFileSnapshot('../golden/findings.sarif');
  });

  it('of a payload without findings has no results, which closes the alerts, and names no URL that it does not know', async () => {
    const { run, problems } = await open(usual(), { serverUrl: null, informationUri: null }).write({});
    expect([run.results, run.tool.driver.rules, problems]).toEqual([[], [], []]);
    expect(JSON.stringify(run)).not.toMatch(/versionControlProvenance|informationUri/u);
  });

  it("has a distinct category for each key, within GitHub's length limit", async () => {
    const long = 'x'.repeat(300);
    const keys = ['CI/review/node-24', 'CI {24}', 'CI [24]', '', 'a\n<b>', `${long}1`, `${long}2`, '😀'];
    const ids: string[] = [];
    for (const category of keys)
      ids.push((await open(usual(), { category }).write({})).run.automationDetails.id);
    expect(ids[0]).toBe('structured-agent/CI/review/node-24/');
    expect(new Set(ids).size).toBe(keys.length);
    for (const id of ids) expect(id).toMatch(/^structured-agent\/[^\s<>[\]{}]{1,210}\/$/u);
  });

  it('contains no links, invisible characters or secrets from the model', async () => {
    const message = 'see [here](https://evil.example) or [1](1) \u202e\x1b[31m sk-canary-123 \ud83d';
    const rule = 'r](x) sk-canary-123';
    const { text, run, problems } = await open().write({ findings: [{ ...FINDING, rule, message }] });
    expect(problems).toEqual([]);
    expect(run.results[0]?.message.text).toBe('see [here] (https://evil.example) or [1] (1)  *** \ufffd');
    expect(text).not.toMatch(/sk-canary|\]\(/u);
  });

  it("reports omitted findings: those without a location and those above GitHub's limits", async () => {
    const many = Array.from({ length: 5_100 }, (_, at) => ({
      ...FINDING,
      severity: at === 5_050 ? 'error' : 'note',
      line: at + 1,
    }));
    const findings = [{ severity: 'error', message: 'nowhere' }, ...many];
    const { run, problems } = await open(usual('x\n'.repeat(6_000))).write({ findings });
    expect([problems, run.results.length, run.results[0]?.level]).toEqual([[], 5_000, 'error']);
    expect(run.invocations[0]?.toolExecutionNotifications.map(({ message }) => message.text)).toEqual([
      '1 finding left out: they name no file of the repository, without which GitHub refuses the whole log.',
      '100 results left out, the least grave: the log would be too large for GitHub.',
    ]);
  });

  it('stays below 10 MB by shortening messages, then dropping the least severe findings', () => {
    const alerts = Array.from({ length: 4_000 }, (_, at) => ({
      severity: 'note' as const,
      place: { path: `${'p'.repeat(2_500)}${at}`, line: 1, endLine: null, column: null, source: null },
      ruleId: 'finding',
      message: 'm'.repeat(4_000),
      fingerprints: { a: String(at) },
    }));
    const rules = new Map([['finding', { id: 'finding', name: 'Finding', securityScore: null }]]);
    const facts = { version: '1', informationUri: null, category: 'c', serverUrl: null };
    for (const count of [2_000, 4_000]) {
      const found = { alerts: alerts.slice(0, count), rules, total: count, findings: count, placed: count };
      const { text, results } = sarifLog(sampleReport(), found, facts);
      expect(results).toBe(2_000);
      expect(Buffer.byteLength(text)).toBeLessThan(10_000_000);
    }
  });

  it("is valid by the schema and GitHub's rules for any payload", async () => {
    const sarif = open();
    const words = ['src/a.js', 'sub/src/a.js:2', 'high', 'note', '', ' ', '{0}', '[x](1)', '../x', 'CWE-79'];
    const word = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 12 }));
    const value = fc.oneof(word, word, fc.integer({ min: -2, max: 5 }), fc.jsonValue());
    const key = fc.constantFrom(...'path file line end_line column message title severity rule'.split(' '));
    const row = fc.oneof(
      fc.dictionary(key, value),
      fc.record({ path: fc.constant('src/a.js'), message: word, line: value, rule: value }),
    );
    const name = fc.oneof(fc.constantFrom('findings', 'failures', 'issues'), word);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.array(row)), async (payload) => {
        const { problems } = await sarif.write(JSON.parse(JSON.stringify(payload).toWellFormed()));
        expect(problems).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the SARIF file', () => {
  it('is private to the owner, and the log counts its results', async () => {
    const sarif = open();
    await sarif.write({ findings: [FINDING, { severity: 'note', message: 'no place' }] });
    expect(statSync(sarif.target).mode & 0o777).toBe(0o600);
    expect(sarif.lines).toEqual([
      `SARIF: 1 result in ${sarif.target}. 1 finding without a file of the repository left out.`,
    ]);
  });

  it('is removed when the repeated report publishes no payload', async () => {
    const sarif = open();
    await sarif.write({ findings: [FINDING] });
    expect(existsSync(sarif.target)).toBe(true);
    // The report is repeated if the outputs cannot be written.
    expect(sarif.reporter.repeatable).toBe(true);
    await sarif.report(sampleReport(unpublished('no verdict')));
    expect(existsSync(sarif.target)).toBe(false);
    expect(sarif.lines.at(-1)).toBe('No SARIF was written: no payload was published.');
  });

  it('is neither written nor removed through a symbolic link, nor in place of a folder', async () => {
    const workspace = usual();
    const outside = make();
    const kept = outside.write('out.sarif', 'kept');
    mkdirSync(path.join(workspace.root, 'reports'));
    const sarif = open(workspace, { file: path.join(workspace.root, 'reports/out.sarif') });
    renameSync(path.join(workspace.root, 'reports'), path.join(workspace.root, 'gone'));
    symlinkSync(outside.root, path.join(workspace.root, 'reports'));
    const folder = open();
    mkdirSync(folder.target);
    for (const each of [sarif, folder]) {
      await expect(each.report(sampleReport())).rejects.toBeInstanceOf(ReportError);
      await expect(each.report(sampleReport(unpublished('no')))).rejects.toBeInstanceOf(ReportError);
    }
    expect([statSync(kept).size, readdirSync(outside.root)]).toEqual([4, ['out.sarif']]);
    // A link with the name of the file is replaced.
    const direct = open(workspace);
    symlinkSync(kept, direct.target);
    await direct.write({ findings: [FINDING] });
    expect(statSync(kept).size).toBe(4);
  });
});

describe('alerts', () => {
  const alerts = (rows: readonly JsonObject[], code = CODE, view: Parameters<typeof alertsOf>[3] = {}) => {
    const findings = rows.map((row) => ({ path: 'src/a.js', ...row }));
    return alertsOf({ findings }, locatorOf(usual(code)), secrets, view);
  };
  const printsOf = (rows: readonly JsonObject[], code = CODE) =>
    alerts(rows, code)
      .alerts.map(({ ruleId, place, fingerprints }) => JSON.stringify([ruleId, place.path, fingerprints]))
      .sort();

  const rows = [
    { rule: 'injection', line: 2, severity: 'high', message: 'The name is not escaped.' },
    { rule: 'injection', line: 6, severity: 'high', message: 'The name is not escaped.' },
    { rule: 'naming', line: 1, severity: 'low', message: 'f says nothing.' },
    { line: 1, message: 'No comment.' },
    { message: 'The file has no tests.' },
  ];
  const moved = rows.slice(0, 4).map((row) => ({ ...row, line: (row.line ?? 0) + 3 }));
  const reworded = rows.map((row) => ({ ...row, title: 'Again', message: `${row.line}`, severity: 'low' }));
  const shouted = rows.slice(0, 2).map((row) => ({ ...row, rule: ' INJECTION' }));
  const indented = `// one\n// two\n\n${CODE.replaceAll('\n', '\r\n  ')}`;
  it.each<[string, readonly JsonObject[], string, readonly JsonObject[]]>([
    ['the order', rows.toReversed(), CODE, rows],
    ['wording and severity', reworded, CODE, rows],
    ['the case of the rule', shouted, CODE, rows.slice(0, 2)],
    ['lines that move or are indented', moved, indented, rows.slice(0, 4)],
  ])('have fingerprints that do not depend on %s', (_, changed, code, before) => {
    expect(printsOf(changed, code)).toEqual(printsOf(before));
  });

  it('have a fingerprint for each location and rule, which depends on the line', () => {
    // Two lines have the same text and the same rule.
    const own = (code: string) =>
      alerts(rows, code).alerts.map((alert) => alert.fingerprints['structuredAgentFinding/v1']);
    expect(new Set(own(CODE)).size).toBe(5);
    expect(own(CODE.replace('}\n\n', '}\n\nlet x;\n'))[0]).toEqual(own(CODE)[0]);
    expect(own(CODE.replace('query', 'queries'))).not.toEqual(own(CODE));
  });

  it('merge findings with the same rule and line, with all messages and the highest severity', () => {
    const found = alerts([
      { line: 2, severity: 'low', title: 'Style', message: 'Long.' },
      { line: 2, severity: 'error', message: 'Wrong.' },
      { line: 2, severity: 'low', message: 'Style: Long.' },
      { path: 'nope.js', message: 'Lost.' },
    ]);
    expect([found.findings, found.placed]).toEqual([4, 3]);
    expect(found.alerts).toMatchObject([{ severity: 'error', message: 'Wrong.\n\nStyle: Long.' }]);
  });

  it.each<[JsonObject, string, number | null]>([
    [{ rule: '@ts/no-unused-vars', severity: 'medium' }, '@ts/no-unused-vars', 5.5],
    [{ category: ' SQL  Injection! ', severity: 'critical' }, 'sql-injection', 9.5],
    [{ cwe: 'CWE-89', severity: 'low' }, 'cwe-89', 2],
    [{ rule: '///', title: 'Title' }, 'finding', null],
    [{ rule: 'x'.repeat(500) }, 'x'.repeat(80), null],
  ])('use the rule of the finding and never derive one from its text: %j', (row, id, securityScore) => {
    const { alerts: found, rules } = alerts([{ line: 1, message: 'm', ...row }]);
    expect(found.map(({ ruleId }) => ruleId)).toEqual([id]);
    expect(rules.get(id)).toMatchObject({ id, securityScore });
  });

  it('of failed tests have their own rule', () => {
    const failures = [{ test: 'adds', path: 'src/a.js', line: 1, message: 'expected 3' }];
    const { alerts: found } = alertsOf({ failures }, locatorOf(usual()), secrets);
    expect(found).toMatchObject([{ ruleId: 'failed-test', message: 'adds: expected 3' }]);
  });

  it('of an outvoted finding are notes without a score, if a merge says so and not the payload of a run', () => {
    const outvoted = [{ ...FINDING, rule: 'leak', severity: 'critical', outvoted: true }];
    const view = { minor: { isMinor: (row: JsonObject) => row['outvoted'] === true, remark: '' } };
    const found = [alerts(outvoted, CODE, { view }), alerts(outvoted)].map(({ alerts: [alert], rules }) => [
      alert?.severity,
      rules.get('leak')?.securityScore ?? null,
    ]);
    expect(found).toEqual([
      ['note', null],
      ['error', 9.5],
    ]);
  });
});
