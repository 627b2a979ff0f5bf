import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSarif } from '../../src/reporters/sarif.ts';
import type { JsonObject } from '../../src/types.ts';
import { anyCharacter, knowSecrets, makeFolder } from '../support/surroundings.ts';
import { FINDING, sampleReport, UNPROVEN, unpublished } from './sample-report.ts';

const folder = makeFolder();

const published = new URL('../fixtures/sarif-schema-2.1.0.json', import.meta.url);
const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(published, 'utf8'));
// One pattern of the schema has an extra bracket, which is invalid in Unicode mode.
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const validate = ajv.compile(schema);

/** A reporter with a file of its own. */
function open() {
  const file = path.join(mkdtempSync(`${folder}/`), 'findings.sarif');
  const reporter = createSarif({
    file,
    secrets: knowSecrets('sk-canary-123'),
    locate: (place) => (place.path === 'nope.js' ? null : place),
    version: '0.1.0',
  });
  const report = async (changes: Partial<Report>) =>
    reporter.report?.(sampleReport(changes), new AbortController().signal);
  /** Writes a log, which the schema of OASIS accepts, and returns its parts. */
  const write = async (payload: JsonObject, changes: Partial<Report> = {}) => {
    await report({ payload, ...changes });
    const log = JSON.parse(readFileSync(file, 'utf8'));
    validate(log);
    expect(validate.errors ?? []).toEqual([]);
    const [{ results, tool }] = log.runs;
    const ids: readonly string[] = tool.driver.rules.map(({ id }: { id: string }) => id);
    expect(new Set(results.map(({ ruleId }: { ruleId: string }) => ruleId))).toEqual(new Set(ids));
    expect(new Set(ids).size).toBe(ids.length);
    return { log, results, rules: tool.driver.rules };
  };
  return { file, report, write };
}

it('the log has rules, results and regions, no links, and no paths that hold a secret', async () => {
  const row = { category: 'injection', path: 'src/a b#.js', line: 2, end_line: 3 };
  const { log } = await open().write({
    findings: [
      { ...row, severity: 'error', cwe: 'CWE-89', title: 'SQL injection', message: 'Not escaped.' },
      { ...row, severity: 'medium', message: 'Nor logged.' },
      { severity: 'low', path: 'src/a.js', message: 'About the file.' },
      { ...FINDING, severity: 'low', message: 'See [here](https://evil.example) or [1](1)' },
      { ...FINDING, severity: 'low', message: '\u200b' },
      { ...FINDING, path: 'sk-canary-123' },
    ],
    failures: [{ test: 'adds', path: 'src/a.js', line: 1, message: 'expected 3' }],
  });
  await expect(`${JSON.stringify(log, null, 2)}\n`).toMatchFileSnapshot('../golden/findings.sarif');
});

it.each<[JsonObject, string, string | undefined]>([
  [{ rule: '@ts/no-unused-vars', category: 'style', severity: 'medium' }, '@ts/no-unused-vars', '5.5'],
  [{ category: ' SQL\n injection ', severity: 'critical' }, 'SQL injection', '9.5'],
  [{ title: 'Title' }, 'finding', undefined],
  [{ rule: '\u200b' }, 'finding', undefined],
  [{ rule: 'x'.repeat(500) }, `${'x'.repeat(99)}…`, undefined],
])('the rule of %j is not derived from its text', async (row, id, score) => {
  const { rules } = await open().write({ findings: [{ ...FINDING, ...row }] });
  expect([rules[0].id, rules[0].properties?.['security-severity']]).toEqual([id, score]);
});

it('there are the 5,000 gravest of the findings that are in the repository', async () => {
  const notes: readonly JsonObject[] = Array(5_100).fill({ ...FINDING, severity: 'note' });
  const lost = [
    { ...FINDING, path: 'nope.js' },
    { severity: 'error', message: 'x' },
  ] as const;
  const { results } = await open().write({ findings: [...lost, ...notes, FINDING] });
  expect([results[0].level, results[1].level, results.length]).toEqual(['error', 'note', 5_000]);
});

it('a finding that is not proven says so, on the first line of the file', async () => {
  const { results } = await open().write({ findings: [FINDING] }, { evidence: UNPROVEN });
  expect(results).toMatchObject([
    { message: { text: 'Not proven. m' }, locations: [{ physicalLocation: { region: { startLine: 1 } } }] },
  ]);
});

it('the log is valid for any payload', async () => {
  const { write } = open();
  const words = fc.constantFrom('src/a.js', './src/a.js:2', 'high', '', ' ', '{0}', '[x](1)', '../x');
  const word = fc.oneof(words, fc.string({ unit: anyCharacter, maxLength: 12 }));
  const value = fc.oneof(word, fc.integer({ min: -2, max: 5 }), fc.jsonValue());
  const file = fc.oneof(fc.constant('src/a.js'), word);
  const row = fc.record({
    path: file,
    message: word,
    line: value,
    end_line: value,
    rule: value,
    title: value,
  });
  const name = fc.constantFrom('findings', 'failures', 'issues');
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.array(row)), async (payload) => {
      await write(JSON.parse(JSON.stringify(payload).toWellFormed()));
    }),
    { numRuns: 60 },
  );
});

// That it is private and replaces no folder is in `files/files.test.ts`.
it('the file is not written without a published payload', async () => {
  const { file, report } = open();
  await report(unpublished('no verdict'));
  expect(existsSync(file)).toBe(false);
});
