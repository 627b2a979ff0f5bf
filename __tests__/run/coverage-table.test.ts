/** What each setting does, for a change of 40 files: the table of docs/evidence.md, and each of its cells as a run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stepOutputs } from '../../src/reporters/outputs.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { coverageOf, endOf, listedFiles, onPullRequest, readDiff, submit } from '../support/worlds/change.ts';
import { converse } from '../support/worlds/run.ts';

const TABLE = `
| \`min-coverage\` | \`schema\` | all 40 | 20, then the rest | 20 | none | unknown change | partly known change |
| --- | --- | --- | --- | --- | --- | --- | --- |
| \`auto\` | \`code-review\`, \`security-review\` | accepted | accepted | unsupported | unsupported | accepted | unsupported |
| \`auto\` | \`verdict\` | accepted | accepted | accepted | unsupported | accepted | accepted |
| \`auto\` | your own | accepted | accepted | accepted | accepted | accepted | accepted |
| \`off\` | any | accepted | accepted | accepted | accepted | accepted | accepted |
| \`0.5\` | \`code-review\`, \`security-review\` | accepted | accepted | unsupported | unsupported | unsupported | unsupported |
| \`0.5\` | \`verdict\`, your own | accepted | accepted | accepted | unsupported | unsupported | unsupported |
| \`1\` | any | accepted | accepted | unsupported | unsupported | unsupported | unsupported |
`;
const OWN = '{"type":"object","properties":{"passed":{"type":"boolean"}}}';
const SCHEMAS = ['code-review', 'security-review', 'verdict', 'your own'] as const;
type SchemaName = (typeof SCHEMAS)[number];
const FILES = listedFiles(40);
const known = onPullRequest(FILES);

/** What the model reads before it submits and when the payload is sent back, and the coverage without and with that. */
type Situation = readonly [
  reads: readonly (Reply | 'submit')[],
  world: object,
  coverage: readonly [string, string?],
];

const half = readDiff(0, 20);
const all = [half, readDiff(20, 20)];
const of = (files: number, status = 'measured') => `${status}, ${files} of 40 files`;
const partly = onPullRequest(FILES, 'GitHub lists 3000 files.');
/** In the order of the columns. */
const SITUATIONS: readonly Situation[] = [
  [all, known, [of(40)]],
  [[half, 'submit', readDiff(20, 20)], known, [of(20), of(40)]],
  [[half], known, [of(20)]],
  [[], known, [of(0)]],
  [[half], {}, ['unknown, 0 of 0 files']],
  [all, partly, [of(40, 'partial')]],
];

const rows = TABLE.trim()
  .split('\n')
  .slice(2)
  .map((line) => {
    const [setting = '', schemas = '', ...ends] = line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', ''));
    return {
      setting,
      names: SCHEMAS.filter((name) => schemas === 'any' || schemas.split(', ').includes(name)),
      ends,
    };
  });
/** What `auto` stands for differs from preset to preset; a typed setting is the same for two of them. */
const cases = rows.flatMap(({ setting, names, ends }) =>
  names
    .filter((name) => setting === 'auto' || name !== 'security-review')
    .map((name) => [setting, name, ends] as const),
);

const submits = (name: SchemaName, payload = {}) => submit(name === 'your own' ? 'verdict' : name, payload);
function judge([reads, world]: Situation, name: SchemaName, minCoverage: string, payload = {}) {
  const script = [...reads, 'submit' as const].map((each) =>
    each === 'submit' ? submits(name, payload) : each,
  );
  const schema = name === 'your own' ? OWN : name;
  return converse(script, { schema, gate: 'passed', 'min-coverage': minCoverage }, world);
}

describe('what each setting does', () => {
  it('is in the documentation as it is here', () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');
    expect(text).toContain(TABLE);
    for (const { ends } of rows) expect(ends).toHaveLength(SITUATIONS.length);
  });

  it.each(cases)('min-coverage: %s with %s', async (setting, name, ends) => {
    for (const [at, situation] of SITUATIONS.entries()) {
      const judged = await judge(situation, name, setting);
      const { report, rejections } = judged;
      const isTaken = ends[at] === 'accepted';
      expect([at, endOf(judged)]).toEqual([
        at,
        isTaken ? 'success accepted 0' : 'inconclusive unsupported 1',
      ]);
      expect([report.payload !== null, report.verdict.subtype === 'success']).toEqual([isTaken, isTaken]);
      const [asRead, whenTold = asRead] = situation[2];
      expect([at, coverageOf(judged)]).toEqual([at, rejections.length === 0 ? asRead : whenTold]);
      // A payload is sent back only where the model can show more.
      expect(report.rejections).toBe(rejections.length);
      expect(rejections.length).toBeLessThanOrEqual(asRead.startsWith('measured') ? 3 : 0);
      const shown = report.evidence?.coverage?.files.shown ?? 0;
      const share = asRead.startsWith('unknown') ? '' : String(shown / 40);
      expect(stepOutputs(report).outputs.get('run-coverage')).toBe(share);
    }
  });

  it.each(SCHEMAS)('a payload that does not meet its gate is taken at once: %s', async (name) => {
    for (const situation of SITUATIONS.slice(3, 5)) {
      const judged = await judge(situation, name, '1', { passed: false });
      expect(endOf(judged)).toBe('failure gate_not_met 1');
      expect([judged.report.rejections, judged.report.payload?.['passed']]).toEqual([0, false]);
    }
  });

  it.each<[string, SchemaName, number, string]>([
    ['auto', 'code-review', 5_000, 'success accepted 0, measured, 40 of 40 files, 0 sent back'],
    ['1', 'your own', 5_000, 'success accepted 0, measured, 40 of 40 files, 0 sent back'],
    // The provider reports less than a tenth of it: it cut the message.
    ['auto', 'code-review', 100, 'inconclusive unsupported 1, measured, 0 of 40 files, 3 sent back'],
    ['auto', 'verdict', 5_000, 'inconclusive unsupported 1, measured, 0 of 40 files, 1 sent back'],
  ])(
    'the diff in the first message: %s with %s and %s tokens',
    async (setting, name, inputTokens, expected) => {
      const inputs = { schema: name === 'your own' ? OWN : name, gate: 'passed', 'min-coverage': setting };
      const script = [{ ...submits(name), usage: { inputTokens, outputTokens: 10 } }];
      const judged = await converse(script, inputs, known);
      expect(`${endOf(judged)}, ${coverageOf(judged)}, ${judged.rejections.length} sent back`).toBe(expected);
    },
  );
});
