import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  embedded,
  evaluate,
  nodesOf,
  parseExpression,
  pathOf,
  type Value,
} from '../../../src/commands/check/expression.ts';

function result(text: string, known: Readonly<Record<string, Value>> = {}): Value {
  const root = parseExpression(text);
  if (root === null) throw new Error(`no expression: ${text}`);
  return evaluate(root, (node) => known[pathOf(node)?.join('.') ?? '']);
}

describe('an expression', () => {
  it.each([
    ["'it''s ''so'''", "it's 'so'"],
    ["'a\nb' == 'a b'", false],
    ['\n1\r\n&& 2 &&\n3', 3],
    ['1 && 0 && github.ref', 0],
    ['github.ref && 1 && false', false],
    ['0x10', 16],
    ['-2.5e1', -25],
    ['true && 1', 1],
    ["'' || 'b'", 'b'],
    ['!1 == false', true],
    ['!0 && !null', true],
    ['1 < 2 == true', true],
    ["'A' == 'a'", true],
    ["'' == 0", true],
    ["'' == false", true],
    ["'false' == false", false],
    ["'true' == true", false],
    ['null == 0', true],
    ["'' < 5", true],
    ["'x' >= 0", false],
    ["contains('Hello', 'ELL')", true],
    ["!startsWith('abc', 'b')", true],
    ["(1 || 2) && 'x'", 'x'],
    ['always()', true],
    ['!cancelled()', true],
    ['github.ref && false', false],
    ['github.ref || true', true],
    ['github.ref && true', undefined],
    ["a['b'].c == 'v'", undefined],
  ])('%s evaluates to %s', (text, value) => {
    expect(result(text)).toBe(value);
  });

  it.each([
    '',
    '   ',
    '1 +',
    'a..b',
    '(a',
    'f(a',
    'f(,)',
    "contains('a')",
    `'${'a'.repeat(21_000)}'`,
    `a${' && a'.repeat(1000)}`,
    "'open",
    'a b',
    'a[',
    '&& a',
    `${'('.repeat(500)}a`,
  ])('parseExpression returns null for %j', (text) => {
    expect(parseExpression(text)).toBeNull();
  });

  it('has the path of each context it reads, however it is spelled', () => {
    const paths = ["steps['Re-View'].outputs.x", 'STEPS.re-view.Outputs["x"]', 'steps.a.*', 'a[b.c]'].map(
      (text) => {
        const root = parseExpression(text);
        return root === null ? null : pathOf(root);
      },
    );
    expect(paths).toEqual([['steps', 're-view', 'outputs', 'x'], null, ['steps', 'a', '*'], null]);
  });

  it.each([
    ["f( (a) , ('b') ) == 1", "f( (a) , ('b') )"],
    ['(a.b)[ 1 ] == 1', '(a.b)[ 1 ]'],
    ['a[*].b.* == 1', 'a[*].b.*'],
    ['!(a) == 1', '!(a)'],
    ["'a\nb' == 1", "'a\nb'"],
  ])('in %j the left operand has its position in the text', (text, left) => {
    const root = parseExpression(text);
    const node = root?.kind === 'comparison' ? root.operands[0] : null;
    expect(text.slice(node?.at, node?.end)).toBe(left);
  });

  it('is found between ${{ and }}, even with }} in quotes', () => {
    expect(embedded("x ${{ a }} y ${{ '}}' }} ${{ open")).toEqual([
      { text: ' a ', at: 5 },
      { text: " '}}' ", at: 16 },
    ]);
  });

  it('never makes the parser throw, and each node has its position in the text', () => {
    const part = fc.constantFrom(
      'a',
      '.',
      "'x'",
      '==',
      '!=',
      '!',
      '(',
      ')',
      '[',
      ']',
      '&&',
      '||',
      '1',
      ',',
      '*',
      ' ',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('')),
        ),
        (text) => {
          const root = parseExpression(text);
          if (root === null) return;
          for (const node of nodesOf(root)) {
            expect(node.at).toBeLessThan(node.end);
            const part = text.slice(node.at, node.end);
            expect(part.trim()).toBe(part);
            expect(parseExpression(part)).not.toBeNull();
            evaluate(node, () => 'x');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
