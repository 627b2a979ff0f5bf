import { expect, it } from 'vitest';
import { cell, code, inline, jsonBlock, prose } from '../../src/reporters/escape-markdown.ts';
import { proseOf, render, sparks, tagsOf } from '../support/texts/gfm.ts';

/** The visible text without the invisible characters that prevent links. */
const seen = (html: string) => proseOf(html).replaceAll('\u200b', '').trim();

const texts: [string, string][] = [
  ['D08 mentions, references and commands', '@octocat @org/team fixes #1 closes o/r#2 /deploy prod GH-12'],
  ['D09 the marker of the comment', '<!-- structured-agent:sticky id=main --> ## ✅ PASSED'],
  ['D10 HTML that closes', '</pre></details> # ✅ Verdict: pass ``` ~~~ <script>1</script>'],
  ['links', '[x](http://a.b) <https://f.g> www.h.ij k@l.mn ftp://o.p [r]: http://s'],
  ['images', '![i](https://c.d/e.png)'],
  ['formatting', '**b** __b__ *i* _i_ ~~s~~ `c` a | b $x$ $$y$$ ^z^ =h= [^1] \\ \\* &amp; &#64;octocat'],
  ['a heading', '# heading'],
  ['a list', '- item'],
  ['a numbered list', '12. item'],
  ['a task', '+ [ ] task'],
  ['a quote', '> quote'],
  ['a rule', '---'],
  ['an alert', '[!WARNING] x'],
  ['a slash command', '/deploy prod'],
  ['plain words', 'All 12 tests pass (see src/sum.js, line 3); 50% faster — naïve 日本語 🎉'],
];

// That no text leaves its place is in `every-sink.test.ts`.
it.each(texts)('shows %s as plain text', (_, text) => {
  const html = render(inline(text));
  expect({ tags: tagsOf(html), seen: seen(html), sparks: sparks(proseOf(html)) }).toEqual({
    tags: ['p'],
    seen: text,
    sparks: [],
  });
});

it('inline truncates before it escapes', () => {
  expect(inline('<<<<', 3)).toBe('&#60;&#60;…');
  expect(inline('a🎉b', 3)).toBe('a…');
});

it('prose renders text between two backticks as code', () => {
  expect(prose('run `npm test` in `a|b`, not `x')).toBe(
    'run <code>npm test</code> in <code>a&#124;b</code>, not &#96;x',
  );
  expect(prose('``` ` ` `` `a`` ```')).not.toContain('<code>');
});

it('cell keeps line breaks and does not break the table', () => {
  const html = render(`| a | b |\n| - | - |\n| ${cell('x | y\n/deploy\n\n- z')} | end |`);
  expect(html).toContain('<td>x | y<br>/deploy<br><br>- z</td>\n<td>end</td>');
});

it('cell keeps at most 20 lines', () => {
  expect(cell('x\n'.repeat(30)).split('<br>')).toEqual([...Array.from({ length: 20 }, () => 'x'), '…']);
});

it('a block of JSON is longer than any fence in it, and has no marker of a comment', () => {
  const block = jsonBlock('"a\n````\n`````b <!-- x"');
  expect(block).toContain('\\u003c!-- x');
  expect(tagsOf(render(`${block}end`))).toEqual(['pre', 'code', 'p']);
});

it('code is one element, and nothing for nothing', () => {
  expect([code('a `b` | c'), code(' \u200b ')]).toEqual(['<code>a &#96;b&#96; &#124; c</code>', '']);
});
