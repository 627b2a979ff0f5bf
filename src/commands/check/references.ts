/** Resolves the outputs that expressions in a workflow refer to. */
import { DISPLAY } from '../../text/limits.ts';
import { truncate } from '../../text/messages.ts';
import { type Expression, nodesOf, parseExpression, pathOf } from './expression.ts';
import type { Fault } from './finding.ts';
import { type Output, PAYLOAD_OUTPUT } from './outputs.ts';
import { OUTPUT } from './rules.ts';
import {
  actionSteps,
  type Called,
  givesVerdict,
  type Job,
  type Site,
  type Source,
  type Step,
  type Workflow,
} from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

export interface Read {
  readonly node: Expression;
  readonly output: Output;
  readonly source: Source;
}

/** The output that a reference resolves to, or what is wrong with it; null for a reference to something else. */
export type Meaning = { readonly output: Output; readonly source: Source } | { readonly fault: Fault } | null;

export function meaningOf(
  node: Expression,
  at: Pick<Site, 'job' | 'step'>,
  workflow: Workflow,
  sources: readonly Source[],
): Meaning {
  const [context, id = '', third, name] = pathOf(node) ?? [];
  if (id === '' || id === '*' || name === '*') return null;
  if (context === 'steps' && at.job !== null) return ofStep([id, third, name], at.job, at.step, sources);
  const isJob = context === (at.job === null ? 'jobs' : 'needs');
  return isJob ? ofJob([id, third, name], at.job, workflow, sources) : null;
}

/** The segments after the context: `steps.x.outputs.y` gives x, outputs and y. */
type Segments = readonly [id: string, third: string | undefined, name: string | undefined];

function ofStep(
  [id, third, name]: Segments,
  job: Job,
  reader: Step | null,
  sources: readonly Source[],
): Meaning {
  if (actionSteps(job).length === 0) return null;
  const step = job.steps.find((each) => each.id === id);
  if (step === undefined) {
    const ids = job.steps.flatMap((each) => each.id ?? []);
    return { fault: OUTPUT.unknownStep(id, ids) };
  }
  const source = sources.find((each) => each.step === step);
  if (source === undefined || third !== 'outputs' || name === undefined) return null;
  if (reader !== null && reader.index <= step.index) {
    return { fault: OUTPUT.beforeItRan(`steps.${id}.outputs.${name}`) };
  }
  return ofSource(name, source);
}

function ofSource(name: string, source: Source): Meaning {
  const { policy, step } = source;
  const about = [...source.about, PAYLOAD_OUTPUT];
  const own = policy?.outputs ?? [];
  const output =
    about.find((each) => each.name === name) ?? own.find((each) => each.name.toLowerCase() === name);
  if (output !== undefined) return { output, source };
  // If the schema cannot be read here, its properties are unknown; but the outputs about the run are always known.
  if (policy === null && !name.startsWith('run-')) return null;
  const isMerge = step.part === 'merge';
  const shown = policy !== null && /^[@\w./~][^\s{]{0,79}$/u.test(policy.name) ? policy.name : 'of the step';
  const giver = isMerge ? 'The merge' : policy === null ? 'The action' : `The schema ${shown}`;
  const all = own.map((each) => each.name).join(', ');
  const rest = isMerge ? `Read ${all}, or structured_output.` : `The schema's outputs are ${all}.`;
  const names = [...own, ...about].map((each) => each.name);
  const otherwise = all === '' ? 'Read structured_output.' : rest;
  return { fault: OUTPUT.unknown(`${giver} gives no output`, name, names, otherwise) };
}

function ofJob(
  [id, third, name]: Segments,
  reader: Job | null,
  workflow: Workflow,
  sources: readonly Source[],
): Meaning {
  const job = workflow.jobs.find((each) => each.id === id);
  const isOurs = job !== undefined && givesVerdict(job, workflow);
  if (!isOurs && (reader === null || !decides(reader, workflow))) return null;
  if (reader !== null && !reader.needs.includes(id)) return { fault: notNeeded(id, job, reader, workflow) };
  if (job === undefined || third !== 'outputs' || name === undefined) return null;
  const called = workflow.called.get(job);
  if (called !== undefined) return ofCalled(name, job, called);
  // The outputs of a called workflow are declared in that workflow.
  if (valueAt(job.node, 'uses') !== null) return null;
  const outputs = valueAt(job.node, 'outputs');
  const names = outputs?.kind === 'map' ? outputs.entries.map((each) => each.key.toLowerCase()) : [];
  const text = textAt(outputs, name);
  if (text === null) {
    const otherwise = `Add it to that job's outputs: ${name}: \${{ steps.ID.outputs.${name} }}.`;
    return {
      fault: OUTPUT.unknown(`The job ${JSON.stringify(id)} declares no output`, name, names, otherwise),
    };
  }
  const root = wholeExpression(text);
  const [context, stepId = '', ...rest] = (root === null ? null : pathOf(root)) ?? [];
  const meaning = context === 'steps' ? ofStep([stepId, rest[0], rest[1]], job, null, sources) : null;
  // A fault there is reported there.
  return meaning !== null && 'fault' in meaning ? null : meaning;
}

/** Parses a text that consists of a single expression; returns null for any other text. */
export function wholeExpression(text: string): Expression | null {
  const inner = /^\s*\$\{\{(.*)\}\}\s*$/su.exec(text)?.[1];
  return inner === undefined ? null : parseExpression(inner);
}

/** Resolves an output of a job that calls another workflow, whose steps are the sources. */
function ofCalled(name: string, job: Job, { name: file, isOurs, isKnown, outputs }: Called): Meaning {
  const found = outputs.get(name);
  if (found === undefined && isKnown && isOurs) {
    const otherwise = 'Add it below on: workflow_call: outputs: of that workflow.';
    const giver = `The workflow ${truncate(file, DISPLAY.path)} declares no output`;
    return { fault: OUTPUT.unknown(giver, name, [...outputs.keys()], otherwise) };
  }
  if (found === undefined || found === null) return null;
  const { source, output } = found;
  // Whether its job fails is decided in that workflow.
  const isForgiven = textAt(source.job.node, 'continue-on-error') !== null;
  return { output, source: { ...source, job, policy: isForgiven ? null : source.policy } };
}

/** Whether a job has a step of the action or is needed by a merge: what it reads affects what is reviewed. */
function decides(job: Job, workflow: Workflow): boolean {
  if (actionSteps(job).length > 0) return true;
  return workflow.jobs.some((each) => actionSteps(each, 'merge').length > 0 && each.needs.includes(job.id));
}

/** The context `needs` contains the jobs listed in `needs` of the same job, but not the jobs that those need. */
function notNeeded(id: string, job: Job | undefined, reader: Job, workflow: Workflow): Fault {
  const others = workflow.jobs.filter((each) => each !== reader);
  if (job === undefined)
    return OUTPUT.unknownJob(
      id,
      others.map((each) => each.id),
    );
  if (job === reader) return OUTPUT.unneeded(id, 'Read what the steps give: steps.ID.outputs.');
  const needs = reader.needs.length === 0 ? id : `[${[...reader.needs, id].join(', ')}]`;
  return OUTPUT.unneeded(id, `Add needs: ${needs}.`);
}

export function readsIn(
  root: Expression,
  at: Site,
  workflow: Workflow,
  sources: readonly Source[],
): readonly Read[] {
  return nodesOf(root).flatMap((node) => {
    const meaning = meaningOf(node, at, workflow, sources);
    return meaning !== null && 'output' in meaning ? [{ node, ...meaning }] : [];
  });
}

/** Finds reads of many outputs at once, or of a computed one: `toJSON(steps)`, `steps.*.outputs.x`, `outputs[x]`. */
export function wholesIn(root: Expression, { job }: Site, sources: readonly Source[]): readonly Expression[] {
  const nodes = nodesOf(root);
  const inner = new Set(nodes.flatMap((node) => (node.kind === 'member' ? [node.object] : [])));
  return nodes.filter((node) => {
    if (inner.has(node)) return false;
    const isComputed = node.kind === 'member' && pathOf(node) === null;
    const path = pathOf(isComputed ? node.object : node);
    const [context, id = '*', third = 'outputs'] = path ?? [];
    if (path === null || third !== 'outputs' || (path.length > 3 && !path.includes('*'))) return false;
    return sources.some((source) => {
      if (context === 'steps') return source.job === job && (id === '*' || id === source.step.id);
      if (context !== 'needs' || job?.needs.includes(source.job.id) !== true) return false;
      // A job without outputs exposes nothing.
      return (id === '*' || id === source.job.id) && valueAt(source.job.node, 'outputs') !== null;
    });
  });
}
