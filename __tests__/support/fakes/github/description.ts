/** GitHub's OpenAPI description (see extract-openapi.ts), which validates requests and responses. */
import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';

type Node = { readonly [key: string]: unknown };

/** The described operation that matches a request. */
export interface Operation {
  /** Such as `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly name: string;
  /** The path parameters, decoded. */
  readonly fill: Readonly<Record<string, string>>;
  /** The problems of the request. */
  checkRequest(query: URLSearchParams, body: unknown): readonly string[];
  /** The problems of a response; a status that the operation does not describe is one. */
  checkAnswer(status: number, body: unknown): readonly string[];
  /** GitHub's example of the response. */
  example(status: number): unknown;
}

/** The description. */
export interface Description {
  /** Finds the operation; null if GitHub has none. `path` is encoded, as it was sent. */
  find(method: string, path: string): Operation | null;
}

/** Status codes that every operation can return, although they are not described. */
const ALWAYS = [401, 403, 404, 406, 422, 429, 500, 502, 503];

const document: unknown = JSON.parse(
  readFileSync(new URL('../../../fixtures/github-openapi.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false, allErrors: true, logger: false, coerceTypes: false });
ajvFormats.default(ajv);
ajv.addSchema({ $id: 'github', ...nodeOf(document) });

/** The published description, with schemas compiled on first use. */
export function openDescription(): Description {
  const routes = Object.entries(nodeOf(nodeOf(document)['paths'])).flatMap(([route, methods]) =>
    Object.entries(nodeOf(methods)).map(([method, operation]) => ({
      method: method.toUpperCase(),
      route,
      pattern: patternOf(route),
      operation: nodeOf(operation),
    })),
  );
  return {
    find(method, path) {
      const found = routes.filter((each) => each.method === method && each.pattern.test(path));
      // The one with the most words of its own: `/commits/{ref}` gives way to `/commits/{sha}/pulls`.
      const [best] = found.toSorted((one, other) => words(other.route) - words(one.route));
      if (best === undefined) return null;
      const encoded = best.pattern.exec(path)?.groups ?? {};
      const fill = Object.fromEntries(
        Object.entries(encoded).map(([name, value]) => [name, decodeURIComponent(value)]),
      );
      return operationOf(`${method} ${best.route}`, fill, best.operation);
    },
  };
}

function operationOf(name: string, fill: Readonly<Record<string, string>>, operation: Node): Operation {
  const answers = nodeOf(operation['responses']);
  const contentOf = (status: number) =>
    nodeOf(nodeOf(nodeOf(resolved(answers[String(status)]))['content'])['application/json']);
  return {
    name,
    fill,
    checkRequest: (query, body) => [
      ...checkParameters(operation, fill, query),
      ...checkBody(operation, body),
    ],
    checkAnswer(status, body) {
      if (!Object.hasOwn(answers, String(status)) && !ALWAYS.includes(status))
        return [`${name} never answers ${status}.`];
      const { schema } = contentOf(status);
      return schema === undefined ? [] : check(schema, body, 'The answer');
    },
    example(status) {
      const [first] = Object.values(nodeOf(contentOf(status)['examples']));
      return structuredClone(nodeOf(resolved(first))['value']);
    },
  };
}

function checkParameters(
  operation: Node,
  fill: Readonly<Record<string, string>>,
  query: URLSearchParams,
): readonly string[] {
  const described = listOf(operation['parameters']).map((each) => nodeOf(resolved(each)));
  const given = (place: unknown, name: string) => (place === 'path' ? fill[name] : query.get(name));
  const known = new Set(described.filter((each) => each['in'] === 'query').map((each) => each['name']));
  const unknown = [...query.keys()].filter((name) => !known.has(name));
  const faults = described.flatMap(({ in: place, name, required, schema }) => {
    const value = given(place, String(name)) ?? null;
    if (value === null || value === '') return required === true ? [`${name} is missing.`] : [];
    const isNumber = nodeOf(resolved(schema))['type'] === 'integer' && /^\d+$/u.test(value);
    return check(schema, isNumber ? Number(value) : value, String(name));
  });
  return [...unknown.map((name) => `${name} is no parameter of the query.`), ...faults];
}

/** Stricter than GitHub: a property that is not described is most likely a mistake. */
function checkBody(operation: Node, body: unknown): readonly string[] {
  const wanted = nodeOf(operation['requestBody']);
  const { schema } = nodeOf(nodeOf(wanted['content'])['application/json']);
  if (schema === undefined) return body === undefined ? [] : ['No body is described.'];
  if (body === undefined) return wanted['required'] === true ? ['The body is missing.'] : [];
  const known = Object.keys(nodeOf(nodeOf(schema)['properties']));
  const unknown = Object.keys(nodeOf(body)).filter((name) => !known.includes(name));
  return [
    ...unknown.map((name) => `${name} is no property of the body.`),
    ...check(schema, body, 'The body'),
  ];
}

const compiled = new Map<unknown, ValidateFunction>();

function check(schema: unknown, value: unknown, what: string): readonly string[] {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    // `#/…` is to be found in the whole document.
    const absolute: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"github#/'));
    validate = ajv.compile(nodeOf(absolute));
    compiled.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${error.message}`);
}

/** The target of a `$ref`. */
function resolved(value: unknown): unknown {
  const reference = nodeOf(value)['$ref'];
  if (typeof reference !== 'string') return value;
  const keys = reference.slice(2).split('/');
  return resolved(keys.reduce<unknown>((inner, key) => nodeOf(inner)[key], document));
}

function patternOf(route: string): RegExp {
  // GitHub takes the path of a file with slashes as they are, and encoded.
  const pattern = route.replace(
    /\{(\w+)\}/gu,
    (_, name: string) => `(?<${name}>${name === 'path' ? '.+' : '[^/]+'})`,
  );
  return new RegExp(`^${pattern}$`, 'u');
}

function words(route: string): number {
  return route.split('/').filter((part) => !part.startsWith('{')).length;
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
