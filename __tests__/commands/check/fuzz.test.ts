import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkIn, repository } from './workflow-world.ts';

const EXAMPLES = path.join(import.meta.dirname, '../../../examples');
const examples = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.yml'))
  .map((name) => readFileSync(path.join(EXAMPLES, name), 'utf8').split('\n'));
const bits = [
  'null',
  '[]',
  '{}',
  '- x',
  "${{ '",
  '*a',
  '&a',
  '!',
  "!= 'false'",
  '\u0000',
  '<<: *a',
  '? ',
  '|',
  '"',
  'steps.',
];

/** A line removed, duplicated, indented or replaced, or with text inserted. */
const change = fc.record({
  at: fc.nat(200),
  how: fc.constantFrom('drop', 'twice', 'indent', 'insert', 'replace'),
  bit: fc.constantFrom(...bits),
  column: fc.nat(40),
});

it('a mangled workflow never crashes the check, and each finding has a position in the file', async () => {
  const folder = repository({});
  const mangled = fc.tuple(fc.constantFrom(...examples), fc.array(change, { minLength: 1, maxLength: 5 }));
  await fc.assert(
    fc.asyncProperty(mangled, async ([lines, changes]) => {
      const text = [...lines];
      for (const { at, how, bit, column } of changes) {
        const line = text[at % text.length] ?? '';
        const inserted = `${line.slice(0, column)}${bit}${line.slice(column)}`;
        const other = {
          drop: [],
          twice: [line, line],
          indent: [`  ${line}`],
          insert: [inserted],
          replace: [bit],
        };
        text.splice(at % text.length, 1, ...other[how]);
      }
      writeFileSync(path.join(folder, 'w.yml'), text.join('\n'));
      const { code, out, err } = await checkIn(folder, 'w.yml', '--output-format', 'json');
      expect(err).toBe('');
      const report: { ok: boolean; findings: { line: number; column: number }[] } = JSON.parse(out);
      expect(code).toBe(report.ok ? 0 : 52);
      for (const { line, column } of report.findings) {
        expect(line).toBeLessThanOrEqual(text.length);
        expect(column).toBeLessThanOrEqual((text[line - 1]?.length ?? 0) + 1);
      }
    }),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 60) },
  );
});
