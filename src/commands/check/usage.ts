/** Checks what a workflow does with the verdicts of its steps: conditions, scripts, and jobs that go on regardless. */
import type { Node, Scalar } from 'yaml';
import { DISPLAY } from '../../text/limits.ts';
import { truncate } from '../../text/messages.ts';
import { expressionsIn, type Path, parseExpression, readsIn, weaknessesIn } from './conditions.ts';
import { CONCLUSION, type Output, PAYLOAD, RUN_NAMES } from './outputs.ts';
import { type Fault, JOB, OUTPUT } from './rules.ts';
import {
  entriesOf,
  type Job,
  mentions,
  type Step,
  scalarsIn,
  textAt,
  textOf,
  valueAt,
  type Workflow,
} from './workflow.ts';

/** A step of the action with its outputs. */
export interface Source {
  readonly job: Job;
  readonly step: Step;
  /** The outputs of the payload; null if the schema is not known. */
  readonly outputs: readonly Output[] | null;
}

/** A text of the workflow that may hold expressions; the step is null for what belongs to the job itself. */
interface Site {
  readonly job: Job;
  readonly step: Step | null;
  readonly scalar: Scalar;
  /** The keys below the step or the job, joined by dots. */
  readonly key: string;
}

export function checkUsage(workflow: Workflow, sources: readonly Source[]): void {
  for (const job of workflow.jobs) {
    for (const { scalar, keys } of scalarsIn(job.node)) {
      const step = keys[0] === 'steps' ? job.steps.find(({ index }) => String(index) === keys[1]) : undefined;
      const key = keys.slice(step === undefined ? 0 : 2).join('.');
      checkSite({ job, step: step ?? null, scalar, key }, workflow, sources);
    }
    checkRegardless(job, workflow, sources);
  }
  for (const source of sources) checkForgiven(source, workflow);
}

function checkSite(site: Site, workflow: Workflow, sources: readonly Source[]): void {
  const { scalar, key, job } = site;
  const isScript = key === 'run' || key === 'with.script';
  for (const expression of expressionsIn(textOf(scalar) ?? '', key === 'if')) {
    const text = expression.trim();
    const root = parseExpression(text);
    const report = (fault: Fault) => workflow.reportIn(scalar, text, fault);
    for (const path of root === null ? [] : readsIn(root)) {
      const [, , third, name] = path;
      const source = sourceOf(path, job, sources);
      const isWhole = third === undefined || (third === 'outputs' && (name === undefined || name === '*'));
      if (source !== null && isWhole && isScript) report(OUTPUT.script('What is read of the step'));
      if (source !== null && third === 'outputs' && name !== undefined && !isWhole && isUnknown(name, source))
        report(OUTPUT.unknown(name, namesOf(source)));
      const read = readOf(path, job, workflow, sources);
      if (read === null) continue;
      if (isScript && read.output.kind === 'text') report(OUTPUT.script(read.output.name));
      if (read.source.job !== job && read.source.job.hasMatrix)
        report(OUTPUT.ofMatrix(read.output.name, read.source.job.id));
    }
    const outputOf = (path: Path) => readOf(path, job, workflow, sources)?.output ?? null;
    for (const { kind, path } of root === null ? [] : weaknessesIn(root, key === 'if', outputOf)) {
      const read = readOf(path, job, workflow, sources);
      if (read === null) continue;
      const { name, values, good } = read.output;
      const shown = truncate(text, DISPLAY.excerpt);
      if (kind === 'bare') report(OUTPUT.bare(shown, name, values));
      else if (kind === 'never') report(OUTPUT.neverTrue(shown, name, values));
      else report(OUTPUT.failsOpen(shown, name, good, runsWithoutVerdict(site, read.source)));
    }
  }
}

/** Returns the step of the action whose outputs or results a path reads: `steps.ID` in its own job. */
function sourceOf([context, id]: Path, job: Job, sources: readonly Source[]): Source | null {
  return (
    (context === 'steps' ? sources.find((each) => each.job === job && each.step.id === id) : null) ?? null
  );
}

interface Read {
  readonly source: Source;
  readonly output: Output;
}

/** Returns the output that a path reads, of a step in the same job or through the outputs of another job. */
function readOf(path: Path, job: Job, workflow: Workflow, sources: readonly Source[]): Read | null {
  const [context, id, third, name, ...rest] = path;
  if (third !== 'outputs' || name === undefined || rest.length > 0) return null;
  const needed = context === 'needs' ? workflow.jobs.find((each) => each.id === id) : undefined;
  if (needed !== undefined) {
    const declared = entriesOf(valueAt(needed.node, 'outputs'));
    const value = textOf(declared.find(([key]) => key.toLowerCase() === name)?.[1]) ?? '';
    const [inner = ''] = expressionsIn(value, false);
    const root = value.trim() === `\${{${inner}}}` ? parseExpression(inner) : null;
    const [read, ...others] = root === null ? [] : readsIn(root);
    if (read === undefined || others.length > 0 || read[0] !== 'steps') return null;
    return readOf(read, needed, workflow, sources);
  }
  const source = sourceOf(path, job, sources);
  const outputs = [...(source?.outputs ?? []), PAYLOAD, CONCLUSION];
  const output = outputs.find((each) => each.name.toLowerCase() === name);
  return source === null || output === undefined ? null : { source, output };
}

function namesOf({ outputs }: Source): readonly string[] {
  return [...(outputs ?? []).map(({ name }) => name), PAYLOAD.name, ...RUN_NAMES];
}

/** A merge has some outputs of its own about how it ended. */
function isUnknown(name: string, source: Source): boolean {
  if (namesOf(source).some((each) => each.toLowerCase() === name)) return false;
  return name.startsWith('run-') ? source.step.part === 'run' : source.outputs !== null;
}

/** Whether the condition is evaluated although the step gave no verdict. */
function runsWithoutVerdict(site: Site, { job, step }: Source): boolean {
  if (isForgiven(step.node) || (site.job !== job && isForgiven(job.node))) return true;
  if (textAt(step.node, 'with', 'on-missing-key') === 'skip') return true;
  const condition = textAt(site.job === job ? site.step?.node : site.job.node, 'if') ?? '';
  const asksHowItEnded = /\.(?:outcome|conclusion|result)\s*==/iu.test(condition);
  return /\balways\s*\(|!\s*cancelled\s*\(/iu.test(condition) && !asksHowItEnded;
}

function isForgiven(node: Node): boolean {
  return textAt(node, 'continue-on-error') === 'true';
}

/** Finds jobs that run after a failed verdict and never ask for it. A merge reads the verdicts from their files. */
function checkRegardless(job: Job, { report }: Workflow, sources: readonly Source[]): void {
  if (!/\b(?:always|cancelled)\s*\(/iu.test(textAt(job.node, 'if') ?? '')) return;
  if (job.steps.some(({ part }) => part === 'merge')) return;
  for (const id of new Set(sources.map((each) => each.job.id))) {
    const isAsked = [`needs.${id}.`, 'needs.*', 'tojson(needs'].some((part) => mentions(job.node, part));
    if (job.needs.includes(id) && !isAsked) report(job.node, ['if'], JOB.runsRegardless(id));
  }
}

function checkForgiven({ job, step }: Source, { report }: Workflow): void {
  const owner = [step.node, job.node].find(isForgiven);
  if (owner === undefined) return;
  const tells = !['never', 'off', null].includes(textAt(step.node, 'with', 'comment'));
  const isRead = step.id !== null && mentions(job.node, `steps.${step.id}.out`);
  report(owner, ['continue-on-error'], JOB.forgiven(isRead || tells));
}
