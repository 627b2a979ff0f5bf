import { chownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createCapture } from '../../../src/sandbox/exec/bounded-output.ts';
import { TOOL } from '../../../src/text/limits.ts';
import { makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();

async function capture(chunks: readonly Buffer[], maxBytes: number) {
  const taken = createCapture(maxBytes, folder);
  for (const chunk of chunks) await taken.add(chunk);
  return taken.finish();
}

it('returns output within the limit unchanged, without a file', async () => {
  expect(await capture([Buffer.from('abc'), Buffer.from('déf')], 7)).toEqual({
    text: 'abcdéf',
    totalBytes: 7,
    spillName: null,
    keptBytes: 7,
  });
  expect(readdirSync(folder)).toEqual([]);
});

it('keeps the head and tail of longer output and writes all of it to a file private to the owner', async () => {
  const text = `${'a'.repeat(50)}${'b'.repeat(1000)}${'c'.repeat(50)}`;
  const result = await capture([Buffer.from(text)], 100);
  expect(result.text).toBe(`${'a'.repeat(50)}\n[… 1000 bytes left out here …]\n${'c'.repeat(50)}`);
  const path = join(folder, result.spillName ?? '');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([text, 0o600]);
});

if (process.getuid?.() === 0)
  it('as root, gives the file to the owner of the directory, who runs the commands', async () => {
    chownSync(folder, 65534, 65533);
    const { spillName } = await capture([Buffer.from('abc')], 2);
    chownSync(folder, 0, 0);
    const { uid, gid, mode } = statSync(join(folder, spillName ?? ''));
    expect([uid, gid, mode & 0o777]).toEqual([65534, 65533, 0o600]);
  });

it('splits no character and keeps the file complete, however the output is chunked', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\n'), minLength: 1, maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (whole, max, size) => {
        const bytes = Buffer.from(whole);
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        const result = await capture(chunks, max);
        expect(result.text).not.toContain('\ufffd');
        expect(result.totalBytes).toBe(bytes.length);
        if (result.spillName === null) expect(result.text).toBe(whole);
        else {
          expect(readFileSync(join(folder, result.spillName), 'utf8')).toBe(whole);
          const [head = '', tail = ''] = result.text.split(/\n\[… \d+ bytes left out here …\]\n/u);
          expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
          expect(Buffer.byteLength(head) + Buffer.byteLength(tail)).toBeLessThanOrEqual(max);
        }
      },
    ),
    { numRuns: 60 },
  );
});

it('replaces invalid UTF-8 with replacement characters', async () => {
  expect((await capture([Buffer.from([0x61, 0xff, 0x62])], 10)).text).toBe('a\ufffdb');
});

it('keeps a flood of output up to a limit and counts all of it', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const result = await capture(
    Array.from({ length: 66 }, () => chunk),
    1000,
  );
  expect([result.totalBytes, result.keptBytes]).toEqual([66 * chunk.length, TOOL.spill]);
  expect(statSync(join(folder, result.spillName ?? '')).size).toBe(TOOL.spill);
});
