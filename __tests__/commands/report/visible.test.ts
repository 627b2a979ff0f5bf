import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createShowing, html, verbatim, visible } from '../../../src/commands/report/visible.ts';

describe('visible', () => {
  it.each([
    ['removes a color', 'a\x1b[1;31mred\x1b[0m', 'ared'],
    ['shows another escape sequence', '\x1b]0;title\x07', '⟨ESC⟩]0;title⟨BEL⟩'],
    ['shows NUL', 'a\0b', 'a⟨NUL⟩b'],
    ['shows DEL and C1', '\x7f\x9b', '⟨DEL⟩⟨U+009B⟩'],
    ['shows bidi overrides', 'a\u202eb\u2066c', 'a⟨U+202E⟩b⟨U+2066⟩c'],
    ['shows zero-width characters and BOM', 'a\u200bb\ufeff', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['shows invisible tag characters', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['shows line separators', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['replaces an unpaired surrogate', 'a\ud800', 'a\ufffd'],
    ['keeps line breaks and tabs', 'a\r\nb\tc\n', 'a\nb\tc\n'],
    ['keeps the parts of an emoji', '⚠️ 👩‍💻 👩🏽‍💻 1️⃣', '⚠️ 👩‍💻 👩🏽‍💻 1️⃣'],
    ['shows a joiner anywhere else', 'a\u200db\ufe0f👩\u200d', 'a⟨U+200D⟩b⟨U+FE0F⟩👩⟨U+200D⟩'],
  ])('%s', (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves no control character except tab and line feed in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069\u200b]/u);
        expect(visible(shown)).toBe(shown);
      }),
    );
  });
});

describe('createShowing', () => {
  it('masks a secret that cleaning joins together', () => {
    const showing = createShowing((text) => text.replaceAll('sk-canary', '***'));
    expect(showing.text('sk-\x1b[0mcanary')).toEqual({ text: '***', missing: 0 });
    expect(showing.label('sk-\x1b[0mcanary\n x')).toBe('*** x');
  });

  it('masks before it cuts', () => {
    const showing = createShowing((text) => text.replaceAll('sk-canary', '***'));
    expect(showing.label(`${'x'.repeat(195)}sk-canary`)).not.toContain('sk-');
  });

  it('masks a text of at most its own length, and escapes only what is shown', () => {
    const lengths: number[] = [];
    const showing = createShowing((text) => {
      lengths.push(text.length);
      return text;
    });
    const hidden = '\u200b'.repeat(100_000);
    expect(showing.text(hidden)).toEqual({ text: '⟨U+200B⟩'.repeat(7_500), missing: 92_500 });
    expect(showing.label(hidden)).toBe(`${'⟨U+200B⟩'.repeat(25)}…`);
    expect(Math.max(...lengths)).toBe(100_000);
  });

  it('truncates long texts at a character boundary, and further once much has been shown', () => {
    const showing = createShowing((text) => text);
    const long = showing.text(`${'x'.repeat(59_999)}😀😀`);
    expect(long.text).toBe('x'.repeat(59_999));
    expect(long.missing).toBe(4);
    for (let n = 0; n < 300; n += 1) showing.text('y'.repeat(60_000));
    expect(showing.text('z'.repeat(1_000))).toEqual({ text: 'z'.repeat(400), missing: 600 });
  });
});

describe('html', () => {
  it('escapes interpolated texts, and keeps nested html', () => {
    const inner = html`<b>${'<i>&"\''}</b>`;
    expect(html`<p title="${'"><script>'}">${inner}${[inner, inner]}${null}${3}</p>`.html).toBe(
      '<p title="&quot;&gt;&lt;script&gt;"><b>&lt;i&gt;&amp;&quot;&#39;</b><b>&lt;i&gt;&amp;&quot;&#39;</b><b>&lt;i&gt;&amp;&quot;&#39;</b>3</p>',
    );
  });

  it('keeps verbatim text unescaped', () => {
    expect(html`<style>${verbatim('a > b {}')}</style>`.html).toBe('<style>a > b {}</style>');
  });
});
