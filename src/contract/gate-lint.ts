/**
 * Refuses a gate that every payload of a schema meets, or that none can meet, and warns of one that is likely a mistake.
 * Sound and not complete: a gate passes unless the schema and the gate alone prove it wrong.
 */
import { ContractError } from '../errors.ts';
import { isArray, isObject, jsonPointer } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Json, JsonObject } from '../types.ts';
import { underDeadline } from './deadline.ts';
import { declaredBooleans, isClosed } from './declared.ts';
import {
  boundOf,
  collectNodes,
  createResolver,
  entriesOf,
  type Facts,
  factsOf,
  factsOfValue,
  isAtLeast,
  isForbidden,
  isOfType,
  isRangeEmpty,
  itemOf,
  joinFacts,
  LIMITS,
  listedValues,
  listOf,
  namesIn,
  propertyOf,
  type Resolve,
  sizeOf,
  textOf,
  typeNames,
  typeOf,
} from './gate-facts.ts';
import { describeKeywords, describePlace, describeWishes } from './gate-words.ts';
import { schemaNodes } from './keywords.ts';

/** Whether values meet a part of the gate: each of them, none, or it is not certain. */
export type Answer = 'always' | 'never' | 'maybe';

/** The place where no value meets the gate. */
interface Conflict {
  readonly path: readonly string[];
  readonly schema: Facts;
  readonly gate: Facts;
  /** A property that one side requires and the other one forbids. */
  readonly name: string | null;
}

interface Lint {
  /** How many parts may still be looked at: references that share parts would multiply without end. */
  budget: number;
  conflict: Conflict | null;
  /** Whether a pattern ran out of time; no other one is tried then. */
  isSlow: boolean;
}

/** A value that a part of the gate is about. */
interface Step {
  readonly path: readonly string[];
  /** What the schema makes certain of it. */
  readonly schema: Facts;
  /** What it must also satisfy to meet the gate. */
  readonly gate: Facts;
  /** Both together. */
  readonly both: Facts;
  /** Follows the references of the part. */
  readonly resolve: Resolve;
  /** The references that led here. */
  readonly trail: readonly JsonObject[];
  /** Properties that must be present, whatever the schemas say. */
  readonly named: ReadonlySet<string>;
  /** Whether the gate can only be met where this value is there and meets the part. */
  readonly isNeeded: boolean;
}

type Decide = (value: Json, step: Step, lint: Lint, part: JsonObject) => Answer;

const BUDGET = 200_000;
const MAX_TRAIL = 50;
/** A value with at most so many possible values is tried with each of them. */
const MAX_TRIED = 100;
const MAX_NAMES = 5;
const MAX_CANDIDATES = 1_000;
const PATTERN_DEADLINE_MS = 50;

/** Keywords that ask for nothing by themselves. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$anchor', '$comment', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly', 'nullable', 'definitions', '$defs'],
]);

/** Keywords that say nothing about values of another type. */
const APPLIES_TO: ReadonlyMap<string, string> = new Map(
  Object.entries({
    number: ['multipleOf'],
    string: ['pattern'],
    array: ['items', 'prefixItems', 'additionalItems', 'contains', 'uniqueItems', 'unevaluatedItems'],
    object: [
      ...['required', 'properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
      ...['dependencies', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'],
    ],
  }).flatMap(([type, keywords]): [string, string][] => [
    ...keywords.map((keyword): [string, string] => [keyword, type]),
    ...[...LIMITS]
      .filter(([, limit]) => limit.type === type)
      .map(([keyword]): [string, string] => [keyword, type]),
  ]),
);

const DECIDERS: Readonly<Record<string, Decide>> = {
  $ref: (value, step, lint) => {
    const target = step.resolve(value);
    if (target === null || step.trail.includes(target) || step.trail.length >= MAX_TRAIL) return 'maybe';
    return decide(target, { ...step, trail: [...step.trail, target] }, lint);
  },
  allOf: (value, step, lint) => joinAnswers(listOf(value).map((inner) => decide(inner, step, lint))),
  anyOf: (value, step, lint) => {
    const answers = listOf(value).map((inner) => decideAlone(inner, step, lint));
    return ifItEnds(value, invert(joinAnswers(answers.map(invert))));
  },
  oneOf: (value, step, lint) => {
    const answers = listOf(value).map((inner) => decideAlone(inner, step, lint));
    const met = answers.filter((answer) => answer === 'always').length;
    if (met > 1 || answers.every((answer) => answer === 'never')) return 'never';
    return ifItEnds(value, met === 1 && !answers.includes('maybe') ? 'always' : 'maybe');
  },
  not: (value, step, lint) => ifItEnds(value, invert(decideAlone(value, step, lint))),
  // Whichever way the condition goes, `then` and `else` are looked at.
  if: (value) => ifItEnds(value, 'always'),
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: (value, step, lint) => unlessNever(decideAlone(value, step, lint)),
  else: (value, step, lint) => unlessNever(decideAlone(value, step, lint)),
  type: (_, { schema, both }, __, part) => {
    const names = typeNames(part);
    if (schema.values !== null)
      return compareAll([...schema.values.values()].map((value) => isOfType(value, names)));
    const isMet = [...schema.types].every(
      (type) => names.includes(type) || (type === 'number' && schema.isInteger && names.includes('integer')),
    );
    if (isMet && schema.types.size > 0) return 'always';
    return both.types.size === 0 ? 'never' : 'maybe';
  },
  const: (value, step, lint) => decideListed([value], step, lint),
  enum: (value, step, lint) => decideListed(listOf(value), step, lint),
  required: (value, { schema, both }) => {
    if (namesIn(value).every((name) => schema.required.has(name))) return 'always';
    return isOnly(both, 'object') && namesIn(value).some((name) => isForbidden(schema, name))
      ? 'never'
      : 'maybe';
  },
  properties: (value, step, lint) => {
    const isObjectOnly = isOnly(step.both, 'object');
    return joinAnswers(
      entriesOf(value).map(([name, inner]) => {
        if (lint.budget < 0) return 'maybe';
        if (isForbidden(step.schema, name)) return 'always';
        const isPresent = isObjectOnly && (step.both.required.has(name) || step.named.has(name));
        const child = {
          ...{ path: [...step.path, name], resolve: step.resolve, trail: step.trail },
          ...{ schema: propertyOf(step.schema, name), gate: propertyOf(step.gate, name) },
          isNeeded: step.isNeeded && isPresent,
        };
        const answer = decideValue(inner, child, lint);
        return isPresent ? answer : unlessNever(answer);
      }),
    );
  },
  additionalProperties: (value, step, lint, part) => {
    if (value !== false) return decideUnknown(value, step, lint);
    const declared = new Set(entriesOf(part['properties']).map(([name]) => name));
    const isSame = step.schema.nodes.some(
      (node) => isClosed(node) && entriesOf(node['properties']).every(([name]) => declared.has(name)),
    );
    if (isSame) return 'always';
    const missing = isClosed(part) && [...step.both.required].find((name) => !declared.has(name));
    return isOnly(step.both, 'object') && typeof missing === 'string' ? 'never' : 'maybe';
  },
  items: (value, step, lint) => {
    if (isArray(value)) return decideUnknown(value, step, lint);
    const schema = itemOf(step.schema);
    if (schema.isImpossible) return 'always';
    const child = { path: [...step.path, '*'], resolve: step.resolve, trail: step.trail, schema };
    return unlessNever(
      decideValue(value, { ...child, gate: factsOf(step.resolve, [value]), isNeeded: false }, lint),
    );
  },
  pattern: (value, { schema }, lint) => {
    if (schema.values === null || typeof value !== 'string') return 'maybe';
    return compareAll([...schema.values.values()].map((each) => matches(value, each, lint)));
  },
  ...Object.fromEntries(
    ['patternProperties', 'propertyNames', 'dependencies', 'dependentSchemas', 'prefixItems'].map(
      (keyword): [string, Decide] => [
        keyword,
        (value, step, lint) => {
          const isMap = keyword !== 'propertyNames' && isObject(value);
          return decideUnknown(isMap ? Object.values(value).flat() : value, step, lint);
        },
      ],
    ),
  ),
};

/**
 * Looks for what is wrong with a gate over a schema, before a model is asked.
 * @param named the properties that must be present because the gate names them at its top level.
 * @returns what is likely a mistake, a sentence or two each.
 * @throws ContractError where every payload that the schema accepts meets the gate, or none can.
 */
export function lintGate(gate: JsonObject, schema: JsonObject, named: readonly string[]): readonly string[] {
  const undeclared = findUndeclared(gate, schema);
  const { answer, conflict, missing } = decideGate(gate, schema, named);
  if (conflict !== null) throw new ContractError('root', describeConflict(conflict));
  const warnings = undeclared.slice(0, MAX_NAMES).map((each) => describeUndeclared(each, named));
  if (answer !== 'always') return warnings;
  if (missing.length > 0) return [describePresenceOnly(missing), ...warnings];
  throw new ContractError('root', describeVacuous(gate, schema, undeclared));
}

/** What is certain of a gate over a schema; `missing` are properties that the gate names and a payload may lack. */
export function decideGate(
  gate: JsonObject,
  schema: JsonObject,
  named: readonly string[],
): { readonly answer: Answer; readonly conflict: Conflict | null; readonly missing: readonly string[] } {
  const lint: Lint = { budget: BUDGET, conflict: null, isSlow: false };
  const resolve = createResolver(gate);
  const schemaFacts = factsOf(createResolver(schema), [schema, { type: 'object' }]);
  const gateFacts = factsOf(resolve, [gate]);
  const missing = named.filter((name) => !schemaFacts.required.has(name));
  const forbidden = [...named, ...gateFacts.required].find((name) => isForbidden(schemaFacts, name));
  if (forbidden !== undefined) {
    const conflict = { path: [], schema: schemaFacts, gate: gateFacts, name: forbidden };
    return { answer: 'never', conflict, missing };
  }
  const root = { path: [], schema: schemaFacts, gate: gateFacts, resolve, trail: [], isNeeded: true };
  const answer = decideValue(gate, { ...root, named: new Set(named) }, lint);
  // The validator's rule for names such as "constructor" stands outside of the keywords: see prototype-keys.ts.
  const hasOwnRule = [...schemaNodes(gate)].some(({ node }) => node['unevaluatedProperties'] !== undefined);
  return { answer: hasOwnRule ? unlessAlways(answer) : answer, conflict: lint.conflict, missing };
}

/** Decides a part for the value at a place; where that has few possible values, by trying each of them. */
function decideValue(
  part: Json,
  place: Omit<Step, 'both' | 'named'> & { readonly named?: ReadonlySet<string> },
  lint: Lint,
): Answer {
  const { schema, gate } = place;
  const step: Step = { named: new Set(), ...place, both: joinFacts(schema, gate) };
  const { values } = schema;
  lint.budget -= schema.nodes.length;
  let answer: Answer;
  if (gate.isImpossible) answer = 'never';
  else if (values !== null && values.size > 1 && values.size <= MAX_TRIED) {
    const possible = [...values.values()].filter((value) => isPossible(value, schema, lint));
    answer = agree(
      possible.map((value) => {
        const known = factsOf(schema.resolve, [...schema.nodes, { const: value }]);
        return decide(part, { ...step, schema: known, both: joinFacts(known, gate), isNeeded: false }, lint);
      }),
    );
  } else answer = decide(part, step, lint);
  if (answer === 'never' && place.isNeeded)
    lint.conflict ??= { path: place.path, schema, gate, name: conflictingName(step) };
  return answer;
}

/** Decides a part that the value meets or not, whatever the rest of the gate asks of it. */
function decideAlone(part: Json, { path, schema, resolve, trail }: Step, lint: Lint): Answer {
  const gate = factsOf(resolve, [part]);
  return decideValue(part, { path, schema, gate, resolve, trail, isNeeded: false }, lint);
}

/** Decides parts for values of which nothing is certain: they are always met, or it is not known. */
function decideUnknown(parts: Json, { path, resolve, trail }: Step, lint: Lint): Answer {
  const schema = factsOf(resolve, []);
  const answers = listOf(parts).map((part) =>
    decideValue(
      part,
      { path, schema, gate: factsOf(resolve, [part]), resolve, trail, isNeeded: false },
      lint,
    ),
  );
  return unlessNever(joinAnswers(answers));
}

function decide(part: Json, step: Step, lint: Lint): Answer {
  lint.budget -= 1;
  if (typeof part === 'boolean') return part ? 'always' : 'never';
  if (!isObject(part) || lint.budget < 0) return 'maybe';
  return joinAnswers(
    Object.entries(part).map(([keyword, value]) => decideKeyword(keyword, value, part, step, lint)),
  );
}

function decideKeyword(keyword: string, value: Json, part: JsonObject, step: Step, lint: Lint): Answer {
  const type = APPLIES_TO.get(keyword);
  if (
    ANNOTATIONS.has(keyword) ||
    (type !== undefined && ![...step.schema.types].some((each) => each === type))
  )
    return 'always';
  if (SELF_CONTAINED.has(keyword) && step.schema.nodes.some((node) => node[keyword] === value))
    return 'always';
  const limit = LIMITS.get(keyword);
  if (limit !== undefined && typeof value === 'number') {
    const bound = { limit: limit.sign * value, isStrict: limit.isStrict };
    if (step.schema.values !== null) {
      const values = [...step.schema.values.values()];
      return compareAll(
        values.map((each) => {
          const own = { limit: limit.sign * sizeOf(each), isStrict: false };
          return typeOf(each) !== limit.type || isAtLeast(own, bound);
        }),
      );
    }
    if (isAtLeast(boundOf(step.schema, limit.type, limit.sign), bound)) return 'always';
    return isOnly(step.both, limit.type) && isRangeEmpty(step.both, limit.type) ? 'never' : 'maybe';
  }
  return Object.hasOwn(DECIDERS, keyword)
    ? (DECIDERS[keyword]?.(value, step, lint, part) ?? 'maybe')
    : 'maybe';
}

/** Keywords with which the validator may not end in time, or not at all. */
const ENDLESS = ['$ref', '$dynamicRef', 'pattern', 'patternProperties'];

/** Keywords whose meaning depends on no other: what the schema has with the same value is met already. */
const SELF_CONTAINED: ReadonlySet<string> = new Set(['multipleOf', 'pattern', 'format', 'uniqueItems']);

function decideListed(list: readonly Json[], step: Step, lint: Lint): Answer {
  const { schema, gate } = step;
  lint.budget -= list.length;
  if (schema.values !== null) {
    const texts = new Set(list.map(textOf));
    return compareAll([...schema.values.keys()].map((text) => texts.has(text)));
  }
  const isMet = list.some((value) => isPossible(value, schema, lint) && isPossible(value, gate, lint));
  return isMet ? 'maybe' : 'never';
}

/** Whether a value may satisfy the schemas that some facts come from. */
function isPossible(value: Json, { nodes, resolve }: Facts, lint: Lint): boolean {
  const schema = factsOfValue(value);
  const gate = factsOf(resolve, []);
  const step = { path: [], schema, gate, both: schema, resolve, trail: [], named: new Set<string>() };
  return nodes.every((node) => decide(node, { ...step, isNeeded: false }, lint) !== 'never');
}

/** Whether a text matches; true where that is not known, and null with it. */
function matches(pattern: string, value: Json, lint: Lint): boolean | null {
  if (typeof value !== 'string') return true;
  if (lint.isSlow) return null;
  const timed = underDeadline(() => new RegExp(pattern, 'u').test(value), PATTERN_DEADLINE_MS);
  lint.isSlow = timed.kind !== 'done';
  return timed.kind === 'done' ? timed.value : null;
}

/** A property that the gate or the schema requires and the other one forbids; null where the values conflict. */
function conflictingName({ both, gate, schema }: Step): string | null {
  if (!isOnly(both, 'object')) return null;
  return [...both.required].find((name) => isForbidden(schema, name) || isForbidden(gate, name)) ?? null;
}

function isOnly({ types }: Facts, type: string): boolean {
  return types.size === 1 && [...types].every((each) => each === type);
}

function joinAnswers(answers: readonly Answer[]): Answer {
  if (answers.includes('never')) return 'never';
  return answers.includes('maybe') ? 'maybe' : 'always';
}

function invert(answer: Answer): Answer {
  if (answer === 'maybe') return answer;
  return answer === 'always' ? 'never' : 'always';
}

function unlessNever(answer: Answer): Answer {
  return answer === 'never' ? 'maybe' : answer;
}

function unlessAlways(answer: Answer): Answer {
  return answer === 'always' ? 'maybe' : answer;
}

/** What all answers say; not certain where they differ. */
function agree(answers: readonly Answer[]): Answer {
  const [first = 'maybe'] = answers;
  return answers.every((answer) => answer === first) ? first : 'maybe';
}

function compareAll(results: readonly (boolean | null)[]): Answer {
  return agree(results.map((result) => (result === null ? 'maybe' : result ? 'always' : 'never')));
}

/** An answer that only counts where the validator certainly ends: a gate that does not end is not met. */
function ifItEnds(parts: Json, answer: Answer): Answer {
  if (answer !== 'always') return answer;
  const isEndless = listOf(parts).some(
    (part) =>
      isObject(part) &&
      [...schemaNodes(part)].some(({ node }) => ENDLESS.some((each) => node[each] !== undefined)),
  );
  return isEndless ? 'maybe' : answer;
}

/** A property that the gate asks about and the schema does not declare there. */
interface Undeclared {
  /** Keys from the root; `*` stands for every entry of an array. */
  readonly path: readonly string[];
  /** What the schema declares there. */
  readonly candidates: readonly string[];
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'];

/** Finds properties that the gate asks about and no branch of the schema declares, although it declares others there. */
function findUndeclared(gate: JsonObject, schema: JsonObject): readonly Undeclared[] {
  const found = new Map<string, Undeclared>();
  const [inGate, inSchema] = [createResolver(gate), createResolver(schema)];
  const branches = (resolve: Resolve, schemas: readonly Json[]) =>
    collectNodes(resolve, schemas, BRANCHES).nodes;
  const queue: { parts: Json; schemas: readonly Json[]; path: readonly string[] }[] = [
    { parts: gate, schemas: [schema], path: [] },
  ];
  // Each part once, at the place nearest to the root: a gate may refer to itself.
  const seen = new Set<JsonObject>();
  // The queue grows while it is walked.
  for (const { parts, schemas, path } of queue) {
    const declaring = branches(inSchema, schemas);
    const candidates = new Set(
      declaring.flatMap(({ properties }) => entriesOf(properties).map(([name]) => name)),
    );
    const isOpen =
      candidates.size === 0 ||
      declaring.some(
        ({ additionalProperties, patternProperties }) =>
          isObject(additionalProperties) || patternProperties !== undefined,
      );
    for (const part of branches(inGate, listOf(parts)).filter((each) => !seen.has(each))) {
      seen.add(part);
      for (const [name, inner] of entriesOf(part['properties'])) {
        const place = [...path, name];
        // Below the root, false asks that nothing be there, and then nothing need be declared.
        if (!candidates.has(name) && !isOpen && (inner !== false || path.length === 0))
          found.set(jsonPointer(place), { path: place, candidates: [...candidates] });
        const inners = declaring.flatMap(({ properties }) =>
          isObject(properties) && Object.hasOwn(properties, name) ? listOf(properties[name]) : [],
        );
        if (candidates.has(name) || isOpen) queue.push({ parts: inner, schemas: inners, path: place });
      }
      const items = declaring.flatMap((each) => [...listOf(each['items']), ...listOf(each['prefixItems'])]);
      for (const inner of ['items', 'prefixItems', 'contains'].flatMap((each) => listOf(part[each])))
        queue.push({ parts: inner, schemas: items, path: [...path, '*'] });
    }
  }
  return [...found.values()];
}

const EXAMPLE = '{"properties": {"passed": {"const": true}}}';

function describeVacuous(gate: JsonObject, schema: JsonObject, undeclared: readonly Undeclared[]): string {
  const wishes = describeWishes(gate);
  const what =
    wishes === null
      ? 'every payload meets it.'
      : `it wants ${wishes}, and every payload that the schema accepts meets that.`;
  const [first] = undeclared;
  if (first !== undefined)
    return `The gate checks nothing: ${what} The schema does not declare ${describePlace(first.path)}. ${suggestName(first)}`;
  const [name] = declaredBooleans(schema);
  const example = name === undefined ? EXAMPLE : toSpacedJson({ properties: { [name]: { const: true } } });
  return `The gate checks nothing: ${what} Write what must hold, such as ${example}, or leave the gate out.`;
}

function describePresenceOnly(names: readonly string[]): string {
  const list = names.slice(0, MAX_NAMES).map((name) => describePlace([name]));
  return `The gate only asks that ${list.join(', ')} be present, whatever the value. Write what the value must be, such as {"const": true}.`;
}

function describeUndeclared(undeclared: Undeclared, named: readonly string[]): string {
  const { path } = undeclared;
  const [name = ''] = path;
  const effect =
    path.length === 1 && named.includes(name)
      ? 'a payload without it does not meet the gate'
      : 'a payload without it meets that part of the gate';
  return `The gate is about ${describePlace(path)}, which the schema does not declare: ${effect}. ${suggestName(undeclared)}`;
}

function suggestName({ path, candidates }: Undeclared): string {
  const near = nearest(path.at(-1) ?? '', candidates.slice(0, MAX_CANDIDATES));
  if (near.length === 0) return 'Correct the name, or declare it in the schema.';
  return `Did you mean ${near.map((name) => describePlace([name])).join(' or ')}?`;
}

function describeConflict({ path, schema, gate, name }: Conflict): string {
  const end = 'so no payload can meet the gate.';
  if (name !== null) {
    const place = describePlace([...path, name]);
    if (!isForbidden(schema, name))
      return `The gate allows no property ${place}, but the schema requires it, ${end} Declare it under properties of the gate, or remove additionalProperties from the gate.`;
    const candidates = schema.nodes.flatMap(({ properties }) => entriesOf(properties).map(([each]) => each));
    return `The gate is about ${place}, which the schema does not allow, ${end} ${suggestName({ path: [...path, name], candidates })}`;
  }
  const place = describePlace(path);
  if (gate.isImpossible) {
    const [absent = ''] = path;
    const fix =
      path.length === 1
        ? `To ask for its absence, write {"not": {"required": [${JSON.stringify(absent)}]}}.`
        : 'Remove false from the gate.';
    return `The gate allows no value for ${place}, ${end} ${fix}`;
  }
  const { resolve } = gate;
  const unknown = factsOf(resolve, []);
  const alone = { path, schema: unknown, gate, resolve, trail: [], isNeeded: false };
  const isOwnFault =
    decideValue({ allOf: gate.nodes }, alone, { budget: BUDGET, conflict: null, isSlow: false }) === 'never';
  const allowed = isOwnFault ? '' : describeKeywords(schema.nodes);
  const reason = allowed === '' ? 'which nothing satisfies' : `but the schema requires it ${allowed}`;
  return `The gate wants ${place} ${describeKeywords(gate.nodes)}, ${reason}, ${end} ${suggestPart(schema, gate)}`;
}

/** What to write at the place of a conflict: the first candidate that some values there meet and others do not. */
function suggestPart(schema: Facts, gate: Facts): string {
  const candidates: { part: JsonObject; hint: string }[] = [];
  const add = (part: JsonObject, hint = '') => candidates.push({ part, hint });
  const listed = [...(schema.values?.values() ?? [])];
  for (const value of gate.nodes.flatMap(listedValues).flat().slice(0, MAX_NAMES)) {
    if (typeof value === 'string') {
      for (const other of [true, false, null, ...(value.trim() === '' ? [] : [Number(value)])])
        if (String(other) === value.trim().toLowerCase()) add({ const: other }, ', without quotes');
      const texts = listed.filter((each) => typeof each === 'string').slice(0, MAX_CANDIDATES);
      for (const near of nearest(value, texts, 1)) add({ const: near });
    } else if (typeof value !== 'object' || value === null) add({ const: String(value) }, ', in quotes');
  }
  for (const node of gate.nodes) {
    for (const keyword of ['const', ...LIMITS.keys()]) {
      const value = node[keyword];
      if (typeof value !== 'number') continue;
      const type = LIMITS.get(keyword)?.type ?? 'number';
      const [lower, upper] = [boundOf(schema, type, 1).limit, -boundOf(schema, type, -1).limit];
      add({ [keyword]: Math.min(Math.max(value, lower), upper) });
    }
  }
  add({ const: true });
  for (const value of listed.slice(0, 1)) add({ const: value });
  for (const part of [{ minLength: 1 }, { maxItems: 0 }, { const: 0 }]) add(part);
  const resolve: Resolve = () => null;
  const fitting = candidates.find(({ part }) => {
    const lint = { budget: BUDGET, conflict: null, isSlow: false };
    const place = { path: [], schema, gate: factsOf(resolve, [part]), resolve, trail: [], isNeeded: false };
    return decideValue(part, place, lint) === 'maybe';
  });
  if (fitting === undefined || schema.nodes.length === 0) return 'Correct the gate, or the schema.';
  return `Write ${toSpacedJson(fitting.part)}${fitting.hint}.`;
}

/** JSON on one line, as people write it. */
function toSpacedJson(value: Json): string {
  return JSON.stringify(value, null, 1)
    .replace(/([{[])\n */g, '$1')
    .replace(/\n *([}\]])/g, '$1')
    .replace(/\n */g, ' ');
}
