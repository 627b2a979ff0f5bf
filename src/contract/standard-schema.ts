/** Runs the validator of a library's schema object (Zod and others) in addition to its JSON Schema. */
import { isDeepStrictEqual } from 'node:util';
import { jsonPointer } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { singleLine } from '../text/sanitize.ts';
import type { Issue, JsonObject } from '../types.ts';
import { cappedIssues } from './issues.ts';
import { underDeadline, VALIDATION_MS } from './validator.ts';

/** The `validate` of the Standard Schema interface: returns a result or a promise of one. */
export type StandardValidate = (value: unknown) => unknown;

/**
 * Returns the issues of a payload; none when the validator accepts it unchanged. It gets a copy. One that throws, takes
 * too long or returns no result rejects the payload.
 */
export async function runValidator(
  validate: StandardValidate,
  payload: JsonObject,
): Promise<readonly Issue[]> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, VALIDATION_MS, null);
  try {
    const timed = underDeadline(() => validate(structuredClone(payload)), VALIDATION_MS);
    const result: unknown = timed.kind === 'done' ? await Promise.race([timed.value, late.promise]) : null;
    return readIssues(Object(result), payload);
  } catch {
    return [broken];
  } finally {
    clearTimeout(timer);
  }
}

const broken: Issue = {
  path: '',
  keyword: 'validator',
  message:
    "the schema's own validator failed or took longer than 1 second, so it was not accepted. Send a simpler object that keeps to the schema.",
};

const changed: Issue = {
  path: '',
  keyword: 'transform',
  message:
    "the schema's own validator would change it (it drops a property or trims a text), and what is published is exactly what you send. Send what it would give.",
};

function readIssues(result: object, payload: JsonObject): readonly Issue[] {
  const found: unknown = Reflect.get(result, 'issues');
  if (found === undefined && Reflect.has(result, 'value'))
    return isDeepStrictEqual(Reflect.get(result, 'value'), payload) ? [] : [changed];
  if (!Array.isArray(found) || found.length === 0) return [broken];
  return cappedIssues(found.map((each) => readIssue(Object(each))));
}

function readIssue(found: object): Issue {
  const [path, words]: readonly unknown[] = [Reflect.get(found, 'path'), Reflect.get(found, 'message')];
  const keys = Array.isArray(path) ? path.map((each) => Object(each).key ?? each) : [];
  return {
    path: jsonPointer(keys.map(String)),
    keyword: 'validate',
    message: singleLine(String(words ?? 'is not valid'), DISPLAY.sentence),
  };
}
