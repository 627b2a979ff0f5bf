/** Projects a schema and compares the accepted payloads and the content of both. */
import type { Contract } from '../../../src/contract/contract.ts';
import { type Dialect, type Projection, projectSchema } from '../../../src/providers/schema/project.ts';
import { isArray, isObject } from '../../../src/text/json.ts';
import type { Json, JsonObject } from '../../../src/types.ts';
import { validatorOfWire } from '../../providers/schema/validate-wire.ts';
import { likelyInstance, seeded } from './instances.ts';
import { wireViolations } from './wire-rules.ts';

/** The problems of a projection and the number of checks. */
export interface WireCheck {
  readonly projection: Projection;
  readonly problems: readonly string[];
  /** The number of valid payloads that were checked. */
  readonly instances: number;
}

/** Payloads that a contract accepts: the given ones and generated ones. */
export function validInstances(
  contract: Contract,
  given: readonly Json[],
  tries: number,
  seed: number,
): readonly Json[] {
  const random = seeded(seed);
  const made = Array.from({ length: tries }, () => likelyInstance(contract.schema, random));
  return [...given, ...made].filter((each) => {
    const check = contract.check({ rawArguments: JSON.stringify(each), status: 'complete' });
    return check.ok && check.repaired === null;
  });
}

/** Checks that the projection of a schema is valid, accepts these payloads and contains its literals and names. */
export function checkProjection(schema: JsonObject, dialect: Dialect, valid: readonly Json[]): WireCheck {
  const before = JSON.stringify(schema);
  const projection = projectSchema(schema, dialect);
  const problems = [...wireViolations(projection.parameters, dialect)];
  if (JSON.stringify(schema) !== before) problems.push('the schema itself was changed');
  if (valid.length > 0) {
    const accepts = validatorOfWire(projection.parameters, dialect, true);
    for (const each of valid)
      if (!accepts(each)) problems.push(`refuses ${JSON.stringify(each).slice(0, 200)}`);
  }
  const [had, has] = [contentsOf(schema), contentsOf(projection.parameters)];
  for (const literal of has.literals)
    if (!had.literals.has(literal)) problems.push(`a literal of its own: ${literal}`);
  for (const name of has.names) if (!had.names.has(name)) problems.push(`a name of its own: ${name}`);
  const { parameters, note } = projection;
  for (const name of Object.keys(isObject(schema['properties']) ? schema['properties'] : {})) {
    const isSaid = isObject(parameters['properties']) && Object.hasOwn(parameters['properties'], name);
    if (!isSaid && note === null) problems.push(`the property ${name} is gone`);
  }
  return { projection, problems, instances: valid.length };
}

interface Contents {
  readonly literals: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

const maps = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];
const literals = ['const', 'default', 'enum', 'examples'];

/** The literals (as JSON; items of lists separately) and property names in a schema. */
function contentsOf(schema: JsonObject): Contents {
  const found = { literals: new Set<string>(), names: new Set<string>() };
  const rest: Json[] = [schema];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (isArray(next)) for (const each of next) rest.push(each);
    if (!isObject(next)) continue;
    for (const [keyword, value] of Object.entries(next)) {
      if (literals.includes(keyword)) {
        const isList = isArray(value) && (keyword === 'enum' || keyword === 'examples');
        for (const each of isList ? value : [value]) found.literals.add(JSON.stringify(each));
      } else if (maps.includes(keyword) && isObject(value)) {
        for (const [name, each] of Object.entries(value)) {
          if (keyword === 'properties') found.names.add(name);
          rest.push(each);
        }
      } else rest.push(value);
    }
  }
  // A root that lists whole objects becomes the properties that they have.
  for (const literal of found.literals) {
    const value: Json = JSON.parse(literal);
    for (const [name, each] of isObject(value) ? Object.entries(value) : []) {
      found.names.add(name);
      found.literals.add(JSON.stringify(each));
    }
  }
  return found;
}
