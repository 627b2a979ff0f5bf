/** Texts that are hard for parsers: one piece repeated, nested or varied. */
import { readFileSync } from 'node:fs';

/** A secret whose prefixes and encodings are among the pieces. */
export const SECRET = 'sk-parser-0123456789abcdef';

const NESTED = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['- ', ''],
] as const;
// Parsed here, because a JSON module cannot contain an unpaired surrogate.
const file = new URL('../../fixtures/hostile-pieces.json', import.meta.url);
const pieces: readonly string[] = JSON.parse(readFileSync(file, 'utf8'));

/** Pieces that start, end or fill a construct of one of the parsers, and pieces that nearly contain the secret. */
const PIECES: readonly string[] = [
  ...pieces,
  SECRET.slice(0, -1),
  [...SECRET].join('\u200b').slice(0, -1),
  Buffer.from(SECRET).toString('hex').slice(0, -1),
  'a'.repeat(39),
];

/** Yields texts of an approximate length by their structure, one at a time because all of them would fill the memory. */
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
  // Different keys: a text without repetition.
  yield [
    'different keys',
    `{${Array.from({ length: Math.ceil(length / 12) }, (_, at) => `"k${at}":${at}`).join(',')}}`,
  ];
  yield [
    'different lines',
    Array.from({ length: Math.ceil(length / 8) }, (_, at) => `k${at}: ${at}`).join('\n'),
  ];
}
