/**
 * Every reader of hostile text takes linear time: nothing interrupts a reader, so the timeout and the signals of a
 * run would wait for it. The test measures growth, not time, in CPU time of this thread, so that a busy machine does not
 * matter.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeTexts } from './support/texts/hostile.ts';
import { LIMITS, READERS } from './support/texts/parsers.ts';

/** Each size is four times the previous one. The smaller pair is first, because it finds quadratic time in seconds. */
const SIZES = [2, 8, 32].map((kib) => kib * 1024);
/** A cost below this is not measurable growth. */
const MIN_MICROSECONDS = 40_000;
/** Between 4, the growth of linear time for four times the text, and 16 for quadratic time. */
const MAX_GROWTH = 9;

const TEXTS = SIZES.map((size) => new Map(makeTexts(size)));

async function costOf(read: (text: string) => unknown, text: string): Promise<number> {
  const before = process.threadCpuUsage();
  try {
    await read(text);
  } catch {
    // A refused text has been read too.
  }
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

async function leastOf(read: (text: string) => unknown, text: string): Promise<number> {
  const costs = [await costOf(read, text), await costOf(read, text), await costOf(read, text)];
  return Math.min(...costs);
}

/** The cost of a text when it grows too fast, or null. */
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

describe('readers of hostile text are linear', { timeout: 300_000 }, () => {
  it.each(Object.entries(READERS))('%s', async (_, read) => {
    for (const name of TEXTS[0]?.keys() ?? []) {
      // The first one is enough, because every other one would take as long.
      expect(await findGrowth(read, name)).toBeNull();
    }
  });
});

it.each(Object.entries(LIMITS))('src uses the limit in front of %s', (reader, { file, name }) => {
  expect(Object.keys(READERS)).toContain(reader);
  expect(readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')).toContain(name);
});
