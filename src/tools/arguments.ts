/** Validates the arguments of a tool call against the tool's parameters, and describes what is wrong with them. */
import { isObject, parseStrictJson } from '../text/json.ts';
import { readObject, readTexts } from '../text/json-fields.ts';
import { DISPLAY } from '../text/limits.ts';
import type { JsonObject, ToolCall, ToolSpec } from '../types.ts';

/** Valid arguments, or one sentence for the model about why they are invalid. */
export type ReadArguments =
  | { readonly ok: true; readonly input: JsonObject }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses the raw arguments of a call and validates them: an object with all required names, no other names and the
 * right types.
 */
export function readArguments(call: ToolCall, spec: ToolSpec): ReadArguments {
  if (call.status === 'truncated') {
    return wrong(
      `The arguments of ${spec.name} were cut off by the output limit, so it did not run. Call it again with shorter arguments.`,
    );
  }
  if (call.status === 'too_long') {
    return wrong(
      `The arguments of ${spec.name} are longer than 2 MiB, so it did not run. Call it again with shorter arguments.`,
    );
  }
  if (call.status === 'malformed')
    return wrong(
      `The arguments of ${spec.name} are not valid JSON, so it did not run. Call it again with a JSON object.`,
    );
  const parsed = parseStrictJson(call.rawArguments.trim() === '' ? '{}' : call.rawArguments);
  if (!parsed.ok)
    return wrong(
      `The arguments of ${spec.name} could not be read, so it did not run. ${parsed.problem} Call it again with a JSON object.`,
    );
  if (!isObject(parsed.value))
    return wrong(`The arguments of ${spec.name} must be a JSON object. ${usage(spec)}`);
  const problems = check(parsed.value, spec);
  if (problems.length > 0)
    return wrong(`Wrong arguments for ${spec.name}: ${problems.join('; ')}. ${usage(spec)}`);
  return { ok: true, input: parsed.value };
}

function check(input: JsonObject, spec: ToolSpec): readonly string[] {
  const properties = readObject(spec.parameters, 'properties');
  const missing = readTexts(spec.parameters, 'required').filter((name) => !Object.hasOwn(input, name));
  const problems = missing.map((name) => `${name} is missing`);
  for (const [name, value] of Object.entries(input)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!isObject(schema))
      problems.push(`${JSON.stringify(name.slice(0, DISPLAY.value))} is not a parameter`);
    else problems.push(...checkValue(name, value, schema));
  }
  return problems;
}

function checkValue(name: string, value: unknown, schema: JsonObject): readonly string[] {
  const type = schema['type'];
  const fits = type === 'integer' ? Number.isSafeInteger(value) : typeof value === type;
  if (!fits) return [`${name} must be ${type === 'integer' ? 'an integer' : `a ${String(type)}`}`];
  const minimum = schema['minimum'];
  const maximum = schema['maximum'];
  if (typeof value === 'number' && typeof minimum === 'number' && value < minimum) {
    return [`${name} must be at least ${minimum}`];
  }
  if (typeof value === 'number' && typeof maximum === 'number' && value > maximum) {
    return [`${name} must be at most ${maximum}`];
  }
  return [];
}

function usage(spec: ToolSpec): string {
  const required = readTexts(spec.parameters, 'required');
  const names = Object.keys(readObject(spec.parameters, 'properties')).map((name) =>
    required.includes(name) ? name : `${name} (optional)`,
  );
  return `It takes: ${names.join(', ')}.`;
}

function wrong(problem: string): ReadArguments {
  return { ok: false, problem };
}
