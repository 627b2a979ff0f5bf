import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSarif } from '../../src/reporters/sarif.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };

/** The parts of a log that tests look at. */
interface SarifRule {
  readonly id: string;
  readonly properties?: JsonObject;
}
interface SarifResult {
  readonly ruleId: string;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number };
    };
  }[];
}
interface SarifLog {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly SarifRule[] } };
      readonly results: readonly SarifResult[];
    },
  ];
}

const published = new URL('../fixtures/sarif-schema-2.1.0.json', import.meta.url);
const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(published, 'utf8'));
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
  const ids = new Set(rules.map(({ id }) => id));
  if (ids.size !== rules.length) problems.push('a rule twice');
  for (const { ruleId, message, locations } of results) {
    const where = locations[0]?.physicalLocation;
    if (ruleId === '' || !ids.has(ruleId)) problems.push(`no rule ${ruleId}`);
    if (message.text.trim() === '') problems.push('no text');
    if ((where?.artifactLocation.uri ?? '') === '') problems.push('no file');
    if ((where?.region.startLine ?? 0) < 1) problems.push('no line');
  }
  return problems;
}

/** A reporter of a workspace whose `sub` is the checkout, with the file and the lines that it writes. */
function open() {
  const workspace = make();
  workspace.checkout('sub');
  workspace.write('sub/src/a.js', 'x\n'.repeat(6));
  const file = path.join(workspace.root, 'out.sarif');
  const lines: string[] = [];
  const reporter = createSarif({
    file,
    secrets: knowSecrets('sk-canary-123'),
    locate: createLocator({ workspace: workspace.root, workingDirectory: 'sub' }),
    notify: (text) => lines.push(text),
    version: '0.1.0',
    informationUri: 'https://github.com/org/structured-agent',
  });
  const report = async (changes: Partial<Report>) =>
    reporter.report?.(sampleReport(changes), new AbortController().signal);
  return {
    workspace,
    file,
    lines,
    report,
    async write(payload: JsonObject) {
      await report({ payload });
      const text = readFileSync(file, 'utf8');
      const log: SarifLog = JSON.parse(text);
      const [{ results, tool }] = log.runs;
      return { text, log, results, rules: tool.driver.rules, problems: problemsOf(log) };
    },
  };
}

describe('the SARIF log', () => {
  it('has rules, results and regions', async () => {
    const { workspace, write } = open();
    workspace.write('sub/src/a b#.js', 'one\ntwo\nthree\n');
    const row = { category: 'injection', path: 'src/a b#.js', line: 2, end_line: 3 };
    const { log, problems } = await write({
      findings: [
        { ...row, severity: 'critical', cwe: 'CWE-89', title: 'SQL injection', message: 'Not escaped.' },
        { ...row, severity: 'low', message: 'Nor logged.' },
        { severity: 'low', path: 'src/a.js', message: 'About the file.' },
      ],
      failures: [{ test: 'adds', path: 'src/a.js', line: 1, message: 'expected 3' }],
    });
    expect(problems).toEqual([]);
    await expect(`${JSON.stringify(log, null, 2)}\n`).toMatchFileSnapshot('../golden/findings.sarif');
  });

  it('of a payload without findings has no results, which closes the alerts', async () => {
    const { results, rules, problems } = await open().write({});
    expect([results, rules, problems]).toEqual([[], [], []]);
  });

  it.each<[JsonObject, string, string | undefined]>([
    [{ rule: '@ts/no-unused-vars', category: 'style', severity: 'medium' }, '@ts/no-unused-vars', '5.5'],
    [{ category: ' SQL\n injection ', severity: 'critical' }, 'SQL injection', '9.5'],
    [{ cwe: 'CWE-89', severity: 'low' }, 'CWE-89', '2.0'],
    [{ title: 'Title' }, 'finding', undefined],
    [{ rule: '\u200b' }, 'finding', undefined],
    [{ rule: 'x'.repeat(500) }, `${'x'.repeat(99)}…`, undefined],
  ])('uses the rule of the finding and never derives one from its text: %j', async (row, id, score) => {
    const { rules } = await open().write({ findings: [{ ...FINDING, ...row }] });
    expect(rules.map((rule) => [rule.id, rule.properties?.['security-severity']])).toEqual([[id, score]]);
  });

  it('gives a rule the highest score of its findings', async () => {
    const findings = ['low', 'high', 'medium'].map((severity) => ({ ...FINDING, severity, rule: 'leak' }));
    const { rules } = await open().write({ findings });
    expect(rules).toMatchObject([{ properties: { 'security-severity': '8.0' } }]);
  });

  it('contains no links, invisible characters or secrets from the model', async () => {
    const { workspace, write } = open();
    workspace.write('sub/sk-canary-123');
    const message = 'see [here](https://evil.example) or [1](1) \u202e\x1b[31m sk-canary-123 \ud83d';
    const rule = 'r](x) sk-canary-123';
    const { text, results, problems } = await write({
      findings: [
        { ...FINDING, rule, message },
        { ...FINDING, path: 'sk-canary-123' },
        { ...FINDING, message: '\u200b' },
      ],
    });
    expect(problems).toEqual([]);
    expect(results.map((result) => result.message.text)).toEqual([
      'see [here] (https://evil.example) or [1] (1)  *** \ufffd',
      'No text.',
    ]);
    expect(text).not.toContain('sk-canary');
  });

  it('has the 5,000 gravest of the findings that are in the repository', async () => {
    const many = Array.from({ length: 5_100 }, (_, at) => ({
      ...FINDING,
      severity: at === 5_050 ? 'error' : 'note',
    }));
    const lost = { ...FINDING, path: 'nope.js' };
    const { lines, write } = open();
    const { results } = await write({ findings: [lost, { severity: 'error', message: 'x' }, ...many] });
    expect([results[0]?.level, results[1]?.level, results.length]).toEqual(['error', 'note', 5_000]);
    expect(lines).toEqual([expect.stringMatching(/^SARIF: 5,000 results in .*out\.sarif\.$/)]);
  });

  it('says that a finding is not proven, and puts it on the first line of the file', async () => {
    const { file, report } = open();
    const grounding = { exact: 0, moved: 0, unproven: 1 };
    const findings = [{ path: 'src/a.js', line: 2, grounding: 'unproven' }] as const;
    const evidence = { context: 'complete', toolCalls: 1, grounding, findings } as const;
    await report({ payload: { findings: [FINDING] }, evidence });
    const { runs }: SarifLog = JSON.parse(readFileSync(file, 'utf8'));
    expect(runs[0].results).toMatchObject([
      { message: { text: 'Not proven. m' }, locations: [{ physicalLocation: { region: { startLine: 1 } } }] },
    ]);
  });

  it("is valid by the schema and GitHub's rules for any payload", async () => {
    const { write } = open();
    const words = ['src/a.js', './src/a.js:2', 'high', 'note', '', ' ', '{0}', '[x](1)', '../x', 'CWE-79'];
    const word = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 12 }));
    const value = fc.oneof(word, word, fc.integer({ min: -2, max: 5 }), fc.jsonValue());
    const key = fc.constantFrom(...'path file line end_line message title severity rule'.split(' '));
    const row = fc.oneof(
      fc.dictionary(key, value),
      fc.record({ path: fc.constant('src/a.js'), message: word, line: value, rule: value }),
    );
    const name = fc.oneof(fc.constantFrom('findings', 'failures', 'issues'), word);
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, fc.array(row)), async (payload) => {
        const { problems } = await write(JSON.parse(JSON.stringify(payload).toWellFormed()));
        expect(problems).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the SARIF file', () => {
  it('is private to the owner', async () => {
    const { file, write } = open();
    await write({ findings: [FINDING] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('is not written without a published payload', async () => {
    const { file, lines, report } = open();
    await report(unpublished('no verdict'));
    expect([existsSync(file), ...lines]).toEqual([false, 'No SARIF was written: no payload was published.']);
  });

  it('that cannot be written is a ReportError', async () => {
    const { file, report } = open();
    mkdirSync(file);
    await expect(report({})).rejects.toBeInstanceOf(ReportError);
  });
});
