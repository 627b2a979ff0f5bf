/** What a workflow reads of the action's outputs, and what it decides by them. */

import { truncate } from '../../text/messages.ts';
import { type Atom, atomFault, atomsOf, holds, openDefaults, type Read } from './conditions.ts';
import { type Expression, evaluate, isTruthy, nodesOf, pathOf } from './expression.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import { MERGED_OUTPUTS, RUN_OUTPUTS } from './outputs.ts';
import { meaningOf, outputsIn, type Site, sitesOf, wholesIn } from './references.ts';
import {
  givesVerdict,
  type Job,
  mentions,
  mergeSteps,
  placeOf,
  type Source,
  type Step,
  type Workflow,
} from './workflow.ts';
import { scalarsOf, textAt, valueAt } from './yaml-file.ts';

type Reads = readonly (Read & { readonly source: Source })[];

/** Looks at every expression of a workflow. */
export function checkReads(workflow: Workflow, sources: readonly Source[], findings: Findings): void {
  for (const site of sitesOf(workflow)) {
    for (const expression of site.expressions) {
      const say = (node: Expression, fault: Fault) => {
        const part = expression.text.slice(node.at, node.end);
        findings.add(workflow.file.placeIn(site.scalar, expression.at + node.at, part), fault);
      };
      for (const node of nodesOf(expression.root)) {
        const meaning = meaningOf(node, site, workflow, sources);
        if (meaning?.kind === 'fault') say(node, meaning.fault);
      }
      for (const node of wholesIn(expression.root, site, sources)) {
        if (isScript(site)) say(node, intoScript('What is read of the step', 'TEXT'));
      }
      const reads = outputsIn(expression.root, site, workflow, sources);
      if (reads.length === 0) continue;
      for (const { node, output, source } of reads) {
        const fault = scriptFault(site, output) ?? matrixFault(site, source, output.name);
        if (fault !== null) say(node, fault);
      }
      checkExpression(expression, reads, site, say);
    }
    for (const { text, at } of site.unread) {
      if (/\b(?:steps|needs)\b/iu.test(text))
        findings.add(workflow.file.placeIn(site.scalar, at, text), unreadable);
    }
    const fault = formatFault(site, workflow, sources);
    if (fault !== null) findings.add(workflow.file.place(site.scalar.start), fault);
  }
  for (const job of workflow.jobs) checkUnconditional(job, workflow, findings);
}

function checkExpression(
  { root, text }: Site['expressions'][number],
  reads: Reads,
  site: Site,
  say: (node: Expression, fault: Fault) => void,
): void {
  const shown = (node: Expression) => truncate(text.slice(node.at, node.end), 120);
  const withoutVerdict = resultOf(root, reads, () => '');
  const failsJob = site.isCondition && failsWhere(site);
  let isTold = false;
  for (const atom of atomsOf(root, site.isCondition, reads)) {
    const fault = atomFault(atom, `${atom.negated ? 'The opposite of ' : ''}${shown(atom.node)}`, failsJob);
    if (fault === null || (MENDED_BY_OTHERS.has(fault.rule) && isClosedBesides(atom, root, reads))) continue;
    isTold = true;
    say(atom.node, fault);
  }
  for (const { node, fault } of openDefaults(root, reads)) say(node, fault);
  if (!site.isCondition || isTold) return;
  const bad = resultOf(
    root,
    reads,
    ({ output }) => output.values.find((each) => each !== output.good) ?? 'x',
  );
  const good = resultOf(root, reads, ({ output }) => output.good ?? 'x');
  if ([withoutVerdict, bad, good].every((each) => each === true)) {
    const fix = 'Join it with && instead of ||, or take the outputs out.';
    say(root, wrong('outputs-do-not-count', 'This condition holds whatever the verdict is.', fix));
  }
  if (neverRuns(root, reads, site)) say(root, redBefore);
}

/** What does no harm where another part of the condition asks for the verdict. */
const MENDED_BY_OTHERS = new Set(['fails-open', 'true-without-verdict', 'always-true']);

/** Whether the whole is false without a verdict of the step that an atom reads, whatever other steps say. */
function isClosedBesides(atom: Atom, root: Expression, reads: Reads): boolean {
  const steps = reads.filter(({ node }) => atom.reads.some((read) => read.node === node));
  const own = reads.filter(({ source }) => steps.some((each) => each.source === source));
  return resultOf(root, own, () => '') === false;
}

const unreadable = wrong(
  'expression',
  'This is no expression that GitHub would take, or one too long to be followed.',
  'Look for a quote or a parenthesis that is not closed; texts stand in single quotes. Split a long one.',
);

function resultOf(root: Expression, reads: Reads, pick: (read: Read) => string): boolean | undefined {
  const result = evaluate(root, (node) => {
    const read = reads.find((each) => each.node === node);
    return read === undefined ? undefined : pick(read);
  });
  return result === undefined ? undefined : isTruthy(result);
}

const redBefore = doubtful(
  'never-runs',
  'This never runs: where it holds, the step of the agent is red, and nothing follows a red step by itself.',
  'Begin the condition with !cancelled() &&.',
);

/** Whether a condition asks for what made the step red, without a word that lets it run after that. */
function neverRuns(root: Expression, reads: Reads, site: Site): boolean {
  for (const node of nodesOf(root)) {
    if (node.kind === 'call' && ['always', 'failure', 'cancelled'].includes(node.name)) return false;
    if (node.kind === 'logical' && node.operator === '||') return false;
  }
  return atomsOf(root, site.isCondition, reads).some((atom) => {
    const source = reads.find((each) => atom.reads.some((read) => read.node === each.node))?.source;
    const [read] = atom.reads;
    if (source === undefined || source.judge === null || read === undefined) return false;
    if (isForgiven(source) || valueAt(source.step.node, 'if') !== null) return false;
    if (!isRedUnlessGood(read, source)) return false;
    const green = read.output.name === 'run-conclusion' ? ['success', 'skipped'] : [read.output.good ?? ''];
    return green.every((value) => holds(atom, value) === false) && holds(atom, '') === false;
  });
}

function isRedUnlessGood({ output: { name } }: Read, { judge }: Source): boolean {
  if (name === 'run-gate') return judge?.hasGate === true;
  return ['run-conclusion', 'run-exit-code'].includes(name) || judge?.gated.includes(name) === true;
}

function isForgiven({ job, step }: Source): boolean {
  return [job, step].some(({ node }) => !['false', null].includes(textAt(node, 'continue-on-error')));
}

/** Whether what the condition starts ends red. */
function failsWhere({ job, step }: Site): boolean {
  const steps: readonly Step[] = step === null ? (job?.steps ?? []) : [step];
  return steps.some(({ node }) => {
    const script = `${textAt(node, 'run') ?? ''}\n${textAt(valueAt(node, 'with'), 'script') ?? ''}`;
    return /\bexit\s+["']?[1-9$]|^[ \t]*false[ \t]*$|setFailed\(|\bthrow\b/mu.test(script);
  });
}

function isScript({ step, keys }: Site): boolean {
  const key = keys.at(-1);
  return step !== null && (key === 'run' || (key === 'script' && keys.length === 2));
}

/** Text of a model in a script is run by whoever runs the script. */
function scriptFault(site: Site, { name, kind }: Read['output']): Fault | null {
  if (!isScript(site) || (kind !== 'text' && kind !== 'json')) return null;
  return intoScript(name, name.toUpperCase().replaceAll('-', '_'));
}

function intoScript(what: string, variable: string): Fault {
  const message = `${what} is text of a model, and \${{ }} makes it a part of the script, which runs it.`;
  const fix = `Hand it over in env: (${variable}: \${{ … }}) and read "$${variable}".`;
  return wrong('text-in-script', message, fix);
}

function matrixFault({ job }: Site, source: Source, name: string): Fault | null {
  if (job === source.job || !source.job.hasMatrix) return null;
  const message = `${name} comes from a job with a matrix, of which the runner keeps what the leg wrote that ended last.`;
  const fix = `Ask needs.${source.job.id}.result == 'success' instead.`;
  return wrong('output-of-matrix', message, fix);
}

/** Text around `${{ }}` makes the whole condition a text, which counts as true. */
function formatFault(site: Site, workflow: Workflow, sources: readonly Source[]): Fault | null {
  const { text } = site.scalar;
  const [first, ...others] = site.expressions;
  if (!site.isCondition || first === undefined || !text.includes('${{')) return null;
  const rest = text.replace(`\${{${first.text}}}`, '').trim();
  if (others.length === 0 && rest === '') return null;
  const isOurs = site.expressions.some(({ root }) => outputsIn(root, site, workflow, sources).length > 0);
  if (!isOurs) return null;
  const message = 'There is text beside ${{ }}, so the condition is a text and always true.';
  return wrong('always-true', message, 'Put the whole condition into one ${{ }}.');
}

/**
 * Looks at conditions on what a workflow of another repository hands on. It is not read, so that only names that the action
 * gives are looked at, and what is found is a warning.
 */
export function checkUnknown(workflow: Workflow, findings: Findings): void {
  for (const site of sitesOf(workflow)) {
    for (const { root, text, at } of site.expressions) {
      const names = new Map<Expression, string>();
      const reads = [...nodesOf(root)].flatMap((node): readonly Read[] => {
        const [context, id, third, name] = pathOf(node) ?? [];
        const job = workflow.jobs.find((each) => each.id === id);
        const called = job === undefined ? undefined : workflow.called.get(job);
        const output = [...MERGED_OUTPUTS, ...RUN_OUTPUTS].find((each) => each.name === name);
        if (context !== 'needs' || third !== 'outputs' || called?.isKnown !== false || output === undefined)
          return [];
        names.set(node, called.name);
        return [{ node, output }];
      });
      for (const atom of atomsOf(root, site.isCondition, reads)) {
        const shown = truncate(text.slice(atom.node.at, atom.node.end), 120);
        const fault = atomFault(atom, shown, site.isCondition && failsWhere(site));
        const [read] = atom.reads;
        if (fault?.rule !== 'fails-open' || read === undefined) continue;
        const from = truncate(names.get(read.node) ?? '', 120);
        const message = `${shown} is true where ${read.output.name} is empty. Whether ${from} takes it from the action is not known here: workflows of other repositories are not read.`;
        const place = workflow.file.placeIn(site.scalar, at + atom.node.at, shown);
        findings.add(place, doubtful('unknown-workflow', message, fault.fix));
      }
    }
  }
}

/** A job that runs after a red verdict, and never asks for it. */
function checkUnconditional(job: Job, workflow: Workflow, findings: Findings): void {
  const condition = textAt(job.node, 'if');
  if (condition === null || !/\b(?:always|cancelled)\s*\(/iu.test(condition)) return;
  // A merge reads what became of them from their files.
  if (mergeSteps(job).length > 0) return;
  const judged = workflow.jobs.filter((each) => job.needs.includes(each.id) && givesVerdict(each, workflow));
  const texts = [...scalarsOf(job.node)].map(({ scalar }) => scalar.text.toLowerCase());
  for (const { id } of judged) {
    if (
      texts.some(
        (text) => text.includes(`needs.${id}.`) || text.includes('needs.*') || text.includes('tojson(needs'),
      )
    ) {
      continue;
    }
    const message = `This job runs whatever became of ${JSON.stringify(id)}: red, skipped or judged by nobody.`;
    const fix = `Add to the condition: && needs.${id}.result == 'success'.`;
    findings.add(
      placeOf(workflow.file, job.node, job.start, 'if'),
      doubtful('runs-regardless', message, fix),
    );
  }
}

/** What is wrong with a step whose red is not seen. */
export function checkForgiven(
  source: Source,
  workflow: Workflow,
  sources: readonly Source[],
  findings: Findings,
): void {
  const { job, step } = source;
  if (!isForgiven(source)) return;
  const owner = textAt(step.node, 'continue-on-error') === null ? job : step;
  const place = placeOf(workflow.file, owner.node, owner.start, 'continue-on-error');
  const own = [...sitesOf(workflow)].some((site) =>
    site.expressions.some(({ root }) =>
      outputsIn(root, site, workflow, sources).some((read) => read.source.step === step),
    ),
  );
  const isAsked = own || (step.id !== null && mentions(job.node, `steps.${step.id}.outcome`));
  const rule = 'continue-on-error';
  const message = 'With continue-on-error the job is green whatever the verdict is';
  if (isAsked) {
    const fix = 'Take it out, or let a later step fail where steps.ID.outcome is not success.';
    findings.add(place, doubtful(rule, `${message}, unless a later step sees to it.`, fix));
  } else findings.add(place, wrong(rule, `${message}, and nothing reads it.`, 'Take it out.'));
  if (step.id === null || !mentions(job.node, `steps.${step.id}.conclusion`)) return;
  const conclusion = `steps.${step.id}.conclusion is always success where continue-on-error is set.`;
  findings.add(place, wrong('conclusion-forgiven', conclusion, `Read steps.${step.id}.outcome.`));
}
