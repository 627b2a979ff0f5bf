import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatOutputs, stepOutputs } from '../../src/reporters/outputs.ts';
import { shellSafeJson } from '../../src/text/sanitize.ts';
import type { Coverage, JsonObject } from '../../src/types.ts';
import { parseOutputFile } from '../support/fakes/runner/runner.ts';
import { textOf } from '../support/surroundings.ts';
import { sampleCoverage, sampleReport, unpublished } from './sample-report.ts';

const RUN_OUTPUTS = {
  'run-conclusion': 'success',
  'run-reason': 'accepted',
  'run-exit-code': '0',
  'run-turns': '2',
  'run-input-tokens': '3000',
  'run-output-tokens': '210',
  'run-cost-usd': '0.0042',
  'run-sandbox': 'bwrap',
  'run-coverage': '',
  'run-results': '/tmp/results',
  'run-result-file': '/tmp/results/result.json',
  'run-sarif-file': '/tmp/results/findings.sarif',
  'run-patch-file': '',
};

it.each<[string, Coverage | null, string]>([
  ['all is shown', sampleCoverage(), '1'],
  ['nothing has to be seen', sampleCoverage({ required: 0, shown: 0 }), '1'],
  ['almost all is shown', sampleCoverage({ required: 50_000, shown: 49_998 }), '0.9999'],
  ['a share is an exact decimal', sampleCoverage({ required: 100, shown: 57 }), '0.57'],
  ['it is unknown', { ...sampleCoverage(), status: 'unknown' }, ''],
  ['it is not there', null, ''],
])('the outputs state the coverage where %s', (_, coverage, expected) => {
  const evidence = { context: 'complete', toolCalls: 1, coverage, findings: [] } as const;
  expect(stepOutputs(sampleReport({ evidence })).outputs.get('run-coverage')).toBe(expected);
});

it('the outputs of unknown facts are empty, and a cost is a plain decimal', () => {
  const { outputs } = stepOutputs(sampleReport({ ...unpublished('No.'), costUsd: null, results: null }));
  // The names of the others are those of the manifests, in `e2e/endings.test.ts` and `e2e/merge.test.ts`.
  expect([...outputs.keys()]).toEqual(Object.keys(RUN_OUTPUTS));
  for (const name of ['run-cost-usd', 'run-results', 'run-result-file', 'run-sarif-file'])
    expect(outputs.get(name), name).toBe('');
  const cost = (costUsd: number) => stepOutputs(sampleReport({ costUsd })).outputs.get('run-cost-usd');
  expect([0, 10, 0.0000001, 0.000012, 1234.5].map(cost)).toEqual(['0', '10', '0', '0.000012', '1234.5']);
});

it('P5 a large value is left out with a warning that names where to find it', () => {
  const big = 'é'.repeat(32 * 1024);
  const payload = { fits: big, over: `${big}x`, list: ['y'.repeat(1024 * 1024)] };
  const { outputs, warnings } = stepOutputs(sampleReport({ payload, outputNames: Object.keys(payload) }));
  expect([...outputs].filter(([name]) => !name.startsWith('run-'))).toEqual([['fits', big]]);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^The output structured_output is left out: it has 1,\d{3},\d{3} bytes, and 1,048,576 bytes are the most\. .*run-result-file/,
    ),
    expect.stringMatching(/^The output over is left out: it has 65,537 bytes, and 65,536 bytes/),
    expect.stringMatching(/^The output list is left out/),
  ]);
});

it('P4 D05 any payload is read back as exactly the expected outputs', () => {
  const pieces =
    'EOF end_ = << a<<E ghadelimiter_0 \0 \u2028 \ufeff __proto__ run-turns Run-x RUN_x structured_output a.b';
  const breaks = ['\n', '\r', '\r\n', '\nEOF\n', '\nghadelimiter_0\n', 'conclusion=success'];
  const other = fc.string({ unit: 'grapheme', maxLength: 4 });
  const text = textOf([...pieces.split(' '), ...breaks], { other });
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.jsonValue({ maxDepth: 1 }));
  const payload = fc.dictionary(text, value, { maxKeys: 5 });
  fc.assert(
    fc.property(payload, text, (value, summary) => {
      const plain: JsonObject = JSON.parse(JSON.stringify({ summary, ...value }));
      const outputNames = [...Object.keys(plain), 'absent', 'constructor'];
      const { outputs } = stepOutputs(sampleReport({ payload: { ...plain, Extra: 1 }, outputNames }));
      const expected = new Map(
        Object.entries({ ...RUN_OUTPUTS, structured_output: shellSafeJson({ ...plain, Extra: 1 }) }),
      );
      for (const [name, each] of Object.entries(plain)) {
        if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) || /^run-|^structured_output$/i.test(name)) continue;
        expected.set(name, typeof each === 'string' ? each : shellSafeJson(each));
      }
      for (const eol of ['\n', '\r\n']) {
        const block = formatOutputs(outputs, eol);
        expect(parseOutputFile(block, eol === '\r\n')).toEqual(expected);
      }
    }),
    { numRuns: 300 },
  );
});
