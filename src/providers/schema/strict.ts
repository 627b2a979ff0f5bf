/** Copies a projection into a dialect that knows a part of JSON Schema only; what it cannot say is handed back. */
import { isArray, isObject } from '../../text/json.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { StrictDialect } from './dialects.ts';
import { areDisjoint } from './disjoint.ts';
import { emitted } from './emit.ts';
import { subschemas } from './keywords.ts';
import { type Inside, ownForm } from './own.ts';
import { allLost, anything, type Copy, conjunction, disjunction, type Form, isEmpty } from './plain.ts';
import { createScope, type Scope } from './scope.ts';

/** Schemas nested deeper than that accept anything. */
const maxNesting = 200;

/** How many references may be followed into each other; of these, the first that keeps the copy small counts. */
const followingDepths = [24, 6, 3, 1];

/**
 * The parameters of a tool in a strict dialect: of a draft 2020-12 object schema without combinators at its root, all
 * of whose references lead to `#` or to a definition of the root.
 */
export function strictCopy(parameters: JsonObject, dialect: StrictDialect): Copy {
  const size = countSchemas(parameters);
  const budget = 2000 + 3 * size;
  for (const depth of followingDepths) {
    const scope = createScope(parameters, dialect, depth, budget);
    const copy = rootCopy(parameters, scope);
    if (!scope.isSpent()) return copy;
  }
  return rootCopy(parameters, createScope(parameters, dialect, 0, budget));
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

function rootCopy(parameters: JsonObject, scope: Scope): Copy {
  const { $defs: _, definitions: __, ...root } = parameters;
  const all = copied(formOf(root, scope, 0), root, scope);
  const definitions = scope.definitions((each) => copied(formOf(each, scope, 0), each, scope));
  const { type: ___, ...rest } = all.schema;
  // llama.cpp takes an object that names no property for one that has none, unless it is told.
  const isOpen = rest['properties'] === undefined && rest['additionalProperties'] === undefined;
  const open = isOpen && scope.dialect === 'compatible' ? { additionalProperties: true } : {};
  return {
    schema: { type: 'object', properties: {}, ...rest, ...open, ...definitions.schema },
    lost: allLost([all.lost, definitions.lost]),
  };
}

/** A form as a schema that stands where one must stand; that it accepts nothing is lost. */
function copied(form: Form, source: Json, scope: Scope): Copy {
  const copy = emitted(form, scope.dialect);
  if (copy !== null) return copy;
  const open = emitted(anything, scope.dialect);
  return { schema: open?.schema ?? {}, lost: isObject(source) ? source : { not: {} } };
}

function formOf(source: Json, scope: Scope, depth: number): Form {
  if (!isObject(source)) return source === false ? { ...anything, alternatives: [] } : anything;
  return scope.remembered(source, () => {
    if (depth > maxNesting) return { ...anything, lost: source };
    const { not, $ref } = source;
    if (isObject(not) && isEmpty(not)) return { ...anything, alternatives: [] };
    const form = (each: Json) => formOf(each, scope, depth + 1);
    const inside: Inside = {
      dialect: scope.dialect,
      form,
      copy: (each) => emitted(form(each), scope.dialect),
    };
    const forms = [
      ownForm(source, inside),
      ...listAt(source, 'allOf').map(form),
      ...unionForm(source, 'anyOf', scope, form),
      ...unionForm(source, 'oneOf', scope, form),
    ];
    return conjunction(typeof $ref === 'string' ? [...forms, scope.referenced($ref, forms, form)] : forms);
  });
}

/** Both keywords become `anyOf`; where that says less, the keyword is lost. */
function unionForm(
  source: JsonObject,
  keyword: string,
  scope: Scope,
  form: (each: Json) => Form,
): readonly Form[] {
  const branches = listAt(source, keyword);
  if (branches.length === 0) return [];
  const forms = branches.map(form);
  const union = disjunction(forms);
  const isWhole =
    forms.every(({ lost }) => isEmpty(lost)) &&
    (keyword === 'anyOf' || areDisjoint(branches.map(scope.resolved)));
  return [isWhole ? union : { ...union, lost: Object.fromEntries([[keyword, branches]]) }];
}

function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const value = schema[keyword];
  return value !== undefined && isArray(value) ? value : [];
}
