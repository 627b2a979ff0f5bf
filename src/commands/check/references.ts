/** Where a workflow reads what: the expressions of its texts, and the outputs that they mean. */
import { suggest } from '../../text/messages.ts';
import { type Embedded, type Expression, embedded, nodesOf, parseExpression, pathOf } from './expression.ts';
import { type Fault, wrong } from './finding.ts';
import { type Output, PAYLOAD_OUTPUT } from './outputs.ts';
import {
  type Called,
  givesVerdict,
  type Job,
  mergeSteps,
  ourSteps,
  type Source,
  type Step,
  type Workflow,
} from './workflow.ts';
import { type Scalar, scalarsOf, textAt, valueAt } from './yaml-file.ts';

/** A text of the workflow that holds expressions. */
export interface Site {
  /** null for the outputs of a workflow that others call. */
  readonly job: Job | null;
  /** null for what belongs to the job itself. */
  readonly step: Step | null;
  readonly scalar: Scalar;
  /** The keys that lead to it, from the step's or the job's own. */
  readonly keys: readonly string[];
  readonly isCondition: boolean;
  /** What should be one and cannot be read. */
  readonly unread: readonly Embedded[];
  readonly expressions: readonly { readonly root: Expression; readonly text: string; readonly at: number }[];
}

/** An output that an expression reads, or what is wrong with the reference; null for what is none of ours. */
export type Meaning =
  | { readonly kind: 'output'; readonly output: Output; readonly source: Source }
  | { readonly kind: 'fault'; readonly fault: Fault };

/** Every text of a workflow that holds expressions. */
export function* sitesOf(workflow: Workflow): Generator<Site> {
  const [steps = null] = workflow.isComposite ? workflow.jobs : [];
  const called = valueAt(valueAt(workflow.root, 'on'), 'workflow_call');
  const outputs = valueAt(workflow.isComposite ? workflow.root : called, 'outputs');
  if (outputs !== null) {
    for (const { scalar, keys } of scalarsOf(outputs)) yield* site(steps, null, scalar, keys);
  }
  for (const job of workflow.jobs) {
    for (const { key, value } of job.node.entries) {
      if (key === 'steps') continue;
      for (const { scalar, keys } of scalarsOf(value, [key])) yield* site(job, null, scalar, keys);
    }
    for (const step of job.steps) {
      for (const { scalar, keys } of scalarsOf(step.node)) yield* site(job, step, scalar, keys);
    }
  }
}

function* site(job: Job | null, step: Step | null, scalar: Scalar, keys: readonly string[]): Generator<Site> {
  const isCondition = keys.length === 1 && keys[0] === 'if';
  const parts =
    isCondition && !scalar.text.includes('${{') ? [{ text: scalar.text, at: 0 }] : embedded(scalar.text);
  const expressions = parts.flatMap(({ text, at }) => {
    const root = parseExpression(text);
    return root === null ? [] : [{ root, text, at }];
  });
  const read = new Set(expressions.map(({ at }) => at));
  const unread = parts.filter(({ at, text }) => text.trim() !== '' && !read.has(at));
  if (parts.length > 0) yield { job, step, scalar, keys, isCondition, unread, expressions };
}

/** What a node of an expression at a site means. */
export function meaningOf(
  node: Expression,
  at: Pick<Site, 'job' | 'step'>,
  workflow: Workflow,
  sources: readonly Source[],
): Meaning | null {
  const path = pathOf(node);
  if (path === null) return null;
  const [context, id = '', third, name] = path;
  if (id === '' || id === '*' || name === '*') return null;
  if (context === 'steps' && at.job !== null) return ofStep(id, third, name, at.job, at.step, sources);
  if (context === 'needs' && at.job !== null) return ofJob(id, third, name, at.job, workflow, sources);
  if (context === 'jobs' && at.job === null) return ofJob(id, third, name, null, workflow, sources);
  return null;
}

function ofStep(
  id: string,
  third: string | undefined,
  name: string | undefined,
  job: Job,
  reader: Step | null,
  sources: readonly Source[],
): Meaning | null {
  if (ourSteps(job).length === 0) return null;
  const step = job.steps.find((each) => each.id === id);
  if (step === undefined) {
    const ids = job.steps.flatMap((each) => each.id ?? []);
    const message = `No step of this job has the id ${JSON.stringify(id.slice(0, 100))}, so what is read of it is always empty.`;
    return {
      kind: 'fault',
      fault: wrong('unknown-step', message, meant(id, ids, 'Give the step of the action that id.')),
    };
  }
  const source = sources.find((each) => each.step === step);
  if (source === undefined || third !== 'outputs' || name === undefined) return null;
  if (reader !== null && reader.index <= step.index) {
    const message = `steps.${id}.outputs.${name} is read before that step has run, and is empty then.`;
    return { kind: 'fault', fault: wrong('read-too-early', message, 'Read it in a later step.') };
  }
  return ofSource(name, source);
}

function ofSource(name: string, source: Source): Meaning | null {
  const about = [...source.about, PAYLOAD_OUTPUT].find((each) => each.name === name);
  if (about !== undefined) return { kind: 'output', output: about, source };
  // Nobody knows what a schema declares that cannot be read here; but of the run there is nothing else.
  if (source.judge === null && !name.startsWith('run-')) return null;
  const own = source.judge?.outputs ?? [];
  const output = own.find((each) => each.name.toLowerCase() === name);
  if (output !== undefined) return { kind: 'output', output, source };
  const isMerge = source.step.part === 'merge';
  const schema =
    source.judge === null || isMerge
      ? `The ${isMerge ? 'merge' : 'action'}`
      : `The schema ${shownSchema(source.judge.name)}`;
  const names = [...own, ...source.about, PAYLOAD_OUTPUT].map((each) => each.name);
  const message = `${schema} gives no output ${JSON.stringify(name.slice(0, 100))}, so it is always empty.`;
  const all = own.map((each) => each.name).join(', ');
  const rest = isMerge ? `Read ${all}, or structured_output.` : `The schema's outputs are ${all}.`;
  const otherwise = all === '' ? 'Read structured_output.' : rest;
  return { kind: 'fault', fault: wrong('unknown-output', message, meant(name, names, otherwise)) };
}

function shownSchema(name: string): string {
  return /^[@\w./~][^\s{]{0,79}$/u.test(name) ? name : 'of the step';
}

function ofJob(
  id: string,
  third: string | undefined,
  name: string | undefined,
  reader: Job | null,
  workflow: Workflow,
  sources: readonly Source[],
): Meaning | null {
  const job = workflow.jobs.find((each) => each.id === id);
  const called = job === undefined ? undefined : workflow.called.get(job);
  const isOurs = job !== undefined && givesVerdict(job, workflow);
  if (!isOurs && (reader === null || !decides(reader, workflow))) return null;
  if (reader !== null && !reader.needs.includes(id))
    return { kind: 'fault', fault: notNeeded(id, job, reader, workflow) };
  if (job === undefined || third !== 'outputs' || name === undefined) return null;
  if (called !== undefined) return ofCalled(name, job, called);
  // What a called workflow hands on stands elsewhere.
  if (valueAt(job.node, 'uses') !== null) return null;
  const outputs = valueAt(job.node, 'outputs');
  const names = outputs?.kind === 'map' ? outputs.entries.map((each) => each.key.toLowerCase()) : [];
  const text = textAt(outputs, name);
  if (text === null) {
    const message = `The job ${JSON.stringify(id)} declares no output ${JSON.stringify(name.slice(0, 100))}, so it is always empty.`;
    const otherwise = `Add it to that job's outputs: ${name}: \${{ steps.ID.outputs.${name} }}.`;
    return { kind: 'fault', fault: wrong('unknown-output', message, meant(name, names, otherwise)) };
  }
  const meaning = passedOn(text, job, sources);
  return meaning?.kind === 'output' ? meaning : null;
}

/** What a job hands on that calls another workflow, whose steps are the sources. */
function ofCalled(name: string, job: Job, { name: file, isOurs, isKnown, outputs }: Called): Meaning | null {
  const found = outputs.get(name);
  if (found === undefined && isKnown && isOurs) {
    const message = `The workflow ${file.slice(0, 200)} declares no output ${JSON.stringify(name.slice(0, 100))}, so it is always empty.`;
    const otherwise = `Add it below on: workflow_call: outputs: of that workflow.`;
    return {
      kind: 'fault',
      fault: wrong('unknown-output', message, meant(name, [...outputs.keys()], otherwise)),
    };
  }
  if (found === undefined || found === null) return null;
  const { source, output } = found;
  // Whether its job is red is decided there.
  const isForgiven = textAt(source.job.node, 'continue-on-error') !== null;
  return { kind: 'output', output, source: { ...source, job, judge: isForgiven ? null : source.judge } };
}

/** Whether a job judges or merges, or is one that a merge waits for: what it reads decides what is judged. */
function decides(job: Job, workflow: Workflow): boolean {
  if (ourSteps(job).length > 0) return true;
  return workflow.jobs.some((each) => mergeSteps(each).length > 0 && each.needs.includes(job.id));
}

/** The context `needs` holds the jobs that are named in `needs` of the same job, and not those that they need. */
function notNeeded(id: string, job: Job | undefined, reader: Job, workflow: Workflow): Fault {
  const shown = JSON.stringify(id.slice(0, 100));
  if (job === undefined) {
    const message = `There is no job ${shown}, so what is read of it is always empty.`;
    const ids = workflow.jobs.filter((each) => each !== reader).map((each) => each.id);
    return wrong('not-needed', message, meant(id, ids, 'Name a job that is among the needs of this one.'));
  }
  const message = `The job ${shown} is not among this job's needs, so what is read of it is always empty.`;
  if (job === reader) return wrong('not-needed', message, 'Read what the steps give: steps.ID.outputs.');
  const needs = reader.needs.length === 0 ? id : `[${[...reader.needs, id].join(', ')}]`;
  return wrong('not-needed', message, `Add needs: ${needs}.`);
}

/** What a job's output hands on, where it is an output of the action and nothing else. */
export function passedOn(text: string, job: Job, sources: readonly Source[]): Meaning | null {
  const inner = /^\s*\$\{\{(.*)\}\}\s*$/su.exec(text)?.[1];
  const root = inner === undefined ? null : parseExpression(inner);
  const [context, id = '', third, name] = (root === null ? null : pathOf(root)) ?? [];
  return context === 'steps' ? ofStep(id, third, name, job, null, sources) : null;
}

/** The outputs of ours that an expression reads, each with its node. */
export function outputsIn(
  root: Expression,
  at: Site,
  workflow: Workflow,
  sources: readonly Source[],
): readonly { readonly node: Expression; readonly output: Output; readonly source: Source }[] {
  return [...nodesOf(root)].flatMap((node) => {
    const meaning = meaningOf(node, at, workflow, sources);
    return meaning?.kind === 'output' ? [{ node, output: meaning.output, source: meaning.source }] : [];
  });
}

/** What reads many outputs of ours at once, or one that is computed: `toJSON(steps)`, `steps.*.outputs.x`, `outputs[x]`. */
export function wholesIn(root: Expression, { job }: Site, sources: readonly Source[]): readonly Expression[] {
  const inner = new Set([...nodesOf(root)].flatMap((node) => (node.kind === 'member' ? [node.object] : [])));
  return [...nodesOf(root)].filter((node) => {
    if (inner.has(node)) return false;
    const isComputed = node.kind === 'member' && pathOf(node) === null;
    const path = pathOf(isComputed ? node.object : node);
    const [context, id = '*', third = 'outputs'] = path ?? [];
    if (path === null || third !== 'outputs' || (path.length > 3 && !path.includes('*'))) return false;
    return sources.some((source) => {
      if (context === 'steps') return source.job === job && (id === '*' || id === source.step.id);
      if (context !== 'needs' || job?.needs.includes(source.job.id) !== true) return false;
      // A job that hands nothing on has nothing to be read.
      return (id === '*' || id === source.job.id) && valueAt(source.job.node, 'outputs') !== null;
    });
  });
}

function meant(name: string, candidates: readonly string[], otherwise: string): string {
  const near = suggest(name, candidates);
  return near.length === 0 ? otherwise : `Did you mean ${near.join(' or ')}?`;
}
