/** How a value looks in the encodings in which one hides, and texts with one of them undone. */

/** What base64 of any text that holds the value must hold: the value's own bits at each of the three alignments. */
export function base64Forms(value: string): readonly string[] {
  const bytes = bytesOf(value);
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}

export function bytesOf(value: string): Buffer {
  return Buffer.from(value, 'utf8');
}

export function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

export function toStandardAlphabet(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

export function reverse(text: string): string {
  return [...text].reverse().join('');
}

export function squeeze(text: string): string {
  return text.replace(/\s+/g, '');
}

/** Hex dumps put blanks, colons, commas, `0x` or `\x` between bytes. */
export function squeezeHex(text: string): string {
  return text.toLowerCase().replace(/\\x|0x|[\s:,-]+/g, '');
}

export function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

export function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
