/**
 * Writes __tests__/fixtures/github-openapi.json, the part of GitHub's own OpenAPI description that the test server goes
 * by: `node __tests__/support/fakes/github/extract-openapi.ts FOLDER`, FOLDER being the npm package `@octokit/openapi` (390 MB, MIT licensed,
 * and so no dependency) wherever it was unpacked. Operations and schemas are as published, but for texts, which nobody
 * tests, and `nullable`, which JSON Schema says in other words.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FIXTURE = fileURLToPath(new URL('../../../fixtures/github-openapi.json', import.meta.url));

/** The operations that the action uses. */
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  '/repos/{owner}/{repo}/contents/{path}': ['get'],
  '/repos/{owner}/{repo}/commits/{ref}': ['get'],
  '/repos/{owner}/{repo}/commits/{commit_sha}/pulls': ['get'],
  '/repos/{owner}/{repo}/pulls': ['get'],
  '/repos/{owner}/{repo}/pulls/{pull_number}': ['get'],
  '/repos/{owner}/{repo}/pulls/{pull_number}/files': ['get'],
  '/repos/{owner}/{repo}/issues/{issue_number}/comments': ['get', 'post'],
  '/repos/{owner}/{repo}/issues/comments/{comment_id}': ['get', 'patch', 'delete'],
  '/repos/{owner}/{repo}/statuses/{sha}': ['post'],
};

/** Annotations of a schema that constrain nothing. */
const WORDS = new Set([
  'description',
  'summary',
  'title',
  'example',
  'externalDocs',
  'tags',
  'default',
  'deprecated',
]);

type Node = { readonly [key: string]: unknown };

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of keys. @throws Error if there is none. */
function at(root: unknown, keys: readonly string[]): unknown {
  let value = root;
  for (const key of keys) {
    if (!isNode(value) || !Object.hasOwn(value, key)) throw new Error(`Nothing is at ${keys.join(' > ')}.`);
    value = value[key];
  }
  return value;
}

/** A schema without words, its `nullable` as a type, its `enum` with the null that a nullable one may be. */
function plain(value: unknown, isSchema: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => plain(each, isSchema));
  if (!isNode(value)) return value;
  // Below `properties` the keys are property names, and a property can be called `description`.
  const entries = Object.entries(value).filter(
    ([key]) => !isSchema || !(WORDS.has(key) || key.startsWith('x-')),
  );
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of entries)
    kept[key] = key === 'examples' || key === 'enum' ? inner : plain(inner, key !== 'properties');
  if (!isSchema || kept['nullable'] !== true) return kept;
  const { nullable: _, ...schema } = kept;
  return { anyOf: [{ type: 'null' }, schema] };
}

/** The references in a value, such as `#/components/schemas/issue`. */
function references(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isNode(value)) return [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

/** The part of the description with the operations and everything that they refer to. */
function excerpt(description: unknown): Node {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [route, methods] of Object.entries(OPERATIONS)) {
    paths[route] = Object.fromEntries(
      methods.map((method) => {
        const operation = at(description, ['paths', route, method]);
        const { parameters, requestBody, responses } = isNode(operation) ? operation : {};
        return [method, plain({ parameters, requestBody, responses }, true)];
      }),
    );
  }
  const components: Record<string, Record<string, unknown>> = {};
  const waiting = [...references(paths)];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const [, , kind = '', key = ''] = name.split('/');
    components[kind] ??= {};
    if (Object.hasOwn(components[kind], key)) continue;
    const found = at(description, ['components', kind, key]);
    const component = kind === 'examples' ? found : plain(found, true);
    components[kind][key] = component;
    if (kind !== 'examples') waiting.push(...references(component));
  }
  return { paths, components };
}

/** JSON with a line for each value at a depth, so that a changed operation or schema is one changed line. */
function formatLines(value: unknown, depth: number): string {
  if (depth === 0 || !isNode(value)) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${formatLines(each, depth - 1)}`,
  );
  return `{\n${lines.join(',\n')}\n}`;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Say where the package @octokit/openapi lies.');
  const description: unknown = JSON.parse(
    readFileSync(path.join(folder, 'generated/api.github.com.json'), 'utf8'),
  );
  const about = {
    source: `The npm package @octokit/openapi ${String(at(description, ['info', 'version']))}, generated/api.github.com.json, by extract-openapi.ts`,
    license: `MIT. ${readFileSync(path.join(folder, 'LICENSE'), 'utf8').replace(/\s+/gu, ' ').trim()}`,
  };
  const { paths, components } = excerpt(description);
  const text = `{"about": ${formatLines(about, 0)},\n"paths": ${formatLines(paths, 1)},\n"components": ${formatLines(components, 2)}}\n`;
  writeFileSync(FIXTURE, text);
}
