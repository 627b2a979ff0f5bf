/** Payloads for each preset. */
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/types.ts';

/** Payloads that a preset must accept or reject. */
export interface Samples {
  readonly outputs: readonly string[];
  /** Accepted, and the gate is met. */
  readonly met: readonly JsonObject[];
  /** Accepted, and the gate is not met. */
  readonly unmet: readonly JsonObject[];
  /** They claim to pass despite findings; the model is asked to set `passed` to false. */
  readonly contradictions: readonly JsonObject[];
  readonly refused: readonly JsonObject[];
}

const file = new URL('../fixtures/preset-samples.json', import.meta.url);
const listed: Readonly<Record<string, Samples>> = JSON.parse(readFileSync(file, 'utf8'));

/** A report of many failed tests that lists this many of them. */
function manyFailures(count: number): JsonObject {
  const failure = { test: 'a > b', path: 'a.test.ts', line: 1, message: 'm' };
  const counts = { test_count: 3, failure_count: 90, skipped_count: 0, failures: Array(count).fill(failure) };
  return { passed: false, summary: 's', command: 'npm test', ...counts };
}

const many: Readonly<Record<string, Partial<Samples>>> = {
  'test-report': { unmet: [manyFailures(50)], refused: [manyFailures(51)] },
};

/** By the name of the preset. */
export const samples: Readonly<Record<string, Samples>> = Object.fromEntries(
  Object.entries(listed).map(([name, each]): [string, Samples] => {
    const { unmet = [], refused = [] } = many[name] ?? {};
    return [name, { ...each, unmet: [...each.unmet, ...unmet], refused: [...each.refused, ...refused] }];
  }),
);
