/**
 * Reports what the projection makes of published schemas, and how its time grows: `npm run wire-report [-- COUNT]`.
 * Ends with 1 where a projection is illegal or refuses a valid payload, or where time grows faster than size.
 */
import { performance } from 'node:perf_hooks';
import { seeded } from '../__tests__/support/instances.ts';
import { type Published, publishedSchemas } from '../__tests__/support/published-schemas.ts';
import { checkProjection, validInstances } from '../__tests__/support/wire-check.ts';
import { type Contract, createContract } from '../src/contract/contract.ts';
import { ContractError } from '../src/errors.ts';
import { type Dialect, projectSchema } from '../src/providers/schema/projection.ts';
import { isObject } from '../src/text/json.ts';
import type { Json, JsonObject } from '../src/types.ts';

const dialects: readonly Dialect[] = ['openai', 'anthropic', 'gemini', 'compatible'];

/** Time per schema, or per part of one, may grow by this factor: machines are noisy, and squares would be at 16. */
const tolerance = 5;

async function contractOf(schema: JsonObject): Promise<Contract | ContractError> {
  try {
    return await createContract(schema);
  } catch (error) {
    if (error instanceof ContractError) return error;
    throw error;
  }
}

async function reportProjections(all: readonly Published[]): Promise<number> {
  const refused = new Map<string, number>();
  const rows = new Map(dialects.map((dialect) => [dialect, { whole: 0, noted: 0, bytes: 0, problems: 0 }]));
  let [accepted, instances] = [0, 0];
  for (const [at, { source, schema, instances: given }] of all.entries()) {
    const contract = await contractOf(schema);
    if (contract instanceof ContractError) {
      refused.set(contract.stage, (refused.get(contract.stage) ?? 0) + 1);
      continue;
    }
    accepted += 1;
    const valid = validInstances(contract, given ?? [], 12, at);
    instances += valid.length;
    for (const [dialect, row] of rows) {
      const { projection, problems } = checkProjection(schema, dialect, valid);
      if (projection.note === null) row.whole += 1;
      else row.noted += 1;
      row.bytes += JSON.stringify(projection).length;
      if (problems.length > 0) row.problems += 1;
      for (const problem of problems.slice(0, 3)) console.log(`${source}, ${dialect}: ${problem}`);
    }
  }
  const stages = [...refused].map(([stage, number]) => `${number} at ${stage}`).join(', ');
  console.log(`schemas read: ${all.length}; accepted by the contract: ${accepted}; refused: ${stages}`);
  console.log(`valid payloads shown to each projection: ${instances}\n`);
  console.log('dialect     whole  with a note  KB in all  with problems');
  for (const [dialect, row] of rows) {
    const cells = [row.whole, row.noted, Math.round(row.bytes / 1024), row.problems];
    console.log(
      dialect.padEnd(10) + cells.map((cell, at) => String(cell).padStart([7, 13, 11, 15][at] ?? 0)).join(''),
    );
  }
  return [...rows.values()].reduce((sum, row) => sum + row.problems, 0);
}

/** Compiles and projects `count` variations; compares the first tenth with the last one. */
async function reportRepetition(all: readonly Published[], count: number): Promise<boolean> {
  const usable: JsonObject[] = [];
  for (const { schema } of all) {
    if (!((await contractOf(schema)) instanceof ContractError)) usable.push(schema);
  }
  const tenth = Math.max(1, Math.round(count / 10));
  const times = Array.from({ length: 10 }, () => ({ compile: 0, project: 0 }));
  for (let at = 0; at < tenth * 10; at += 1) {
    const schema = varied(usable[at % usable.length] ?? {}, at);
    const time = times[Math.floor(at / tenth)];
    const start = performance.now();
    await contractOf(schema);
    const compiled = performance.now();
    for (const dialect of dialects) projectSchema(schema, dialect);
    if (time === undefined) continue;
    time.compile += compiled - start;
    time.project += performance.now() - compiled;
  }
  const ratio = (pick: (time: { compile: number; project: number }) => number) => {
    const [first, last] = [times[0], times.at(-1)];
    return first === undefined || last === undefined ? 1 : pick(last) / pick(first);
  };
  const ratios = [ratio((time) => time.compile), ratio((time) => time.project)];
  const shown = ratios.map((each) => each.toFixed(2));
  console.log(`\n${tenth * 10} schemas: time per schema, last ${tenth} to first ${tenth}`);
  console.log(`compile ${shown[0]}, project for all dialects ${shown[1]}`);
  // Fewer than there are say more of what they are than of when they came.
  return tenth < usable.length || ratios.every((each) => each < tolerance);
}

/** The same schema in another order, under another title. */
function varied(schema: JsonObject, seed: number): JsonObject {
  const { properties } = schema;
  const random = seeded(seed);
  const title = `variation ${seed}`;
  if (!isObject(properties)) return { ...schema, title };
  const entries = Object.entries(properties)
    .map((entry): [number, [string, Json]] => [random(), entry])
    .sort(([one], [other]) => one - other)
    .map(([, entry]) => entry);
  return { ...schema, title, properties: Object.fromEntries(entries) };
}

/** Schemas of one shape and any size. */
const shapes: readonly (readonly [name: string, schema: (size: number) => JsonObject])[] = [
  [
    'properties',
    (n) => ({ type: 'object', properties: map(n, (k) => ({ type: 'string', maxLength: k + 1 })) }),
  ],
  ['enum values', (n) => object({ a: { enum: list(n, (k) => `value ${k}`) } })],
  [
    'anyOf fan',
    (n) =>
      object({
        a: { anyOf: list(n, (k) => ({ type: 'object', properties: map(1, () => ({ const: k })) })) },
      }),
  ],
  [
    'anyOf fan at the root',
    (n) => ({ anyOf: list(n, (k) => ({ properties: { kind: { const: k }, [`p${k}`]: {} } })) }),
  ],
  [
    'closed oneOf fan at the root',
    (n) => ({ oneOf: list(n, (k) => ({ properties: { [`p${k}`]: {} }, additionalProperties: false })) }),
  ],
  [
    'allOf fan at the root',
    (n) => ({ allOf: list(n, (k) => ({ properties: { [`p${k}`]: { type: 'string' } } })) }),
  ],
  [
    'allOf fan',
    (n) => object({ a: { allOf: list(n, (k) => ({ properties: { [`p${k}`]: { type: 'string' } } })) } }),
  ],
  [
    'chain of references',
    (n) => ({ allOf: [{ $ref: `#/$defs/d${n - 1}` }], $defs: chain(n, (next) => next) }),
  ],
  [
    'chain of properties',
    (n) =>
      object(
        { a: { $ref: `#/$defs/d${n - 1}` } },
        chain(n, (next) => object({ next })),
      ),
  ],
  [
    'chain of allOf',
    (n) =>
      object(
        { a: { $ref: `#/$defs/d${n - 1}` } },
        chain(n, (next, k) => ({ allOf: [next, next, object(map(1, () => ({ const: k })))] })),
      ),
  ],
  [
    'two references each',
    (n) =>
      object(
        { a: { $ref: `#/$defs/d${n - 1}` } },
        chain(n, (next) => object({ l: next, r: next })),
      ),
  ],
  [
    'recursion',
    (n) =>
      object(
        { a: { $ref: '#/$defs/p0' } },
        map(n, (k) =>
          object({ l: { $ref: `#/$defs/p${(k * 7 + 1) % n}` }, r: { $ref: `#/$defs/p${(k * 3 + 2) % n}` } }),
        ),
      ),
  ],
  [
    'references to the root',
    (n) => ({ type: 'object', properties: map(n, () => ({ $ref: '#' })), not: { required: ['x'] } }),
  ],
  [
    'anchors',
    (n) =>
      object(
        { a: { $ref: '#a0' } },
        map(n, (k) => ({
          $anchor: `a${k}`,
          type: 'object',
          properties: { next: { $ref: `#a${(k + 1) % n}` } },
        })),
      ),
  ],
];

function object(properties: JsonObject, $defs: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...(Object.keys($defs).length === 0 ? {} : { $defs }) };
}

function list(size: number, make: (at: number) => Json): readonly Json[] {
  return Array.from({ length: size }, (_, at) => make(at));
}

function map(size: number, make: (at: number) => Json): JsonObject {
  return Object.fromEntries(list(size, make).map((each, at) => [`p${at}`, each]));
}

function chain(size: number, make: (next: JsonObject, at: number) => Json): JsonObject {
  const links = list(size, (at) =>
    at === 0 ? { type: 'object' } : make({ $ref: `#/$defs/d${at - 1}` }, at),
  );
  return Object.fromEntries(links.map((each, at) => [`d${at}`, each]));
}

function reportGrowth(): boolean {
  const [small, large] = [1000, 16_000];
  console.log(
    `\ntime per part, ${large} parts to ${small} parts of a schema; KB per 1,000 parts of the larger one`,
  );
  console.log(`shape${' '.repeat(27)}${dialects.map((dialect) => dialect.padStart(14)).join('')}`);
  let isLinear = true;
  for (const [name, make] of shapes) {
    const cells = dialects.map((dialect) => {
      const [one, other] = [timed(make(small), dialect), timed(make(large), dialect)];
      const ratio = other.ms / large / Math.max(one.ms / small, 0.0005);
      if (ratio > tolerance) isLinear = false;
      return `${ratio.toFixed(2)} ${String(Math.round(other.bytes / large)).padStart(5)}K`;
    });
    console.log(name.padEnd(32) + cells.map((cell) => cell.padStart(14)).join(''));
  }
  return isLinear;
}

/** The best of several times. */
function timed(schema: JsonObject, dialect: Dialect): { readonly ms: number; readonly bytes: number } {
  let ms = Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (let round = 0; round < 6; round += 1) {
    const start = performance.now();
    const projection = projectSchema(schema, dialect);
    ms = Math.min(ms, performance.now() - start);
    bytes = JSON.stringify(projection).length;
  }
  return { ms, bytes };
}

const count = Number(process.argv[2] ?? 10_000);
const published = publishedSchemas();
const problems = await reportProjections(published);
const isSteady = await reportRepetition(published, count);
const isLinear = reportGrowth();
process.exitCode = problems === 0 && isSteady && isLinear ? 0 : 1;
