/**
 * The CPU time that each reader of hostile text takes for its slowest text: nothing interrupts a reader, so the clock of
 * a run and its signals wait for it.
 */
import { makeTexts } from '../__tests__/support/texts/hostile.ts';
import { LIMITS, READERS } from '../__tests__/support/texts/parsers.ts';

const MIB = 1024 ** 2;
/**
 * As many of the texts that were slowest at 1 MiB are read at 10 MiB. `__tests__/parsers.test.ts` holds each reader to
 * linear time, so the slowest text of the one size is among the slow ones of the other.
 */
const LARGE_TEXTS = 4;

/** The slowest text of a reader at one length. */
export interface ReaderCost {
  readonly reader: string;
  readonly length: number;
  /** The source of the limit that keeps longer texts away; null where the length is one of the bench. */
  readonly limit: string | null;
  readonly text: string;
  readonly seconds: number;
}

/** Measures each reader whose name holds one of the words; all readers where there is no word. */
export async function* measureReaders(words: readonly string[]): AsyncGenerator<ReaderCost> {
  for (const [reader, read] of Object.entries(READERS)) {
    if (words.length > 0 && !words.some((word) => reader.includes(word))) continue;
    const limit = LIMITS[reader];
    const most = limit?.most ?? 10 * MIB;
    const small = Math.min(MIB, most);
    const costs: { readonly text: string; readonly seconds: number }[] = [];
    for (const [name, text] of makeTexts(small))
      costs.push({ text: name, seconds: await secondsOf(read, text) });
    const slowest = costs.toSorted((one, other) => other.seconds - one.seconds).slice(0, LARGE_TEXTS);
    const source = limit === undefined ? null : `${limit.name} in ${limit.file}`;
    const [first] = slowest;
    if (first !== undefined) yield { reader, length: small, limit: small === most ? source : null, ...first };
    if (small === most) continue;
    const names = new Set(slowest.map(({ text }) => text));
    let worst = { text: '', seconds: 0 };
    for (const [name, text] of makeTexts(most)) {
      if (!names.has(name)) continue;
      const seconds = await secondsOf(read, text);
      if (seconds > worst.seconds) worst = { text: name, seconds };
    }
    yield { reader, length: most, limit: source, ...worst };
  }
}

async function secondsOf(read: (text: string) => unknown, text: string): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await read(text);
  } catch {
    // A refusal is an answer.
  }
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000_000;
}
