/**
 * Every regular expression of ours takes linear time: most of them read text of an attacker, and
 * nothing interrupts a match.
 */
import path from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { analyse } from 'scslre';
import { describe, expect, it } from 'vitest';
import { type Expression, findExpressions, makePumpedTexts, readSource } from './support/texts/patterns.ts';

/** Expressions that need not be linear, by file and source, with the limit of their text. */
const BOUNDED: Readonly<Record<string, string>> = {
  'text/messages.ts \\B(?=(?:\\d{3})+$)': 'String(count) of a number: at most 25 characters',
  'reporters/outputs.ts \\.?0+$': 'toFixed of a number: at most 122 characters',
};

/** Expressions built at run time, by file and code, with a sample. */
const BUILT: Readonly<Record<string, RegExp>> = {
  "text/encodings.ts new RegExp(`${CONTROL_SEQUENCE.source}|${TITLE_SEQUENCE.source}`, 'g')":
    /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g,
  "replay/replay.ts new RegExp(`${escaped}(?![\\\\w.-])`, 'gu')": /\/some\/folder(?![\w.-])/gu,
};

const LENGTH = 32 * 1024;
/** CPU time below which nothing is quadratic: at this length quadratic time is more than ten times as long. */
const MIN_MICROSECONDS = 16_000;
/** Between 4, the growth of a linear expression for four times the text, and 16 for a quadratic one. */
const MAX_GROWTH = 8;
/** The timeout for an endless match. Other patterns need a thousandth of it, even on a busy machine. */
const KILL_MS = 30_000;

const { literals, built } = findExpressions(path.join(import.meta.dirname, '../src'));

/** The reason why an expression is not linear, or null. */
function findFault({ source, flags }: Pick<Expression, 'source' | 'flags'>): string | null {
  const { reports } = analyse({ source, flags }, { assumeRejectingSuffix: false });
  const [report] = reports;
  if (report !== undefined) return `${report.type} on ${report.character.literal.source}`;
  return findSlowText(source, flags);
}

/** The beginning of a text whose cost grows far more than its length. */
function findSlowText(source: string, flags: string): string | null {
  const world = createContext({
    // All matches, because a search that starts again at each position is part of the cost.
    expression: new RegExp(source, flags.includes('g') ? flags : `${flags}g`),
    long: [...makePumpedTexts(source, flags, LENGTH)],
    short: [...makePumpedTexts(source, flags, LENGTH / 4)],
    measure,
    MIN_MICROSECONDS,
    MAX_GROWTH,
  });
  try {
    const slow: string | undefined = runInContext(SEARCH, world, { timeout: KILL_MS });
    return slow === undefined ? null : `slow on ${JSON.stringify(slow.slice(0, 40))}`;
  } catch (error) {
    return `no end in ${KILL_MS} ms: ${error}`;
  }
}

/** Runs in a separate context, because only there an expression can be interrupted. */
const SEARCH = `
  const costOf = (text) => {
    const before = measure();
    text.replace(expression, '');
    return measure() - before;
  };
  const leastOf = (text) => Math.min(costOf(text), costOf(text), costOf(text));
  const isSlow = (text) => costOf(text) > MIN_MICROSECONDS && leastOf(text) > MIN_MICROSECONDS;
  long.find((text, index) => isSlow(text) && leastOf(text) > MAX_GROWTH * leastOf(short[index]));
`;

/** The CPU time of this thread only. */
function measure(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function nameOf({ file, source }: Expression): string {
  return `${file} ${source}`;
}

describe('the regular expressions in src', () => {
  it('are all found, including those built at run time', () => {
    expect(literals.length).toBeGreaterThan(300);
    expect(built.map(({ file, code }) => `${file} ${code}`).sort()).toEqual(Object.keys(BUILT).sort());
    const text = String.raw`const a = /x\/y/gu; b(new RegExp(c)); RegExp('d'); e.match('f'); const G = RegExp; const h: RegExp = a;
      i instanceof RegExp; j.search("k"); m.match(a);`;
    const found = readSource('a.ts', text);
    expect(found.literals).toEqual([{ at: 'a.ts:1', file: 'a.ts', source: 'x\\/y', flags: 'gu' }]);
    expect(found.built.map(({ code }) => code)).toEqual([
      'new RegExp(c)',
      "RegExp('d')",
      "e.match('f')",
      'RegExp',
      'j.search("k")',
    ]);
  });

  it('are linear', () => {
    const faults = literals.map((each) => ({ each, fault: findFault(each) }));
    const made = Object.entries(BUILT).map(([name, sample]) => ({ name, fault: findFault(sample) }));
    const found = faults.filter(({ fault }) => fault !== null);
    const listed = found.filter(({ each }) => nameOf(each) in BOUNDED);
    expect(
      found
        .filter(({ each }) => !(nameOf(each) in BOUNDED))
        .map(({ each, fault }) => `${each.at} /${each.source}/${each.flags}: ${fault}`),
    ).toEqual([]);
    expect(made.filter(({ fault }) => fault !== null)).toEqual([]);
    // An entry that no longer names such an expression would hide the next one.
    expect(listed.map(({ each }) => nameOf(each)).sort()).toEqual(Object.keys(BOUNDED).sort());
  });
});
