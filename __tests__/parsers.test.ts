/**
 * Every reader of hostile text takes time in proportion to it: nothing interrupts one, so the run's clock and its signals
 * would wait for it. Not the time is judged but its growth, in CPU time of this thread, so that a busy machine does not
 * matter.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeTexts } from './support/texts/hostile.ts';
import { LIMITS, READERS } from './support/texts/parsers.ts';

/** Sizes four times apart, the smaller pair first: what is quadratic is found there, before it takes minutes. */
const SIZES = [2, 8, 32].map((kib) => kib * 1024);
/** Less than this is no cost that grows. */
const MIN_MICROSECONDS = 40_000;
/** Between 4, which four times the text takes where it is linear, and 16. */
const MAX_GROWTH = 9;

const TEXTS = SIZES.map((size) => new Map(makeTexts(size)));

async function costOf(read: (text: string) => unknown, text: string): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await read(text);
  } catch {
    // Refused is read as well.
  }
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

async function leastOf(read: (text: string) => unknown, text: string): Promise<number> {
  const costs = [await costOf(read, text), await costOf(read, text), await costOf(read, text)];
  return Math.min(...costs);
}

/** What a text costs where that grows too fast; null where it does not. */
async function findGrowth(read: (text: string) => unknown, name: string): Promise<string | null> {
  for (const [larger, smaller] of [
    [1, 0],
    [2, 1],
  ] as const) {
    const [long = '', short = ''] = [TEXTS[larger]?.get(name), TEXTS[smaller]?.get(name)];
    const once = await costOf(read, long);
    if (once < MIN_MICROSECONDS || once <= MAX_GROWTH * (await costOf(read, short))) continue;
    const cost = await leastOf(read, long);
    const growth = cost / (await leastOf(read, short));
    if (cost >= MIN_MICROSECONDS && growth > MAX_GROWTH)
      return `${name}: ${Math.round(cost / 1000)} ms for ${long.length} characters, ${growth.toFixed(1)} times a quarter`;
  }
  return null;
}

describe('what reads hostile text is linear', { timeout: 300_000 }, () => {
  it.each(Object.entries(READERS))('%s', async (_, read) => {
    for (const name of TEXTS[0]?.keys() ?? []) {
      // The first one is enough: each more would take as long.
      expect(await findGrowth(read, name)).toBeNull();
    }
  });
});

it.each(Object.entries(LIMITS))(
  'the limit in front of %s is used by the product',
  (reader, { file, name }) => {
    expect(Object.keys(READERS)).toContain(reader);
    expect(readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')).toContain(name);
  },
);
