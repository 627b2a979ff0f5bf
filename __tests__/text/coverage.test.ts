import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageJson, hasPlausibleCounts, readCoverage } from '../../src/text/coverage.ts';
import type { Coverage, JsonObject, NotRequired } from '../../src/types.ts';
import { sampleCoverage, unseenCoverage } from '../reporters/sample-coverage.ts';

const same = (text: string) => text;
const written = (coverage: Coverage, mask = same) => ({ coverage: coverageJson(coverage, mask) });

const kinds = [
  'lock_file',
  'binary',
  'generated',
  'vendored',
  'outside_working_directory',
] as const satisfies readonly NotRequired[];
const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const unseenFile = fc
  .tuple(path, fc.nat(9), fc.nat(9))
  .map(([name, one, other]) => ({ path: name, hunks: one + other, shownHunks: one }));
/** Any coverage that this program may write. */
const coverages: fc.Arbitrary<Coverage> = fc
  .record({
    status: fc.constantFrom('measured', 'partial', 'unknown'),
    why: fc.option(fc.string({ maxLength: 60 })),
    unseen: fc.array(unseenFile, { maxLength: 12 }),
    notRequired: fc.array(fc.record({ path, why: fc.constantFrom(...kinds) }), { maxLength: 12 }),
    shown: fc.nat(3_000),
    more: fc.nat(3_000),
  })
  .map(({ status, why, unseen, notRequired, shown, more }) => ({
    status,
    why,
    files: {
      changed: shown + unseen.length + more + notRequired.length,
      required: shown + unseen.length + more,
      shown,
      unseen,
      notRequired,
    },
  }));

describe('coverage in an envelope', () => {
  it('is read back as it was written', () => {
    fc.assert(
      fc.property(coverages, (coverage) => {
        const read = readCoverage(written(coverage));
        expect(read).toEqual(coverage);
        expect(read !== undefined && hasPlausibleCounts(read)).toBe(true);
      }),
    );
  });

  it('has masked paths of bounded length, and bounded lists', () => {
    const unseen = Array.from({ length: 201 }, (_, at) => ({
      path: `hunter2/${at}${'x'.repeat(5_000)}`,
      hunks: 1,
      shownHunks: 0,
    }));
    const notRequired = unseen.map(({ path }) => ({ path, why: 'binary' as const }));
    const coverage = sampleCoverage({
      status: 'partial',
      why: `hunter2 ${'y'.repeat(600)}`,
      files: { changed: 999, required: 500, shown: 1, unseen, notRequired },
    });
    const text = JSON.stringify(written(coverage, (each) => each.replaceAll('hunter2', '***')));
    expect(text).not.toContain('hunter2');
    const read = readCoverage(JSON.parse(text));
    expect(read?.files.unseen).toHaveLength(200);
    expect(read?.files.notRequired).toHaveLength(200);
    expect(Math.max(...(read?.files.unseen ?? []).map(({ path }) => path.length))).toBe(4_096);
    expect(read?.why).toHaveLength(500);
    expect(read !== undefined && hasPlausibleCounts(read)).toBe(true);
  });

  const changed = (more: JsonObject): JsonObject => ({
    coverage: { ...(coverageJson(unseenCoverage, same) as JsonObject), ...more },
  });
  it.each<[string, JsonObject]>([
    ['is absent', {}],
    ['is null', { coverage: null }],
    ['is a list', { coverage: [] }],
    ['has an unknown status', changed({ status: 'most' })],
    ['has an inherited status', changed({ status: 'constructor' })],
    ['has no files', changed({ files: null })],
    ['has half a file', changed({ files: { changed: 2, required: 1.5, shown: 1 } })],
  ])('is none if it %s', (_, evidence) => {
    expect(readCoverage(evidence)).toBeUndefined();
  });

  it('is read without files that are not of the documented form', () => {
    const files = {
      ...{ changed: 9, required: 8, shown: 1 },
      unseen: [
        1,
        { path: 'a' },
        { path: 'b', hunks: 1, shown_hunks: 0 },
        { path: 3, hunks: 1, shown_hunks: 0 },
      ],
      not_required: [{ path: 'c', why: 'toString' }, { path: 'd', why: 'binary' }, null],
    };
    expect(readCoverage(changed({ files }))?.files).toMatchObject({
      unseen: [{ path: 'b', hunks: 1, shownHunks: 0 }],
      notRequired: [{ path: 'd', why: 'binary' }],
    });
  });

  it.each([
    { changed: 42 },
    { shown: 44 },
    { shown: 42 },
    { changed: 47 },
    { unseen: [{ path: 'a', hunks: 1, shownHunks: 2 }] },
  ])('cannot be true with %j', (files) => {
    expect(hasPlausibleCounts(unseenCoverage)).toBe(true);
    expect(hasPlausibleCounts({ ...unseenCoverage, files: { ...unseenCoverage.files, ...files } })).toBe(
      false,
    );
  });
});
