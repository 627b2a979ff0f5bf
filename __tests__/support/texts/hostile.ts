/** Texts that are hard on readers: one piece repeated, nested, or all different. */

/** A secret whose beginnings and encodings are among the pieces. */
export const SECRET = 'sk-parser-0123456789abcdef';

const NESTED = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['- ', ''],
] as const;
const PIECES = [
  ...[
    'a',
    '1',
    '0',
    ' ',
    '\n',
    '\r\n',
    '\t',
    '"',
    "'",
    '\\',
    '\\"',
    '\\\\',
    '`',
    '` ',
    '/',
    '.',
    '-',
    '#',
    '@',
    ':',
    '%',
    '$',
  ],
  ...[
    '\\u0061',
    '\\ud83d',
    '\ud800',
    '\ud83d\ude00',
    '\u200b',
    '\u00e9',
    '\u2028',
    '\x1b[',
    '\x1b]',
    '\x1b[1m',
    '%41',
    '0x41 ',
  ],
  ...[
    '1e',
    '1,',
    '"a",',
    '"\\n",',
    '{"a":1},',
    '{}\n',
    '{"type":"x"}\n',
    'data: {}\n\n',
    'data: a\n',
    'a: b\n',
    '? ',
    '&a ',
    '*a ',
  ],
  ...[
    'a b ',
    'a/',
    '../',
    './',
    '/a:1',
    '#L1',
    '.git/',
    '://',
    '://a@',
    'https://a.b/',
    '[a](',
    '![',
    '<a ',
    '&#1',
    '|',
    '***',
    '<!--',
  ],
  ...[
    '::error::',
    '##[',
    'www.',
    'GH-',
    'deadbeef',
    '${{ ',
    '${{ a }}',
    '||',
    "''",
    'diff --git a/a b/a\n',
    '@@ -1 +1 @@\n',
    '+a\n',
  ],
  ...[
    '[remote "a"]\n\turl = b\n',
    '[a "',
    'a = "\\\n',
    '1: 1 1 1 1 1 1 /a\n',
    '1 1 1:1 / /a rw - b c d\n',
    'ref: a\n',
  ],
  ...[
    SECRET.slice(0, -1),
    [...SECRET].join('\u200b').slice(0, -1),
    Buffer.from(SECRET).toString('hex').slice(0, -1),
    'a'.repeat(39),
  ],
];

/** Texts of about a length, by what they are made of: one after the other, since all of the longest would fill the memory. */
export function* makeTexts(length: number): Generator<readonly [of: string, text: string]> {
  for (const piece of PIECES) {
    const many = piece.repeat(Math.ceil(length / piece.length));
    yield [JSON.stringify(piece), many];
  }
  for (const [open, close] of NESTED) {
    const depth = Math.ceil(length / (open.length + close.length));
    yield [`${open} nested`, open.repeat(depth) + close.repeat(depth)];
    yield [
      `${open} 90 deep, repeated`,
      `[${`${open.repeat(90)}1${close.repeat(90)},`.repeat(Math.ceil(length / 91 / (open.length + close.length)))}1]`,
    ];
  }
  yield ['aliases', `- &a 1\n${'- *a\n'.repeat(Math.ceil(length / 5))}`];
  yield ['many anchors', `- &a 1\n${'- &b 1\n- *a\n'.repeat(Math.ceil(length / 12))}`];
  // Keys that differ: one text of which no two parts are alike.
  yield [
    'different keys',
    `{${Array.from({ length: Math.ceil(length / 12) }, (_, at) => `"k${at}":${at}`).join(',')}}`,
  ];
  yield [
    'different lines',
    Array.from({ length: Math.ceil(length / 8) }, (_, at) => `k${at}: ${at}`).join('\n'),
  ];
}
