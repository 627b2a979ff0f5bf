/** What the jobs of a workflow hand on that call another workflow. */
import { readTrustedFile } from '../../config/trusted-file.ts';
import { parseExpression } from './expression.ts';
import type { Output } from './outputs.ts';
import { meaningOf } from './references.ts';
import type { Called, Job, Source, Workflow } from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

/** A workflow with its sources. */
export interface Judged {
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
}

/** Workflows that call each other: GitHub allows ten levels. */
const MAX_LEVELS = 10;

/**
 * Reads the workflows that jobs call, as far as they lie in the same repository.
 * @param judged makes the workflow of a text, with what its own steps give; null where it is none.
 */
export async function calledWorkflows(
  workflow: Workflow,
  root: string,
  judged: (file: string, text: string) => Promise<Judged | null>,
  level = 0,
): Promise<ReadonlyMap<Job, Called>> {
  const found = new Map<Job, Called>();
  for (const job of workflow.jobs) {
    const uses = textAt(job.node, 'uses');
    if (uses === null || level >= MAX_LEVELS) continue;
    if (/^[\w.-]+\/[\w.-]+\/\.github\/workflows\/[^@]+@/u.test(uses))
      found.set(job, { name: uses, isKnown: false, isOurs: false, outputs: new Map() });
    if (!/^\.\/\.github\/workflows\/[^/]+\.ya?ml$/u.test(uses)) continue;
    const reading = await readTrustedFile(uses, { root, outside: 'refused', maxBytes: 1024 ** 2 });
    const inner = reading.ok ? await judged(uses, reading.text) : null;
    if (inner === null) continue;
    const called = await calledWorkflows(inner.workflow, root, judged, level + 1);
    const whole = { ...inner.workflow, called };
    const isOurs = inner.sources.length > 0 || [...called.values()].some((each) => each.isOurs);
    found.set(job, { name: uses, isKnown: true, isOurs, outputs: outputsOf(whole, inner.sources) });
  }
  return found;
}

/** The outputs of a workflow that others call; null for one that is none of the action's. */
function outputsOf(workflow: Workflow, sources: readonly Source[]): Called['outputs'] {
  const outputs = valueAt(valueAt(valueAt(workflow.root, 'on'), 'workflow_call'), 'outputs');
  const found = new Map<string, { output: Output; source: Source } | null>();
  for (const { key, value } of outputs?.kind === 'map' ? outputs.entries : []) {
    const text = value.kind === 'map' ? (textAt(value, 'value') ?? '') : '';
    const inner = /^\s*\$\{\{(.*)\}\}\s*$/su.exec(text)?.[1];
    const expression = inner === undefined ? null : parseExpression(inner);
    const meaning =
      expression === null ? null : meaningOf(expression, { job: null, step: null }, workflow, sources);
    found.set(key.toLowerCase(), meaning?.kind === 'output' ? meaning : null);
  }
  return found;
}
