/** Converts the validator's errors into sentences that a model can act on, and into what may be recorded of them. */
import type { ErrorObject } from 'ajv';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { quote, truncate } from '../text/messages.ts';
import type { Issue, RedactedIssue } from '../types.ts';

/** How many issues are listed; the rest are counted. */
const MAX_ISSUES = 10;

/** Puts errors inside branches of `anyOf` and `oneOf` last, because most are about branches that were not intended. */
export function sortErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const isInBranch = ({ schemaPath }: ErrorObject) => /\/(?:anyOf|oneOf)\/\d+\//.test(schemaPath);
  return [...errors.filter((error) => !isInBranch(error)), ...errors.filter(isInBranch)];
}

/** Returns the issues for the validator's errors, at most 10. They quote names of the payload, and no values. */
export function issuesOf(errors: readonly ErrorObject[]): readonly Issue[] {
  // Stops early: a large payload can have errors at a hundred thousand places.
  const issues = errors.slice(0, MAX_ISSUES).map((error): Issue => {
    const missing: unknown = error.params['missingProperty'];
    const about = error.propertyName === undefined ? '' : `the property name ${quote(error.propertyName)} `;
    return {
      path: error.instancePath,
      // Without the keyword at its end.
      schemaPath: error.schemaPath.replace(/^#|\/[^/]*$/g, ''),
      keyword: error.keyword,
      message: `${about}${truncate(messageOf(error), DISPLAY.message)}.`,
      ...(typeof missing === 'string' ? { missing } : {}),
    };
  });
  return withRest(issues, errors.length);
}

/** Returns the first 10 issues, the last of which says how many are left out. */
export function cappedIssues(issues: readonly Issue[]): readonly Issue[] {
  return withRest(issues.slice(0, MAX_ISSUES), issues.length);
}

function withRest(issues: readonly Issue[], count: number): readonly Issue[] {
  const last = issues.at(-1);
  if (count === issues.length || last === undefined) return issues;
  const message = `${last.message} (${count - issues.length} more not listed)`;
  return [...issues.slice(0, -1), { ...last, message }];
}

/** Returns what may be recorded: the place in the schema and the keyword, never text of the payload. */
export function redact(issues: readonly Issue[]): readonly RedactedIssue[] {
  return issues.map(({ schemaPath = '', keyword, missing }) => ({
    path: schemaPath,
    keyword,
    ...(missing === undefined ? {} : { missing }),
  }));
}

/** Says what the validator's own message does not: the names and values that are allowed, and those that are there. */
function messageOf({ keyword, params, data, parentSchema, message }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return `the required property ${showValue(params['missingProperty'])} is missing; the keys here: ${listValues(keysOf(data))}`;
    case 'additionalProperties':
      return `the property ${showValue(params['additionalProperty'])} is not allowed here; allowed: ${listValues(keysOf(parentSchema?.['properties']))}`;
    case 'unevaluatedProperties':
      return `the property ${showValue(params['unevaluatedProperty'])} is not allowed here`;
    case 'type': {
      const wanted = `must be ${[params['type']].flat().join(' or ')}, but is ${kindOf(data)}`;
      return typeof data === 'string' ? `${wanted}; write it as JSON, without quotes around it` : wanted;
    }
    case 'enum':
      return `must be one of ${listValues(params['allowedValues'])}, exactly as written`;
    case 'const':
      return `must be exactly ${showValue(params['allowedValue'])}`;
    case 'false schema':
      return 'nothing is allowed here; leave it out';
    default:
      return message ?? `does not satisfy ${keyword}`;
  }
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

export function listValues(values: unknown): string {
  if (!Array.isArray(values) || values.length === 0) return 'none';
  const more = values.length > LISTED.many ? ` and ${values.length - LISTED.many} more` : '';
  return `${values.slice(0, LISTED.many).map(showValue).join(', ')}${more}`;
}

export function showValue(value: unknown): string {
  return truncate(JSON.stringify(value) ?? 'undefined', DISPLAY.value);
}
