/** Copies a projection into a dialect that knows a part of JSON Schema only; what it cannot express is handed back. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import { annotationsOf, isTaken, type StrictDialect } from './dialects.ts';
import { definitionPointer, findEndless, subschemas } from './refs.ts';

/** A schema as it is sent, and the keywords that were left out, as a schema to be read beside it. */
export interface Copy {
  readonly schema: JsonObject;
  readonly lost: JsonObject;
}

/** One way to satisfy a schema. Without `types` it is a reference, which has them itself. */
interface Option {
  readonly types: readonly string[] | null;
  readonly fields: JsonObject;
}

/** A schema as a list of options; none where it accepts nothing. */
interface Form {
  readonly options: readonly Option[];
  readonly annotations: JsonObject;
  readonly lost: JsonObject;
}

/** A definition, or the root. */
interface Target {
  readonly name: string;
  readonly schema: Json;
}

/** One copy of a tool's parameters. */
interface Context {
  readonly dialect: StrictDialect;
  readonly targets: ReadonlyMap<string, Target>;
  /** References that were followed on the way here. */
  readonly followed: ReadonlySet<string>;
  /** How many references may be followed into each other. */
  readonly maxFollowed: number;
  readonly nesting: number;
  /** How many more schemas are copied before no further reference is followed. */
  readonly budget: { left: number };
  /** The definitions that the copy refers to, by reference, and their names in it. */
  readonly wanted: Map<string, Target>;
  readonly names: Set<string>;
}

/** Schemas nested deeper than that accept anything. */
const maxNesting = 200;

/** How many references may be followed into each other: the first number that keeps the copy small is used. */
const followingDepths = [24, 6, 3, 1];

/** Every type of JSON Schema but `integer`, which `number` includes. */
const allTypes = ['string', 'number', 'boolean', 'object', 'array', 'null'];

const anything: Form = { options: [{ types: allTypes, fields: {} }], annotations: {}, lost: {} };
const nothing: Form = { options: [], annotations: {}, lost: {} };

/**
 * The parameters of a tool in a strict dialect: of a draft 2020-12 object schema without combinators at its root, all
 * of whose references lead to `#` or to a definition of the root.
 */
export function strictCopy(parameters: JsonObject, dialect: StrictDialect): Copy {
  const limit = 2000 + 3 * countSchemas(parameters);
  const targets = findTargets(parameters);
  const copyWith = (maxFollowed: number) => {
    const budget = { left: limit };
    const state = { budget, wanted: new Map(), names: new Set<string>() };
    const copy = copyRoot(parameters, {
      dialect,
      targets,
      followed: new Set(),
      maxFollowed,
      nesting: 0,
      ...state,
    });
    return { copy, isSmall: budget.left >= 0 };
  };
  for (const maxFollowed of followingDepths) {
    const { copy, isSmall } = copyWith(maxFollowed);
    if (isSmall) return copy;
  }
  return copyWith(0).copy;
}

function countSchemas(schema: JsonObject): number {
  let count = 0;
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    count += 1;
    if (isObject(next)) for (const child of subschemas(next)) rest.push(child);
  }
  return count;
}

function findTargets(parameters: JsonObject): ReadonlyMap<string, Target> {
  const { $defs, definitions, ...root } = parameters;
  const targets = new Map<string, Target>([['#', { name: 'root', schema: root }]]);
  for (const [keyword, map] of Object.entries({ definitions, $defs })) {
    for (const [name, schema] of isObject(map) ? Object.entries(map) : [])
      targets.set(definitionPointer(keyword, name), { name, schema });
  }
  return targets;
}

function copyRoot(parameters: JsonObject, context: Context): Copy {
  const { $defs: _, definitions: __, ...root } = parameters;
  const all = copyRequired(root, context);
  const schemas: [string, Json][] = [];
  const lost: [string, Json][] = [];
  // Copying one definition may refer to the next, which the iterator of a Map still reaches.
  for (const { name, schema } of context.wanted.values()) {
    const copy = copyRequired(schema, context);
    schemas.push([name, copy.schema]);
    if (!isEmpty(copy.lost)) lost.push([name, copy.lost]);
  }
  const { type: ___, ...rest } = all.schema;
  // llama.cpp takes an object that names no property for one that has none, unless it is told.
  const isOpen = rest['properties'] === undefined && rest['additionalProperties'] === undefined;
  return {
    schema: {
      type: 'object',
      properties: {},
      ...rest,
      ...(isOpen && context.dialect === 'compatible' ? { additionalProperties: true } : {}),
      ...asDefinitions(openCircles(schemas, copyRequired(true, context).schema)),
    },
    lost: combineLost([all.lost, asDefinitions(lost)]),
  };
}

/** Replaces definitions that are nothing but references to each other, which no grammar survives. */
function openCircles(entries: readonly [string, Json][], open: Json): readonly [string, Json][] {
  const next = new Map(
    entries.flatMap(([name, schema]): [string, string][] => {
      const reference = isObject(schema) ? schema['$ref'] : undefined;
      return typeof reference === 'string' ? [[name, reference.slice('#/$defs/'.length)]] : [];
    }),
  );
  const circles = findEndless(next);
  return entries.map(([name, schema]) => [name, circles.has(name) ? open : schema]);
}

function asDefinitions(entries: readonly (readonly [string, Json])[]): JsonObject {
  return entries.length === 0 ? {} : { $defs: Object.fromEntries(entries) };
}

/** Copies a schema where one is required: one that accepts nothing becomes one that accepts anything. */
function copyRequired(source: Json, context: Context): Copy {
  const copy = copySchema(source, context);
  if (copy !== null) return copy;
  return { schema: emit(anything, context.dialect).schema, lost: isObject(source) ? source : { not: {} } };
}

/** The copy of a schema; null where it accepts nothing. */
function copySchema(source: Json, context: Context): Copy | null {
  const form = readForm(source, context);
  return form.options.length === 0 ? null : emit(form, context.dialect);
}

/** Keywords of several schemas that must all hold, as one schema: of two demands under one keyword the first is kept. */
interface Merged {
  types: readonly string[];
  readonly keywords: Map<string, Json>;
  readonly properties: Map<string, Json>;
  readonly required: Set<Json>;
  readonly annotations: Map<string, Json>;
  readonly unions: [keyword: string, branches: readonly Json[]][];
  readonly lost: JsonObject[];
  /** References that must hold as well; they are merged last. */
  readonly references: string[];
  readonly followed: Set<string>;
  isImpossible: boolean;
}

function readForm(source: Json, context: Context): Form {
  if (!isObject(source)) return source === false ? nothing : anything;
  context.budget.left -= 1;
  if (context.nesting > maxNesting) return { ...anything, lost: source };
  const merged: Merged = {
    types: allTypes,
    keywords: new Map(),
    properties: new Map(),
    required: new Set(),
    annotations: new Map(),
    unions: [],
    lost: [],
    references: [],
    followed: new Set(context.followed),
    isImpossible: false,
  };
  merge(source, merged, context.dialect);
  mergeReferences(merged, context);
  if (merged.isImpossible || merged.types.length === 0) return nothing;
  return buildForm(merged, { ...context, followed: merged.followed, nesting: context.nesting + 1 });
}

function merge(source: Json, merged: Merged, dialect: StrictDialect): void {
  if (!isObject(source)) {
    merged.isImpossible ||= source === false;
    return;
  }
  const { $ref, allOf, type, properties, required, not, ...others } = source;
  if (isObject(not) && isEmpty(not)) merged.isImpossible = true;
  else if (not !== undefined) merged.lost.push({ not });
  merged.types = commonTypes(merged.types, typesOf(type));
  if (isObject(properties))
    for (const [name, each] of Object.entries(properties)) mergeProperty(name, each, merged);
  if (isArray(required ?? null)) for (const name of listAt(source, 'required')) merged.required.add(name);
  mergeKeywords(others, merged, dialect);
  for (const each of listAt(source, 'allOf')) merge(each, merged, dialect);
  if (typeof $ref === 'string') merged.references.push($ref);
}

function mergeProperty(name: string, value: Json, { properties, lost }: Merged): void {
  const before = properties.get(name);
  if (before === undefined || before === true || (isObject(before) && isEmpty(before)))
    properties.set(name, value);
  else if (value !== true && !isSame(before, value))
    lost.push({ properties: Object.fromEntries([[name, value]]) });
}

/** Keywords that mean something beside each other only: of two schemas with one of a group, the first counts. */
const groups = [
  ['items', 'prefixItems'],
  ['additionalProperties', 'patternProperties'],
  ['const', 'enum'],
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
];

function mergeKeywords(others: JsonObject, merged: Merged, dialect: StrictDialect): void {
  const { keywords, annotations, unions, lost } = merged;
  const taken = groups.filter((group) => group.some((keyword) => keywords.has(keyword))).flat();
  const dropped: [string, Json][] = [];
  for (const [keyword, value] of Object.entries(others)) {
    if (keyword === '$defs' || keyword === 'definitions') continue;
    if (annotationsOf[dialect].has(keyword)) {
      if (!annotations.has(keyword)) annotations.set(keyword, value);
    } else if ((keyword === 'anyOf' || keyword === 'oneOf') && isArray(value)) unions.push([keyword, value]);
    else if (!taken.includes(keyword) && !keywords.has(keyword)) keywords.set(keyword, value);
    else if (!isSame(keywords.get(keyword) ?? null, value)) dropped.push([keyword, value]);
  }
  if (dropped.length > 0) lost.push(Object.fromEntries(dropped));
}

/** A reference stays one where nothing else is demanded; elsewhere what it leads to is merged. */
function mergeReferences(merged: Merged, context: Context): void {
  const { references, keywords, properties, required, unions } = merged;
  const [reference] = references;
  const target = context.targets.get(reference ?? '');
  const isAlone = references.length + keywords.size + properties.size + required.size + unions.length === 1;
  if (context.dialect === 'compatible' && isAlone && reference !== undefined && target !== undefined) {
    keywords.set('$ref', `#/$defs/${nameDefinition(reference, target, context)}`);
    return;
  }
  // What a reference leads to may add references, which the iterator still reaches.
  for (const each of references) mergeTarget(each, merged, context);
}

function mergeTarget(
  reference: string,
  merged: Merged,
  { targets, dialect, maxFollowed, budget }: Context,
): void {
  const target = targets.get(reference);
  if (target === undefined) return;
  if (!merged.followed.has(reference) && merged.followed.size < maxFollowed && budget.left >= 0) {
    merged.followed.add(reference);
    budget.left -= 1;
    merge(target.schema, merged, dialect);
    return;
  }
  const { type, description }: JsonObject = isObject(target.schema) ? target.schema : {};
  const what =
    reference === '#' ? 'the arguments themselves' : `the definition ${JSON.stringify(target.name)}`;
  const hint = `Follows ${what}; see the note on this tool's arguments.`;
  merged.types = commonTypes(merged.types, typesOf(type));
  if (!merged.annotations.has('description'))
    merged.annotations.set(
      'description',
      typeof description === 'string' ? `${description} (${hint})` : hint,
    );
  merged.lost.push({ $ref: reference });
}

/** The name of a definition, without characters that need an escape: llama.cpp reads pointers as they are. */
function nameDefinition(
  reference: string,
  { name: own, schema }: Target,
  { wanted, names }: Context,
): string {
  const before = wanted.get(reference);
  if (before !== undefined) return before.name;
  const plain = own.replaceAll(/[^\w.-]/g, '_') || '_';
  let name = plain;
  for (let n = 2; names.has(name); n += 1) name = `${plain}_${n}`;
  names.add(name);
  wanted.set(reference, { name, schema });
  return name;
}

/** Keywords that are read together with others. */
const readTogether = new Set(['const', 'enum', 'items', 'prefixItems', 'additionalProperties']);

function buildForm(merged: Merged, context: Context): Form {
  const { dialect } = context;
  const { keywords, lost } = merged;
  const annotations = Object.fromEntries(merged.annotations);
  const $ref = keywords.get('$ref');
  if ($ref !== undefined)
    return { options: [{ types: null, fields: { $ref } }], annotations, lost: combineLost(lost) };
  const kept = new Map<string, Json>();
  for (const [keyword, value] of keywords) {
    if (readTogether.has(keyword)) continue;
    if (merged.types.some((type) => isTaken(dialect, keyword, value, type))) kept.set(keyword, value);
    else lost.push(Object.fromEntries([[keyword, value]]));
  }
  const types = readLiterals(merged, kept, dialect);
  if (dialect === 'gemini') readExclusive(merged, kept);
  readProperties(merged, kept, context);
  readItems(merged, kept, context);
  if (types.length === 0) return nothing;
  const single = { types, fields: Object.fromEntries(kept) };
  const [union, ...others] = merged.unions.map(([keyword, branches]) =>
    readUnion(keyword, branches, context),
  );
  if (union === undefined) return { options: [single], annotations, lost: combineLost(lost) };
  if ([union, ...others].some(({ options }) => options.length === 0)) return nothing;
  // Keywords beside a union, and a second union, are not distributed over its branches: the note has them.
  const isUnion = kept.size === 0;
  const dropped = merged.unions
    .slice(isUnion ? 1 : 0)
    .map(([keyword, branches]) => Object.fromEntries([[keyword, branches]]));
  const options = isUnion ? narrow(union.options, types) : [single];
  return { options, annotations, lost: combineLost([...lost, ...(isUnion ? [union.lost] : []), ...dropped]) };
}

function narrow(options: readonly Option[], types: readonly string[]): readonly Option[] {
  return options.flatMap((option): readonly Option[] => {
    const common = option.types === null ? null : commonTypes(option.types, types);
    return common?.length === 0 ? [] : [{ types: common, fields: option.fields }];
  });
}

/** Both keywords become `anyOf`; where that says less, the keyword is lost. */
function readUnion(keyword: string, branches: readonly Json[], context: Context): Form {
  const forms = branches.map((each) => readForm(each, context));
  const isWhole =
    forms.every(({ lost }) => isEmpty(lost)) &&
    (keyword === 'anyOf' || areDisjoint(branches.map((each) => resolve(each, context))));
  const options = uniteOptions(forms);
  return { options, annotations: {}, lost: isWhole ? {} : Object.fromEntries([[keyword, branches]]) };
}

function resolve(schema: Json, { targets }: Context): Json {
  const reference = isObject(schema) ? schema['$ref'] : undefined;
  return typeof reference === 'string' ? (targets.get(reference)?.schema ?? schema) : schema;
}

/** The options of all forms; those that are the same type, or literals of the same types, become one. */
function uniteOptions(forms: readonly Form[]): readonly Option[] {
  const known = new Map<string, Option>();
  const literals = new Map<string, Set<Json>>();
  for (const { options, annotations } of forms) {
    for (const [at, { types, fields: own }] of options.entries()) {
      // Beside a reference there is no place for annotations.
      const fields = at === 0 && types !== null ? { ...annotations, ...own } : own;
      const [keyword, ...more] = Object.keys(fields);
      const isMergeable = types !== null && more.length === 0 && (keyword ?? 'enum') === 'enum';
      const key = isMergeable ? `${types.join()} ${keyword}` : String(known.size);
      if (!known.has(key)) known.set(key, { types, fields });
      if (!isMergeable || keyword === undefined) continue;
      const values = literals.get(key) ?? new Set();
      literals.set(key, values);
      for (const value of listAt(fields, 'enum')) values.add(value);
    }
  }
  return [...known].map(([key, option]) => {
    const values = literals.get(key);
    return values === undefined ? option : { types: option.types, fields: { enum: [...values] } };
  });
}

/** `const` and `enum`; returns the types that are left. */
function readLiterals({ types, keywords, lost }: Merged, kept: Map<string, Json>, dialect: StrictDialect) {
  const single = keywords.get('const');
  const listed = keywords.get('enum');
  if (single !== undefined && listed !== undefined) lost.push({ enum: listed });
  const values = single === undefined ? listed : [single];
  if (values === undefined || !isArray(values)) return types;
  kept.set('enum', values);
  // Google's API has strings in `enum`, none of them empty; null is marked in another way.
  const isSayable = values.every((each) => each === null || (typeof each === 'string' && each !== ''));
  if (dialect === 'gemini' && !isSayable) lost.push({ enum: values });
  return commonTypes(typesOf([...new Set(values.map(typeOf))]), types);
}

/** Exclusive bounds as inclusive ones, which are the same for integers only. */
function readExclusive({ types, keywords }: Merged, kept: Map<string, Json>): void {
  const isWhole = types.every((type) => type !== 'number');
  const above = keywords.get('exclusiveMinimum');
  const below = keywords.get('exclusiveMaximum');
  if (typeof above === 'number') {
    const least = isWhole ? Math.floor(above) + 1 : above;
    kept.set('minimum', Math.max(Number(keywords.get('minimum') ?? least), least));
  }
  if (typeof below === 'number') {
    const most = isWhole ? Math.ceil(below) - 1 : below;
    kept.set('maximum', Math.min(Number(keywords.get('maximum') ?? most), most));
  }
}

function readProperties(merged: Merged, kept: Map<string, Json>, context: Context): void {
  const { keywords, lost } = merged;
  const copies: [string, Json][] = [];
  const losses: [string, Json][] = [];
  for (const [name, each] of merged.properties) {
    const copy = copySchema(each, context);
    if (copy !== null) copies.push([name, copy.schema]);
    if (copy === null) losses.push([name, each]);
    else if (!isEmpty(copy.lost)) losses.push([name, copy.lost]);
  }
  if (copies.length > 0) kept.set('properties', Object.fromEntries(copies));
  if (losses.length > 0) lost.push({ properties: Object.fromEntries(losses) });
  if (merged.required.size > 0) kept.set('required', [...merged.required]);
  const additionalProperties = keywords.get('additionalProperties');
  if (additionalProperties === undefined && !keywords.has('patternProperties')) return;
  const isGemini = context.dialect === 'gemini';
  // What the patterns allow must stay sayable, to llama.cpp too, which takes an object for closed by default.
  if (isGemini || keywords.has('patternProperties')) {
    if (!isGemini) kept.set('additionalProperties', true);
    if (additionalProperties !== undefined && additionalProperties !== true)
      lost.push({ additionalProperties });
    return;
  }
  const copy = isObject(additionalProperties) ? copySchema(additionalProperties, context) : null;
  const isClosed = isObject(additionalProperties) ? copy === null : additionalProperties === false;
  kept.set('additionalProperties', copy?.schema ?? !isClosed);
  if (copy !== null && !isEmpty(copy.lost) && additionalProperties !== undefined)
    lost.push({ additionalProperties });
}

/** `items`, which a tuple becomes too: a list of whatever it has at any position. */
function readItems({ keywords, lost }: Merged, kept: Map<string, Json>, context: Context): void {
  const items = keywords.get('items');
  const maxItems = keywords.get('maxItems');
  const prefix = listAt(Object.fromEntries(keywords), 'prefixItems');
  const isOpen = items === undefined || (isObject(items) && isEmpty(items));
  if (prefix.length > 0) {
    lost.push({ prefixItems: prefix });
    if (items !== undefined && !isOpen) lost.push({ items });
  }
  const isFull = typeof maxItems === 'number' && maxItems <= prefix.length;
  if (items === false && !isFull) kept.set('maxItems', prefix.length);
  const isClosed = items === false || isFull;
  if (!isClosed && isOpen) return;
  const schemas = isClosed || items === undefined ? prefix : [...prefix, items];
  const [first, ...others] = schemas.map((each) => readForm(each, context));
  if (first === undefined) return;
  const form = others.length === 0 ? first : { ...anything, options: uniteOptions([first, ...others]) };
  if (form.options.length === 0) {
    kept.set('maxItems', 0);
    return;
  }
  const isAny = isAnything(form) && isEmpty(form.annotations);
  const copy = isAny ? { schema: {}, lost: form.lost } : emit(form, context.dialect);
  kept.set('items', copy.schema);
  if (prefix.length === 0 && !isEmpty(copy.lost)) lost.push({ items: copy.lost });
}

/** A form as a schema. */
function emit(form: Form, dialect: StrictDialect): Copy {
  const { options, annotations, lost } = form;
  if (dialect === 'gemini') return emitForGemini(form);
  const [first, ...others] = options;
  if (first === undefined || others.length > 0)
    return { schema: { ...annotations, anyOf: options.map((each) => emitOption(each, {})) }, lost };
  // Servers overlook, or refuse, what is beside a reference.
  if (first.types === null) return { schema: first.fields, lost: combineLost([annotations, lost]) };
  return { schema: emitOption(first, annotations), lost };
}

function emitOption({ types, fields }: Option, annotations: JsonObject): JsonObject {
  if (types === null) return fields;
  const [first, ...others] = types;
  const rest = Object.entries(fields).filter(
    ([keyword, value]) =>
      annotationsOf.compatible.has(keyword) ||
      types.some((type) => isTaken('compatible', keyword, value, type)),
  );
  const items = types.includes('array') && fields['items'] === undefined ? { items: {} } : {};
  const type: Json = first !== undefined && others.length === 0 ? first : types;
  return { type, ...annotations, ...Object.fromEntries(rest), ...items };
}

/** One type to a schema; null is not a type but a mark on another one. */
function emitForGemini({ options, annotations, lost }: Form): Copy {
  const losses: JsonObject[] = [lost];
  const typed = options.flatMap(({ types, fields }) =>
    (types ?? [])
      .filter((type) => type !== 'null')
      .map((type): JsonObject => ({ type, ...fieldsFor(type, fields, losses) })),
  );
  const isNullable = options.some(({ types }) => types?.includes('null'));
  const [first, ...others] = typed;
  if (first === undefined) {
    const schema = { type: 'string', ...annotations, nullable: true };
    return { schema, lost: combineLost([...losses, { type: 'null' }]) };
  }
  const { type, ...rest } = first;
  const head = { type: type ?? 'string', ...annotations, ...rest, ...(isNullable ? { nullable: true } : {}) };
  // Beside `anyOf` no other keyword is allowed.
  return { schema: others.length === 0 ? head : { anyOf: [head, ...others] }, lost: combineLost(losses) };
}

function fieldsFor(type: string, fields: JsonObject, losses: JsonObject[]): JsonObject {
  const kept = new Map<string, Json>();
  for (const [keyword, value] of Object.entries(fields)) {
    if (annotationsOf.gemini.has(keyword)) kept.set(keyword, value);
    else if (keyword === 'enum') {
      const strings = isArray(value) ? value.filter((each) => typeof each === 'string') : [];
      if (type === 'string' && !strings.includes('')) kept.set(keyword, strings);
    } else if (keyword === 'required' && type === 'object' && isArray(value)) {
      const properties = fields['properties'];
      const isKnown = (name: Json) =>
        typeof name === 'string' && isObject(properties) && Object.hasOwn(properties, name);
      const known = value.filter(isKnown);
      if (known.length > 0) kept.set(keyword, known);
      if (known.length < value.length) losses.push({ required: value.filter((name) => !isKnown(name)) });
    } else if (isTaken('gemini', keyword, value, type)) kept.set(keyword, value);
  }
  if (type === 'array' && !kept.has('items')) kept.set('items', {});
  return Object.fromEntries(kept);
}

/** Schemas that were lost at one place, as one. */
export function combineLost(parts: readonly JsonObject[]): JsonObject {
  const keywords = new Map<string, Json>();
  const others: Json[] = [];
  for (const part of parts) {
    const entries = Object.entries(part);
    if (entries.some(([keyword]) => keywords.has(keyword))) others.push(part);
    else for (const [keyword, value] of entries) keywords.set(keyword, value);
  }
  const { allOf, ...rest } = Object.fromEntries(keywords);
  if (others.length === 0) return allOf === undefined ? rest : { ...rest, allOf };
  return { ...rest, allOf: [...(isArray(allOf) ? allOf : []), ...others] };
}

/** Whether an object has no keys. */
export function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}

function isAnything({ options: [first, ...others] }: Form): boolean {
  return first?.types?.length === allTypes.length && others.length === 0 && isEmpty(first.fields);
}

/** The types that a schema names, all of them where it names none. */
function typesOf(type: Json | undefined): readonly string[] {
  if (typeof type === 'string') return [type];
  if (type === undefined || !isArray(type)) return allTypes;
  const names = type.filter((each) => typeof each === 'string');
  return names.includes('number') ? names.filter((each) => each !== 'integer') : names;
}

/** The type of a literal. */
function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (typeof value !== 'number') return typeof value;
  return Number.isInteger(value) ? 'integer' : 'number';
}

/** The types that both name. */
function commonTypes(one: readonly string[], other: readonly string[]): readonly string[] {
  const common = one.flatMap((type) => {
    if (other.includes(type)) return [type];
    const isNarrower =
      type === 'integer' ? other.includes('number') : type === 'number' && other.includes('integer');
    return isNarrower ? ['integer'] : [];
  });
  return distinct(common);
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return value !== undefined && isArray(value) ? value : [];
}

/** Whether two values are surely the same; large ones are not compared. */
function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  const isSmall = [one, other].every(
    (each) => isObject(each) && Object.keys(each).length < 4 && !Object.values(each).some(isObject),
  );
  return isSmall && JSON.stringify(one) === JSON.stringify(other);
}

/** Whether no value can match two of the branches, because of their types, their literals or a tag in each. */
export function areDisjoint(branches: readonly Json[]): boolean {
  const types = branches.map((branch) => distinct(typesIn(branch)));
  const literals = branches.map((branch) => literalsOf(branch)?.map((each) => JSON.stringify(each)) ?? null);
  return (
    haveNoneInCommon(types) ||
    haveNoneInCommon(literals.map((list) => list && distinct(list))) ||
    haveOwnTags(branches)
  );
}

function haveNoneInCommon(lists: readonly (readonly string[] | null)[]): boolean {
  const all = lists.flatMap((list) => list ?? []);
  return !lists.includes(null) && new Set(all).size === all.length;
}

function typesIn(branch: Json): readonly string[] {
  const types = literalsOf(branch)?.map(typeOf) ?? typesOf(isObject(branch) ? branch['type'] : undefined);
  return types.map((type) => (type === 'integer' ? 'number' : type));
}

function literalsOf(schema: Json | undefined): readonly Json[] | null {
  if (!isObject(schema ?? null)) return null;
  const { const: single, enum: listed }: JsonObject = isObject(schema) ? schema : {};
  if (single !== undefined) return [single];
  return listed !== undefined && isArray(listed) ? listed : null;
}

/** A property that all branches ask for, each with another string. */
function haveOwnTags(branches: readonly Json[]): boolean {
  const [first, ...others] = branches.map(tagsOf);
  return [...(first ?? [])].some(([name, value]) => {
    const values = [value, ...others.map((tags) => tags.get(name))];
    return values.every((each) => each !== undefined) && new Set(values).size === values.length;
  });
}

function tagsOf(branch: Json): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  if (!isObject(branch) || branch['type'] !== 'object') return tags;
  const { properties } = branch;
  for (const name of listAt(branch, 'required')) {
    if (typeof name !== 'string' || !isObject(properties) || !Object.hasOwn(properties, name)) continue;
    const [value, ...more] = literalsOf(properties[name]) ?? [];
    if (typeof value === 'string' && more.length === 0) tags.set(name, value);
  }
  return tags;
}
