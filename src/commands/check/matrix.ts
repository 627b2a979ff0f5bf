/** What a job's matrix is made of, and what is read of it that it does not have. */
import { suggest } from '../../text/messages.ts';
import { embedded, nodesOf, parseExpression, pathOf } from './expression.ts';
import { type Fault, type Findings, wrong } from './finding.ts';
import { sitesOf } from './references.ts';
import { type Job, ourSteps, type Workflow } from './workflow.ts';
import { valueAt } from './yaml-file.ts';

/** The keys of a matrix in lower case, each with whether it has several values; null where nobody can tell them. */
export function matrixKeys(job: Job): ReadonlyMap<string, boolean> | null {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  const keys = new Map<string, boolean>();
  if (matrix === null) return keys;
  if (matrix.kind !== 'map') return null;
  for (const { key, value } of matrix.entries) {
    const name = key.toLowerCase();
    if (name === 'exclude') continue;
    if (name !== 'include') {
      keys.set(name, value.kind !== 'list' || value.items.length > 1);
      continue;
    }
    if (value.kind !== 'list') return null;
    for (const item of value.items) {
      if (item.kind !== 'map') return null;
      for (const entry of item.entries) keys.set(entry.key.toLowerCase(), true);
    }
  }
  return keys;
}

/** Looks at what the jobs that judge and merge read of their matrix: a key that there is not is an empty text. */
export function checkMatrix(workflow: Workflow, findings: Findings): void {
  for (const { job, scalar, expressions } of sitesOf(workflow)) {
    const keys = job === null || ourSteps(job).length === 0 ? null : matrixKeys(job);
    if (keys === null) continue;
    for (const { root, text, at } of expressions) {
      for (const node of nodesOf(root)) {
        const [context, key, ...others] = pathOf(node) ?? [];
        if (context !== 'matrix' || key === undefined || key === '*' || others.length > 0 || keys.has(key))
          continue;
        const part = text.slice(node.at, node.end);
        findings.add(workflow.file.placeIn(scalar, at + node.at, part), unknownKey(key, [...keys.keys()]));
      }
    }
  }
}

/** The keys with several values that a text is not about, so that it is the same for some legs; empty where unknown. */
export function keysNotIn(job: Job, text: string): readonly string[] {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  const keys = matrixKeys(job);
  // What is added or left out may belong together.
  if (keys === null || ['include', 'exclude'].some((each) => valueAt(matrix, each) !== null)) return [];
  const read = new Set<string>();
  for (const { text: inner } of embedded(text)) {
    const path = pathOf(parseExpression(inner) ?? NOTHING);
    if (path === null || !['matrix', 'github', 'vars', 'inputs'].includes(path[0] ?? '')) return [];
    if (path[0] === 'matrix') read.add(path[1] ?? '');
  }
  return [...keys].flatMap(([key, isMany]) => (isMany && !read.has(key) ? [key] : []));
}

const NOTHING = { kind: 'literal', value: null, at: 0, end: 0 } as const;

function unknownKey(key: string, keys: readonly string[]): Fault {
  const shown = JSON.stringify(key.slice(0, 100));
  if (keys.length === 0) {
    const message = `This job has no matrix, so what is read of it is always empty.`;
    return wrong('unknown-matrix-key', message, 'Give the job a strategy with a matrix, or write a value.');
  }
  const near = suggest(key, keys);
  const message = `The matrix of this job has no ${shown}, so it is always empty.`;
  const fix = near.length === 0 ? `Its keys are ${keys.join(', ')}.` : `Did you mean ${near.join(' or ')}?`;
  return wrong('unknown-matrix-key', message, fix);
}
