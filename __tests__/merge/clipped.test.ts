import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped } from '../../src/merge/clipped.ts';
import { createSecrets } from '../../src/text/secrets.ts';

function knowing(...values: readonly string[]) {
  const secrets = createSecrets();
  for (const value of values) secrets.add(value);
  return secrets;
}

const nothing = knowing();
const withoutEnd = (text: string) => text.replace(/…$/u, '');

describe('a clipped text', () => {
  it('is the text itself where it fits, and null for none', () => {
    expect(clipped('as it is', 8, nothing)).toBe('as it is');
    expect(clipped(null, 8, nothing)).toBeNull();
  });

  it.each([null, nothing])('is cut between words where there are blanks', (known) => {
    expect(clipped('one two three', 13, known)).toBe('one two three');
    expect(clipped('one two three', 12, known)).toBe('one two…');
    expect(clipped('one two three', 8, known)).toBe('one two…');
    expect(clipped('onetwothree', 5, known)).toBe('…');
    expect(clipped(null, 5, known)).toBe(null);
  });

  it('holds each word of the text whole or not at all where nobody knows the secrets', () => {
    const word = fc.string({ minLength: 1, maxLength: 30 }).map((text) => text.replace(/\s/gu, '_'));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.nat(100), (words, max) => {
        const text = words.join(' ');
        const cut = clipped(text, max);
        expect(cut.length).toBeLessThanOrEqual(Math.max(text.length, max + 1));
        if (text.length <= max) return;
        const kept = withoutEnd(cut);
        expect(kept === '' || text.startsWith(`${kept} `) || kept === text).toBe(true);
      }),
    );
  });

  it.each([
    ['Chinese', '数据库的查询由文本拼接而成，任何人都可以注入。'],
    ['Japanese', 'クエリはテキストから組み立てられている。'],
    ['Thai', 'แบบสอบถามสร้างจากข้อความ'],
    ['emoji', '🔥🧨🪓🐛🕳'],
  ])('in %s keeps its beginning up to the limit', (_, sentence) => {
    const text = sentence.repeat(400);
    const kept = withoutEnd(clipped(text, 4_000, nothing));
    expect(text.startsWith(kept)).toBe(true);
    expect([kept.isWellFormed(), kept.length]).toEqual([true, 4_000]);
  });

  it('never ends in half of a character', () => {
    expect(clipped('😀😀😀', 3, nothing)).toBe('😀…');
    expect(clipped('😀😀😀', 1, nothing)).toBe('…');
  });

  it('of one minified line ends beside what stands between its tokens', () => {
    const text = 'function(a){return{b:"some-token"}}'.repeat(200);
    const kept = withoutEnd(clipped(text, 4_020, nothing));
    expect(text.startsWith(kept)).toBe(true);
    expect([kept.length, kept.slice(-22)]).toEqual([4_012, 'function(a){return{b:"']);
  });

  it('is cut at a blank rather than within a word, and not where the last blank is far', () => {
    expect(clipped(`Ein Wörterbuch von Änderungsanträgen`, 28, nothing)).toBe('Ein Wörterbuch von…');
    expect(clipped(`注意 ${'数'.repeat(200)}`, 103, nothing)).toBe(`注意 ${'数'.repeat(100)}…`);
  });

  it('holds no part of what looks like a token, though nobody knows it', () => {
    const token = 'eyJhbGciOi.J9-_+/=~%20:@?&!#$^*|,x';
    for (const before of ['see ', '见：', 'a("', '{']) {
      const text = `${before}${token} and more of it`;
      for (let max = before.length; max < before.length + token.length; max += 1)
        expect(withoutEnd(clipped(text, max, nothing))).toBe(before.trimEnd());
    }
  });

  it.each(['\u200b', '\u00ad', '\u{e0020}', '\x1b', '\ufe0f'])(
    'is not cut in a token that what is not seen stands within: %j',
    (unseen) => {
      const text = `见：abcd${unseen}efgh${unseen}ijkl。`;
      for (let max = 2; max < text.length - 1; max += 1) expect(clipped(text, max, nothing)).toBe('见：…');
    },
  );

  it('of one token has nothing', () => {
    expect(clipped('m'.repeat(10_000), 4_000, nothing)).toBe('…');
  });

  it.each(['sk-0123456789', 'p(a)ss;w"ord', '密码密码', 'two words', 'a\nb\nc\n(d)'])(
    'holds the secret %j whole or not at all, wherever the limit is',
    (secret) => {
      const known = knowing(secret);
      const forms = [secret, [...secret].reverse().join(''), encodeURIComponent(secret)];
      forms.push(JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64'));
      for (const form of forms) {
        for (const [before, behind] of [
          ['数据', '数据'],
          ['f("', '")'],
          ['before ', ' behind'],
        ] as const) {
          const text = `${before}${form}${behind}${'.'.repeat(50)}`;
          for (let max = 0; max < text.length; max += 1) {
            const end = withoutEnd(clipped(text, max, known)).length;
            const isWhole = end <= before.length || end >= before.length + form.length;
            expect(isWhole, `${form} at ${max}: ${end}`).toBe(true);
          }
        }
      }
    },
  );

  it('ends before a secret that another one is inside of, and between two that touch', () => {
    const text = '数一二三四五六七八数';
    expect(clipped(text, 8, knowing('一二三四五六七八', '二三四五'))).toBe('数…');
    expect(clipped(text, 8, knowing('一二三四', '五六七八'))).toBe('数一二三四…');
  });

  it('never ends within a known secret, however texts and secrets overlap', () => {
    const unit = fc.constantFrom('a', 'b', '密', '码', '(', ';', '"', ' ', '😀', 'é');
    const secret = fc.string({ unit, minLength: 4, maxLength: 12 });
    const world = fc.array(secret, { minLength: 1, maxLength: 3 }).chain((secrets) =>
      fc.tuple(
        fc.constant(secrets),
        fc.array(fc.oneof(fc.constantFrom(...secrets), fc.string({ unit, maxLength: 8 })), {
          minLength: 2,
        }),
        fc.nat(60),
      ),
    );
    fc.assert(
      fc.property(world, ([secrets, parts, max]) => {
        const text = parts.join('');
        const cut = clipped(text, max, knowing(...secrets));
        if (text.length <= max) return;
        const { length } = withoutEnd(cut);
        expect(length).toBeLessThanOrEqual(max);
        for (const value of secrets.map((each) => each.trim()).filter((each) => each.length >= 4)) {
          for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1))
            expect(at < length && length < at + value.length, JSON.stringify([text, value, cut])).toBe(false);
        }
      }),
    );
  });

  it('asks for the secrets once, up to the limit, however long the text is', () => {
    const asked: number[] = [];
    const spans = (_: string, end: number) => {
      asked.push(end);
      return Array.from({ length: end }, (__, at) => [at, at + 4] as const);
    };
    expect(clipped('数'.repeat(1_000_000), 4_000, { spans })).toBe('…');
    expect(asked).toEqual([4_000]);
  });
});
