import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Node, readYaml, valueAt } from '../../../src/commands/check/yaml-file.ts';

/** The plain value of a node, as the library would give it. */
function toPlain(node: Node | null): unknown {
  if (node === null || node.kind === 'scalar') return node?.value ?? null;
  if (node.kind === 'list') return node.items.map(toPlain);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, toPlain(value)]));
}

describe('an alias', () => {
  it.each([
    ['refers to the last anchor before it', '- &a 1\n- *a\n- &a 2\n- *a\n'],
    ['may refer to a key, or to part of another anchor', 'a: &x {b: &y [1]}\n&z c: *x\nd: [*y, *z]\n'],
    ['is not affected by anchors inside another alias', '- &a {x: &b 1}\n- &b 2\n- *a\n- *b\n'],
    ['has the same value wherever it is repeated', '- &b 1\n- &a [*b]\n- &b 2\n- *a\n- *b\n'],
  ])('%s', async (_, text) => {
    const read = await readYaml('a.yml', text);
    expect(read.ok ? toPlain(read.file.root) : read.problem).toEqual(parse(text));
  });

  it('is refused when it refers to itself or expands endlessly', async () => {
    const doubling = Array.from({ length: 30 }, (_, at) => `- &a${at + 1} [*a${at}, *a${at}]`).join('\n');
    for (const text of ['&a [*a]', `- &a0 1\n${doubling}`])
      expect(await readYaml('a.yml', text)).toMatchObject({
        ok: false,
        problem: expect.stringContaining('more parts'),
      });
  });
});

describe('the position of a part of a scalar', () => {
  it.each([
    ['a: "\\x78 x x"', 'x', 2, 10],
    ['a: aaa aa', 'aa', 4, 8],
    ['a: |\n  b\n  b', 'b', 2, 3],
    ['a: b', '', 1, 4],
  ])('of %j, part %j', async (text, part, offset, column) => {
    const { file, scalar } = await readA(text);
    expect(file.locatePart(scalar, offset, part).column).toBe(column);
  });

  it('falls back to the scalar’s position after many searches, which avoids quadratic time', async () => {
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

describe('a duplicate key', () => {
  it.each([
    ['a: 1\nb: 2\na: 3\n', 3, 1],
    ['a: {b: 1, "b": 2}\n', 1, 11],
    ['a:\n  - c: 1\n    c: 2\n', 3, 5],
  ])('in %j is refused at its second position', async (text, line, column) => {
    expect(await readYaml('a.yml', text)).toEqual({
      ok: false,
      location: { file: 'a.yml', line, column },
      problem: 'Map keys must be unique',
      fix: 'Keep one of the two keys.',
    });
  });

  it('is accepted in another mapping, or as another type', async () => {
    expect(await readYaml('a.yml', 'a: {b: 1}\nc: {b: 2}\n1: x\n"1": y\n')).toMatchObject({ ok: true });
  });
});

it('refuses a text with more parts than a workflow can have, even when few of them are values', async () => {
  for (const piece of ['{}\n', '*a ', '? ', '\n'])
    expect(await readYaml('a.yml', piece.repeat(260_000))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('more parts'),
    });
  const comment = `# ${'x'.repeat(80)}\n`;
  const long = `${comment.repeat(5_000)}a: |\n${'  echo a\n'.repeat(10_000)}b:\n${'  - {name: a, run: b}\n'.repeat(500)}`;
  expect(await readYaml('a.yml', long)).toMatchObject({ ok: true });
});
