/** Whether a gate schema can tell payloads of a schema apart: refused where it certainly cannot, else doubted. */
import { ContractError } from '../errors.ts';
import { isArray, isObject, jsonPointer } from '../json.ts';
import type { Json, JsonObject } from '../types.ts';
import { toothless } from './gate-bite.ts';
import { isForbidden, isRequired, knownOf } from './gate-known.ts';
import { type Undeclared, undeclaredNames } from './gate-names.ts';

/** Names that are told of at most. */
const MAX_TOLD = 5;

/**
 * What is doubtful about a gate, a sentence or two each.
 * @param named the properties that have to be in the payload, because the gate names them.
 * @throws ContractError where every payload that the schema accepts meets the gate, or none does.
 */
export function doubtsOf(gate: JsonObject, schema: JsonObject, named: readonly string[]): readonly string[] {
  const known = knownOf(schema, [schema]);
  const mayLack = named.filter((name) => !isRequired(known, name));
  const undeclared = undeclaredNames(gate, schema);
  const doubts = undeclared.slice(0, MAX_TOLD).map((each) => unknownName(each, named.includes(each.name)));
  const never = [...named, ...requiredBy(gate)].find((name) => isForbidden(known, name));
  if (never !== undefined) throw new ContractError('root', impossible(never, undeclared));
  if (toothless(gate, null) !== null) {
    if (mayLack.length === 0) throw new ContractError('root', empty(gate));
    return [onlyThere(gate, mayLack), ...doubts];
  }
  const bites = mayLack.length > 0 ? null : toothless(gate, schema);
  if (bites === null) return doubts;
  const [forbidden] = bites.forbidden;
  if (forbidden === undefined) return [nothingMore];
  throw new ContractError('root', nothingBut(forbidden, undeclared));
}

const nothingMore =
  'Every payload meets the gate: it asks for nothing that the schema does not ask for already. Write what must hold, such as {"properties": {"passed": {"const": true}}}, or none.';

function empty(gate: JsonObject): string {
  const place = emptyPlace(gate);
  const why = place === '' ? '' : `, for ${shown(place)} turns nothing away`;
  const fix =
    place === ''
      ? 'Write what must hold, such as {"properties": {"passed": {"const": true}}}, or none.'
      : 'Write what must hold there, such as {"const": true}, or give none.';
  return `The gate asks for nothing: every payload meets it${why}. ${fix}`;
}

function onlyThere(gate: JsonObject, names: readonly string[]): string {
  const told = names.slice(0, MAX_TOLD).map(shown).join(', ');
  return `The gate wants nothing but that ${told} is there, whatever it says: ${shown(emptyPlace(gate))} turns nothing away. Write what must hold there, such as {"const": true}.`;
}

function impossible(name: string, undeclared: readonly Undeclared[]): string {
  const near = undeclared.find((each) => each.isAtRoot && each.name === name)?.near() ?? [];
  return `The gate is about ${shown(name)}, which the schema does not declare, and it lets nothing else be there: no payload meets the gate. ${meant(near)}`;
}

function nothingBut(place: string, undeclared: readonly Undeclared[]): string {
  const near = undeclared.find((each) => each.place === place)?.near() ?? [];
  return `The gate asks for nothing: every payload meets it, for the schema lets nothing be at ${shown(place)}. ${meant(near)}`;
}

function unknownName({ name, place, isAtRoot, near }: Undeclared, isNamed: boolean): string {
  const isWanted = isAtRoot && isNamed;
  const follows = isWanted
    ? 'a payload without it does not meet the gate'
    : 'where a payload has none, that part of the gate asks for nothing';
  return `The gate is about ${shown(isAtRoot ? name : place)}, which the schema does not declare: ${follows}. ${meant(near())}`;
}

function meant(near: readonly string[]): string {
  if (near.length === 0) return 'Correct the name, or declare it in the schema.';
  return `Did you mean ${near.map(shown).join(' or ')}?`;
}

function requiredBy(gate: JsonObject): readonly string[] {
  const { all } = knownOf(gate, [gate]);
  return all
    .flatMap(({ required }) => (isArray(required) ? required : []))
    .filter((name) => typeof name === 'string');
}

/** The first place of a gate that asks for nothing where something was to be asked, as a JSON pointer. */
function emptyPlace(gate: JsonObject): string {
  const path: (string | number)[] = [];
  for (let part: Json | undefined = gate; isObject(part); ) {
    const next = innerOf(part);
    if (next === null) break;
    path.push(...next.path);
    part = next.part;
  }
  return jsonPointer(path);
}

interface Inner {
  readonly path: readonly (string | number)[];
  readonly part: Json | undefined;
}

function innerOf(part: JsonObject): Inner | null {
  for (const [keyword, value] of Object.entries(part)) {
    if (['anyOf', 'oneOf'].includes(keyword) && isArray(value)) {
      const index = value.findIndex((each) => each === true || (isObject(each) && toothless(each, null)));
      if (index !== -1) return { path: [keyword, index], part: value[index] };
    }
    const first = isArray(value) ? value[0] : undefined;
    if (['allOf', 'prefixItems', 'items'].includes(keyword) && first !== undefined)
      return { path: [keyword, 0], part: first };
    const [entry] = isObject(value) ? Object.entries(value) : [];
    if (['properties', 'patternProperties', 'dependentSchemas'].includes(keyword) && entry !== undefined)
      return { path: [keyword, entry[0]], part: entry[1] };
    // What `not` turns away stands in it; nothing is to be found below.
    if (keyword === 'not') return { path: [keyword], part: undefined };
    if (['items', 'then', 'else', 'additionalProperties'].includes(keyword) && isObject(value))
      return { path: [keyword], part: value };
  }
  return null;
}

function shown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
