import { expect, it } from 'vitest';
import { findBlockingRows } from '../../src/evidence/blocking.ts';
import type { JsonObject } from '../../src/types.ts';

const rows = (payload: JsonObject) => payload['findings'] as readonly JsonObject[];
const find = (findings: readonly JsonObject[], meetsGate: (payload: JsonObject) => boolean) =>
  findBlockingRows({ passed: false, findings }, 'findings', meetsGate);
const [low, high, critical] = ['low', 'HIGH', 'critical'].map((severity) => ({ severity }));

it.each([
  ['no severe row', (payload: JsonObject) => !rows(payload).some((row) => row !== low), [1, 3]],
  ['at most two rows', (payload: JsonObject) => rows(payload).length <= 2, [0, 1, 2, 3]],
  ['a property', (payload: JsonObject) => payload['passed'] === true, [1, 3]],
  ['nothing', () => true, []],
  [
    'no critical row, and at most three',
    (payload: JsonObject) => rows(payload).length <= 3 && !rows(payload).includes(critical ?? {}),
    [3],
  ],
])('for a gate that wants %s', (_, meetsGate, expected) => {
  expect(find([low ?? {}, high ?? {}, low ?? {}, critical ?? {}], meetsGate)).toEqual(expected);
});

it('needs a list of rows', () => {
  expect(findBlockingRows({ findings: 'none' }, 'findings', () => false)).toEqual([]);
  expect(findBlockingRows({ findings: [] }, 'findings', () => false)).toEqual([]);
  expect(findBlockingRows({}, 'toString', () => false)).toEqual([]);
});

it('takes rows beyond the limit as blocking', () => {
  let calls = 0;
  const found = find(Array<JsonObject>(600).fill({}), (payload) => {
    calls += 1;
    return rows(payload).length < 2;
  });
  expect([found.length, found[0], calls]).toEqual([100, 500, 502]);
});
