/** Runs the validator of a library's schema object (Zod and others) in addition to its JSON Schema. */

import { isArray, isObject, jsonPointer } from '../text/json.ts';
import { DISPLAY, WAIT } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { Issue, Json, JsonObject } from '../types.ts';
import { underDeadline } from './deadline.ts';
import { cappedIssues } from './issues.ts';

/**
 * The `validate` of the Standard Schema interface: returns a result or a promise of one. Its return value is not
 * trusted.
 */
export type StandardValidate = (value: unknown) => unknown;

const maxSegments = 100;

const timeoutIssue = issue(
  'deadline',
  "the schema's own validator took longer than 1 second, so it was not accepted. Send shorter strings and fewer items.",
);

/**
 * Returns the issues of a payload; none when the validator accepts it unchanged. A validator that throws, takes too
 * long, returns no result or would change the payload also causes an issue. It gets a copy, and its value is discarded.
 */
export async function runValidator(
  validate: StandardValidate,
  payload: JsonObject,
): Promise<readonly Issue[]> {
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), WAIT.validation);
  try {
    // An infinite loop can be interrupted only inside the deadline.
    const timed = underDeadline(() => hold(validate(structuredClone(payload))), WAIT.validation);
    if (timed.kind === 'timeout') return [timeoutIssue];
    if (timed.kind === 'threw') return [brokenIssue(timed.error)];
    const settled = await Promise.race([timed.value.settled, late.promise]);
    if (settled === 'late') return [timeoutIssue];
    if (!settled.ok) return [brokenIssue(settled.error)];
    const read = underDeadline(() => readResult(settled.result, payload), WAIT.validation);
    if (read.kind === 'timeout') return [timeoutIssue];
    return read.kind === 'threw' ? [brokenIssue(read.error)] : read.value;
  } finally {
    clearTimeout(timer);
  }
}

type Settled =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: unknown };

/** Wraps a result or the promise of one, whose rejection becomes a value: it may reject when no longer awaited. */
function hold(result: unknown): { readonly settled: Promise<Settled> } {
  const settled = Promise.resolve(result).then(
    (value): Settled => ({ ok: true, result: value }),
    (error: unknown): Settled => ({ ok: false, error }),
  );
  return { settled };
}

function readResult(result: unknown, payload: JsonObject): readonly Issue[] {
  if (typeof result !== 'object' || result === null) return [brokenIssue('it gave no result')];
  const found: unknown = Reflect.get(result, 'issues');
  if (found !== undefined && found !== null) {
    if (!Array.isArray(found)) return [brokenIssue('its issues are no list')];
    if (found.length === 0)
      return [issue('validate', "the schema's own validator rejects it and gives no reason.")];
    return cappedIssues(found.map((each: unknown) => readIssue(each, payload)));
  }
  if (!Reflect.has(result, 'value')) return [brokenIssue('it gave no result')];
  const changed = changedPath(payload, Reflect.get(result, 'value'), []);
  if (changed === null) return [];
  const message =
    'the schema would change this value (it transforms it, or fills in a default), and what is published is exactly what you send. Send the value that it would give.';
  return [{ path: jsonPointer(changed), keyword: 'transform', message }];
}

function readIssue(found: unknown, payload: JsonObject): Issue {
  const [path, words] =
    typeof found === 'object' && found !== null
      ? [Reflect.get(found, 'path'), Reflect.get(found, 'message')]
      : [undefined, undefined];
  const text = typeof words === 'string' ? words.replace(/[\s\p{C}]+/gu, ' ').trim() : '';
  const message = truncate(text, DISPLAY.sentence);
  return {
    path: jsonPointer(readPath(path, payload)),
    keyword: 'validate',
    message: message === '' ? "the schema's own validator rejects this value." : message,
  };
}

/** Returns the part of a path that exists in the payload: a validator may put anything there, even payload values. */
function readPath(path: unknown, payload: JsonObject): readonly string[] {
  const segments: string[] = [];
  let value: Json | undefined = payload;
  for (const each of Array.isArray(path) ? path.slice(0, maxSegments) : []) {
    const key: unknown = typeof each === 'object' && each !== null ? Reflect.get(each, 'key') : each;
    if (typeof key !== 'string' && typeof key !== 'number') break;
    if (!(isObject(value) || isArray(value)) || !Object.hasOwn(value, key)) break;
    segments.push(String(key));
    value = isArray(value) ? value[Number(key)] : value[key];
  }
  return segments;
}

/**
 * Returns the path at which the validator's value differs from the payload; null when there is none. A property that it
 * leaves out is not a difference: many libraries drop those they do not know.
 */
function changedPath(payload: Json, value: unknown, path: readonly string[]): readonly string[] | null {
  if (isArray(payload)) {
    if (!Array.isArray(value) || value.length !== payload.length) return path;
    for (const [index, each] of payload.entries()) {
      const changed = changedPath(each, value[index], [...path, String(index)]);
      if (changed !== null) return changed;
    }
    return null;
  }
  if (!isObject(payload)) return payload === value ? null : path;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !isPlain(value)) return path;
  for (const key of Object.keys(value)) {
    const after: unknown = Reflect.get(value, key);
    const before = Object.hasOwn(payload, key) ? payload[key] : undefined;
    if (before === undefined && after === undefined) continue;
    const changed = before === undefined ? [...path, key] : changedPath(before, after, [...path, key]);
    if (changed !== null) return changed;
  }
  return null;
}

function isPlain(value: object): boolean {
  const prototype = Reflect.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function brokenIssue(error: unknown): Issue {
  const words = typeof error === 'string' ? ` (${error})` : '';
  return issue(
    'validator',
    `the schema's own validator failed${words}, so it was not accepted. Send a simpler object that keeps to the schema.`,
  );
}

function issue(keyword: string, message: string): Issue {
  return { path: '', keyword, message };
}
