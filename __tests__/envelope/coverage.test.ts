import fc from 'fast-check';
import { expect, it } from 'vitest';
import { evidenceOf } from '../../src/envelope/envelope.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Coverage } from '../../src/types.ts';
import { sampleCoverage } from '../reporters/sample-coverage.ts';
import { sampleReport } from '../reporters/sample-report.ts';

/** Returns a coverage as a reader of the envelope gets it. */
function readBack(coverage: Coverage, mask = (text: string) => text): Coverage | null | undefined {
  const evidence = { context: 'none', toolCalls: 0, findings: [], coverage } as const;
  return evidenceOf(JSON.parse(JSON.stringify(envelope(sampleReport({ evidence }), mask))))?.coverage;
}

const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const files = fc.record({
  changed: fc.nat(),
  required: fc.nat(),
  shown: fc.nat(),
  unseen: fc.array(path, { maxLength: 12 }),
  notRequired: fc.array(fc.record({ path, why: fc.constantFrom('lock_file', 'outside_working_directory') })),
});

it('coverage is read back from an envelope as it was written', () => {
  const status = fc.constantFrom('measured', 'partial', 'unknown');
  const why = fc.option(fc.string({ maxLength: 60 }));
  fc.assert(
    fc.property(fc.record({ status, why, files }), (coverage) => {
      expect(readBack(coverage)).toEqual(coverage);
    }),
  );
});

it('coverage in an envelope has masked paths of bounded length, and bounded lists', () => {
  const unseen = Array.from({ length: 201 }, (_, at) => `hunter2/${at}${'x'.repeat(5_000)}`);
  const notRequired = unseen.map((path) => ({ path, why: 'binary' as const }));
  const coverage = sampleCoverage({
    status: 'partial',
    why: `hunter2 ${'y'.repeat(600)}`,
    files: { changed: 999, required: 500, shown: 1, unseen, notRequired },
  });
  const read = readBack(coverage, (each) => each.replaceAll('hunter2', '***'));
  expect(JSON.stringify(read)).not.toContain('hunter2');
  expect([read?.files.unseen.length, read?.files.notRequired.length]).toEqual([200, 200]);
  expect(Math.max(...(read?.files.unseen ?? []).map((each) => each.length))).toBe(4_096);
  expect(read?.why).toHaveLength(500);
});
