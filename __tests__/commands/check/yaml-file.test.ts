import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Node, readYaml, valueAt } from '../../../src/commands/check/yaml-file.ts';

/** What a node stands for, as the library itself would give it. */
function toPlain(node: Node | null): unknown {
  if (node === null || node.kind === 'scalar') return node?.value ?? null;
  if (node.kind === 'list') return node.items.map(toPlain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, toPlain(value)]));
}

describe('an alias', () => {
  it.each([
    ['names the last anchor before it', '- &a 1\n- *a\n- &a 2\n- *a\n'],
    ['may name a key, or a part of a part', 'a: &x {b: &y [1]}\n&z c: *x\nd: [*y, *z]\n'],
    [
      'is not turned to another anchor by what an alias in between repeats',
      '- &a {x: &b 1}\n- &b 2\n- *a\n- *b\n',
    ],
    ['means the same wherever it is repeated', '- &b 1\n- &a [*b]\n- &b 2\n- *a\n- *b\n'],
  ])('%s', async (_, text) => {
    const read = await readYaml('a.yml', text);
    expect(read.ok ? toPlain(read.file.root) : read.problem).toEqual(parse(text));
  });

  it('of itself, or of itself again and again, is no workflow', async () => {
    const doubling = Array.from({ length: 30 }, (_, at) => `- &a${at + 1} [*a${at}, *a${at}]`).join('\n');
    for (const text of ['&a [*a]', `- &a0 1\n${doubling}`])
      expect(await readYaml('a.yml', text)).toMatchObject({
        ok: false,
        problem: expect.stringContaining('more parts'),
      });
  });
});

describe('the place of a part of a scalar', () => {
  it.each([
    ['a: "\\x78 x x"', 'x', 2, 10],
    ['a: aaa aa', 'aa', 4, 8],
    ['a: |\n  b\n  b', 'b', 2, 3],
    ['a: b', '', 1, 4],
  ])('%j, %j', async (text, part, offset, column) => {
    const { file, scalar } = await readA(text);
    expect(file.locatePart(scalar, offset, part).column).toBe(column);
  });

  it('is that of the scalar once much was searched: many parts of a long text would take the square of it', async () => {
    const text = 'a b '.repeat(100_000);
    const { file, scalar } = await readA(`a: "${text}"`);
    const columns = Array.from(
      { length: 100 },
      (_, at) => file.locatePart(scalar, text.length - 4 - 4 * at, 'a').column,
    );
    expect(columns[0]).toBe(text.length + 1);
    expect(columns.at(-1)).toBe(4);
  });
});

/** A file and the scalar under its key `a`. */
async function readA(text: string) {
  const read = await readYaml('a.yml', text);
  const scalar = read.ok ? valueAt(read.file.root, 'a') : null;
  if (!read.ok || scalar?.kind !== 'scalar') throw new Error('There is no scalar.');
  return { file: read.file, scalar };
}

describe('a key that is given twice', () => {
  it.each([
    ['a: 1\nb: 2\na: 3\n', 3, 1],
    ['a: {b: 1, "b": 2}\n', 1, 11],
    ['a:\n  - c: 1\n    c: 2\n', 3, 5],
  ])('%j is refused at the second place', async (text, line, column) => {
    expect(await readYaml('a.yml', text)).toEqual({
      ok: false,
      location: { file: 'a.yml', line, column },
      problem: 'Map keys must be unique',
      fix: 'Keep one of the two keys.',
    });
  });

  it('is none where the other stands in another mapping, or is of another type', async () => {
    expect(await readYaml('a.yml', 'a: {b: 1}\nc: {b: 2}\n1: x\n"1": y\n')).toMatchObject({ ok: true });
  });
});

it('a text of more pieces than a workflow can have is refused, however few of them are values', async () => {
  for (const piece of ['{}\n', '*a ', '? ', '\n'])
    expect(await readYaml('a.yml', piece.repeat(260_000))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('more parts'),
    });
  const comment = `# ${'x'.repeat(80)}\n`;
  const long = `${comment.repeat(5_000)}a: |\n${'  echo a\n'.repeat(10_000)}b:\n${'  - {name: a, run: b}\n'.repeat(500)}`;
  expect(await readYaml('a.yml', long)).toMatchObject({ ok: true });
});
