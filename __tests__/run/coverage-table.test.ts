/** What each setting does, for a change of 40 files: the table of docs/evidence.md, and each of its cells as a run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { stepOutputs } from '../../src/reporters/outputs.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  coverageOf,
  endOf,
  listedFiles,
  onPullRequest,
  type PresetName,
  readDiff,
  submit,
} from '../support/worlds/change.ts';
import { converse } from '../support/worlds/run.ts';

const TABLE = `
| \`min-coverage\` | \`schema\` | all 40 | 20, and 20 when told | 20 | none | unknown change | partly known change |
| --- | --- | --- | --- | --- | --- | --- | --- |
| \`auto\` | \`code-review\`, \`security-review\` | accepted | accepted | unsupported | unsupported | accepted | accepted |
| \`auto\` | \`verdict\`, \`test-report\` | accepted | accepted | accepted | accepted | accepted | accepted |
| \`off\` | any | accepted | accepted | accepted | accepted | accepted | accepted |
| \`0.5\` | \`code-review\`, \`security-review\` | accepted | accepted | unsupported | unsupported | unsupported | unsupported |
| \`0.5\` | \`verdict\`, \`test-report\` | accepted | accepted | accepted | unsupported | unsupported | unsupported |
| \`1\` | any | accepted | accepted | unsupported | unsupported | unsupported | unsupported |
`;
const PRESETS: readonly PresetName[] = ['code-review', 'security-review', 'verdict', 'test-report'];
const FILES = listedFiles(40);
const known = onPullRequest(FILES);

interface Situation {
  /** What the model reads before it submits, and when the payload is sent back. */
  readonly reads: readonly (Reply | 'submit')[];
  readonly world: Parameters<typeof converse>[2];
  /** The coverage of a run that is not told to read on, and of one that is. */
  readonly coverage: readonly [string, string];
}

const of = (files: number, status = 'measured') => `${status}, ${files} of 40 files`;
const twice = (text: string) => [text, text] as const;
const half = readDiff(0, 20);
/** In the order of the columns. */
const SITUATIONS: readonly Situation[] = [
  { reads: [half, readDiff(20, 20)], world: known, coverage: twice(of(40)) },
  { reads: [half, 'submit', readDiff(20, 20)], world: known, coverage: [of(20), of(40)] },
  { reads: [half], world: known, coverage: twice(of(20)) },
  { reads: [], world: known, coverage: twice(of(0)) },
  { reads: [half], world: {}, coverage: twice('unknown, 0 of 0 files') },
  {
    reads: [half, readDiff(20, 20)],
    world: onPullRequest(FILES, 'GitHub lists 3000 files.'),
    coverage: twice(of(40, 'partial')),
  },
];

interface Row {
  readonly setting: string;
  readonly presets: readonly PresetName[];
  readonly ends: readonly string[];
}

const rows: readonly Row[] = TABLE.trim()
  .split('\n')
  .slice(2)
  .map((line) => {
    const [setting = '', schemas = '', ...ends] = line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', ''));
    const presets = PRESETS.filter((name) => schemas === 'any' || schemas.split(', ').includes(name));
    return { setting, presets, ends };
  });
/** What `auto` stands for differs from preset to preset; a typed setting is the same for two of them. */
const cases = rows.flatMap(({ setting, presets, ends }) =>
  presets
    .filter((preset) => setting === 'auto' || preset === 'code-review' || preset === 'verdict')
    .map((preset) => [setting, preset, ends] as const),
);

/** What makes a payload of a preset fail its gate. */
const RED: Readonly<Record<PresetName, object>> = {
  verdict: { passed: false },
  'code-review': { passed: false, complete: false },
  'security-review': { passed: false, complete: false },
  'test-report': { passed: false, failure_count: 1, failures: [{ test: 'adds', message: 'is 3' }] },
};

function scriptOf({ reads }: Situation, preset: PresetName, payload = {}): readonly Reply[] {
  return [...reads, 'submit' as const].map((each) => (each === 'submit' ? submit(preset, payload) : each));
}

describe('what each setting does', () => {
  it('is in the documentation as it is here', () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../docs/evidence.md'), 'utf8');
    expect(text).toContain(TABLE);
    for (const { ends } of rows) expect(ends).toHaveLength(SITUATIONS.length);
  });

  it.each(cases)('min-coverage: %s with %s', async (setting, preset, ends) => {
    const inputs = { schema: preset, 'min-coverage': setting };
    for (const [at, situation] of SITUATIONS.entries()) {
      const judged = await converse(scriptOf(situation, preset), inputs, situation.world);
      const end = ends[at] === 'accepted' ? 'success accepted 0' : 'inconclusive unsupported 1';
      expect([at, endOf(judged)]).toEqual([at, end]);
      const { report, rejections } = judged;
      expect(report.payload === null).toBe(ends[at] === 'unsupported');
      expect(report.verdict.subtype).toBe(ends[at] === 'unsupported' ? 'error_evidence' : 'success');
      expect([at, coverageOf(judged)]).toEqual([at, situation.coverage[rejections.length === 0 ? 0 : 1]]);
      // A payload is sent back only where the model can show more.
      expect(report.rejections).toBe(rejections.length);
      const shown = report.evidence?.coverage?.files.shown ?? 0;
      const share = stepOutputs(report).outputs.get('run-coverage');
      expect(share).toBe(situation.world?.findContext === undefined ? '' : String(shown / 40));
    }
  });

  it.each(PRESETS)('a payload that does not meet its gate is taken at once: %s', async (preset) => {
    const inputs = { schema: preset, 'min-coverage': '1' };
    for (const situation of SITUATIONS.slice(3, 5)) {
      const judged = await converse(scriptOf(situation, preset, RED[preset]), inputs, situation.world);
      expect(endOf(judged)).toBe('failure gate_not_met 1');
      expect([judged.report.rejections, judged.report.payload?.['passed']]).toEqual([0, false]);
    }
  });
});
