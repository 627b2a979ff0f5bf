/** Converts the validator's errors into sentences that a model can act on. */
import type { ErrorObject } from 'ajv';
import { isArray, isObject, jsonPointer, pointerSegments } from '../text/json.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { Issue, Json } from '../types.ts';

/**
 * Returns the issues for the validator's errors: at most 10, of which the last says how many more errors there are.
 * Errors inside branches of `anyOf` and `oneOf` come last, because most are about branches that were not intended.
 * Values of the payload are never quoted; names of its keys are.
 */
export function issuesOf(errors: readonly ErrorObject[]): readonly Issue[] {
  const inBranch = (error: ErrorObject): boolean => /\/(?:anyOf|oneOf)\/\d+\//.test(error.schemaPath);
  const ordered = [...errors.filter((error) => !inBranch(error)), ...errors.filter(inBranch)];
  const found = new Map<string, Issue>();
  let listed = 0;
  // Stops early: a large payload can have errors at a hundred thousand paths.
  for (const error of ordered) {
    const missing: unknown = error.params['missingProperty'];
    const issue = {
      path: error.instancePath,
      keyword: error.keyword,
      message: `${messageOf(error)}.`,
      ...(typeof missing === 'string' ? { missing } : {}),
    };
    const identity = JSON.stringify(issue);
    if (!found.has(identity) && found.size === LISTED.several) break;
    if (!found.has(identity)) found.set(identity, issue);
    listed += 1;
  }
  return withRest([...found.values()], errors.length - listed);
}

/** Returns the first 10 issues; the last of them says how many more there are. */
export function cappedIssues(issues: readonly Issue[]): readonly Issue[] {
  return withRest(issues.slice(0, LISTED.several), issues.length - LISTED.several);
}

function withRest(issues: readonly Issue[], more: number): readonly Issue[] {
  const last = issues.at(-1);
  if (more <= 0 || last === undefined) return issues;
  const message = `${last.message} (${more} more ${more === 1 ? 'issue' : 'issues'} not listed.)`;
  return [...issues.slice(0, -1), { ...last, message }];
}

function messageOf(error: ErrorObject): string {
  const about = error.propertyName === undefined ? '' : `the property name ${quoted(error.propertyName)} `;
  return (
    about +
    (special(error) ?? truncate(error.message ?? `does not satisfy ${error.keyword}`, DISPLAY.sentence))
  );
}

/** Returns a better message than the validator's own; null for keywords whose own message suffices. */
function special(error: ErrorObject): string | null {
  const params: Readonly<Record<string, unknown>> = error.params;
  switch (error.keyword) {
    case 'required':
      return `the required property ${quoted(params['missingProperty'])} is missing; ${presentKeys(error.data)}`;
    case 'additionalProperties':
      return `the property ${quoted(params['additionalProperty'])} is not allowed here; ${allowedKeys(error.parentSchema)}`;
    case 'unevaluatedProperties':
      return `the property ${quoted(params['unevaluatedProperty'])} is not allowed here; leave it out`;
    case 'type':
      return `must be ${typeList(params['type'])}, but is ${kindOf(error.data)}${typeHint(params['type'], error.data)}`;
    case 'enum':
      return `must be one of ${list(allowedValues(params['allowedValues']))}, exactly as written`;
    case 'const':
      return `must be exactly ${quoted(params['allowedValue'])}`;
    case 'propertyNames':
      return `the property name ${quoted(params['propertyName'])} is not allowed`;
    case 'false schema':
      return 'nothing is allowed here; leave it out';
    default:
      return null;
  }
}

function presentKeys(value: unknown): string {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return keys.length === 0 ? 'there are no keys here' : `the keys here are ${list(keys)}`;
}

function allowedKeys(schema: Readonly<Record<string, unknown>> | undefined): string {
  const properties = schema?.['properties'];
  const keys = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return keys.length === 0 ? 'leave it out' : `the properties allowed are ${list(keys)}`;
}

function allowedValues(values: unknown): readonly unknown[] {
  return Array.isArray(values) ? values : [];
}

/** The validator gives one type as a string, several as an array. */
export function typesOf(type: unknown): readonly string[] {
  return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
}

function typeList(type: unknown): string {
  return typesOf(type).join(' or ');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

function typeHint(type: unknown, value: unknown): string {
  if (typeof value !== 'string') return '';
  const unquoted = typesOf(type).some((each) =>
    ['boolean', 'number', 'integer', 'object', 'array', 'null'].includes(each),
  );
  return unquoted ? '; write it as JSON, without quotes around it' : '';
}

function list(values: readonly unknown[]): string {
  const shown = values.slice(0, LISTED.many).map(quoted).join(', ');
  return values.length > LISTED.many ? `${shown} and ${values.length - LISTED.many} more` : shown;
}

function quoted(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'undefined', DISPLAY.value);
}

/** Keys, and indexes of arrays as numbers, from the root. */
type PayloadPath = readonly (string | number)[];

/**
 * Returns the JSON Pointer of a path with `*` for every key that the schema does not declare under `properties`: like a
 * value, such a key is text of the model. Array indexes are kept.
 */
export function redactPath(path: PayloadPath, declared: ReadonlySet<string>): string {
  return jsonPointer(
    path.map((segment) => (typeof segment === 'number' || declared.has(segment) ? segment : '*')),
  );
}

/** Resolves a JSON Pointer to a path in a value; segments without a target are treated as keys. */
export function pathIn(value: Json, pointer: string): PayloadPath {
  let current: Json | undefined = value;
  return pointerSegments(pointer).map((key) => {
    if (isArray(current) && /^\d+$/.test(key)) {
      current = current[Number(key)];
      return Number(key);
    }
    current = isObject(current) && Object.hasOwn(current, key) ? current[key] : undefined;
    return key;
  });
}
