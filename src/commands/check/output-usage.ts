/** Checks which outputs of the action a workflow reads, and which decisions depend on them. */
import { DISPLAY } from '../../text/limits.ts';
import { truncate } from '../../text/messages.ts';
import { type Atom, atomFault, atomsOf, holds, openDefaults } from './conditions.ts';
import { type Expression, evaluate, isTruthy, nodesOf, pathOf } from './expression.ts';
import type { Fault, Findings } from './finding.ts';
import { MERGED_OUTPUTS, RUN_OUTPUTS } from './outputs.ts';
import { meaningOf, type Read, readsIn, wholesIn } from './references.ts';
import { OUTPUT } from './rules.ts';
import {
  actionSteps,
  givesVerdict,
  type Job,
  mentions,
  type Site,
  type Source,
  type Step,
  type Workflow,
  withOf,
} from './workflow.ts';
import { scalarsOf, textAt, valueAt } from './yaml-file.ts';

type Part = Site['expressions'][number];

export function checkOutputs(workflow: Workflow, sources: readonly Source[], findings: Findings): void {
  for (const site of workflow.sites) {
    for (const expression of site.expressions) {
      const report = (node: Expression, fault: Fault | null | false) =>
        reportPart(workflow, site, expression, node, fault, findings);
      for (const node of nodesOf(expression.root)) {
        const meaning = meaningOf(node, site, workflow, sources);
        report(node, meaning !== null && 'fault' in meaning && meaning.fault);
      }
      for (const node of wholesIn(expression.root, site, sources)) {
        report(node, isScript(site) && OUTPUT.script('What is read of the step', 'TEXT'));
      }
      const reads = readsIn(expression.root, site, workflow, sources);
      for (const read of reads) report(read.node, readFault(site, read));
      if (reads.length > 0) checkExpression(expression, reads, site, report);
    }
    for (const { text, at } of site.unread) {
      const location = workflow.file.locatePart(site.scalar, at, text);
      if (/\b(?:steps|needs)\b/iu.test(text)) findings.add(location, OUTPUT.expression);
    }
    if (isTextCondition(site, workflow, sources))
      findings.add(workflow.file.locate(site.scalar.start), OUTPUT.textCondition);
  }
  for (const job of workflow.jobs) checkRegardless(job, workflow, findings);
  for (const source of sources) checkForgiven(source, workflow, sources, findings);
}

function reportPart(
  { file }: Workflow,
  { scalar }: Site,
  { text, at }: Part,
  node: Expression,
  fault: Fault | null | false,
  findings: Findings,
): void {
  if (fault === null || fault === false) return;
  findings.add(file.locatePart(scalar, at + node.at, text.slice(node.at, node.end)), fault);
}

function readFault(site: Site, { output: { name, kind }, source }: Read): Fault | false {
  if (isScript(site) && (kind === 'text' || kind === 'json'))
    return OUTPUT.script(name, name.toUpperCase().replaceAll('-', '_'));
  const { job } = source;
  return site.job !== job && job.hasMatrix && OUTPUT.ofMatrix(name, job.id);
}

/** Text of a model that is inserted into a script runs as part of it. */
function isScript({ step, keys }: Site): boolean {
  const key = keys.at(-1);
  return step !== null && (key === 'run' || (key === 'script' && keys.length === 2));
}

/** The rules that do not apply when another part of the condition requires the verdict. */
const HARMLESS_BESIDE_OTHERS = new Set(['fails-open', 'true-without-verdict', 'always-true']);

function checkExpression(
  { root, text }: Part,
  reads: readonly Read[],
  site: Site,
  report: (node: Expression, fault: Fault | false) => void,
): void {
  const failsJob = site.isCondition && failsWhere(site);
  let isReported = false;
  for (const atom of atomsOf(root, site.isCondition, reads)) {
    const shown = `${atom.negated ? 'The opposite of ' : ''}${textOf(atom, text)}`;
    const fault = atomFault(atom, shown, failsJob);
    if (fault === null || (HARMLESS_BESIDE_OTHERS.has(fault.rule) && isClosedBeside(atom, root, reads)))
      continue;
    isReported = true;
    report(atom.node, fault);
  }
  for (const { node, fault } of openDefaults(root, reads)) report(node, fault);
  if (!site.isCondition || isReported) return;
  const endings: readonly ((read: Read) => string)[] = [
    () => '',
    ({ output }) => output.values.find((each) => each !== output.good) ?? 'x',
    ({ output }) => output.good ?? 'x',
  ];
  report(root, endings.every((pick) => resultOf(root, reads, pick) === true) && OUTPUT.constant);
  report(root, neverRuns(root, reads, site) && OUTPUT.neverRuns);
}

function textOf({ node }: Atom, text: string): string {
  return truncate(text.slice(node.at, node.end), DISPLAY.excerpt);
}

/** Whether the condition is false without a verdict of the step that an atom reads, whatever other steps output. */
function isClosedBeside(atom: Atom, root: Expression, reads: readonly Read[]): boolean {
  const steps = reads.filter(({ node }) => atom.reads.some((read) => read.node === node));
  const own = reads.filter(({ source }) => steps.some((each) => each.source === source));
  return resultOf(root, own, () => '') === false;
}

function resultOf(
  root: Expression,
  reads: readonly Read[],
  pick: (read: Read) => string,
): boolean | undefined {
  const result = evaluate(root, (node) => {
    const read = reads.find((each) => each.node === node);
    return read === undefined ? undefined : pick(read);
  });
  return result === undefined ? undefined : isTruthy(result);
}

/**
 * Whether a condition tests for the cause of a step's failure, without a status function that lets it run after that.
 */
function neverRuns(root: Expression, reads: readonly Read[], site: Site): boolean {
  for (const node of nodesOf(root)) {
    if (node.kind === 'call' && ['always', 'failure', 'cancelled'].includes(node.name)) return false;
    if (node.kind === 'logical' && node.operator === '||') return false;
  }
  return atomsOf(root, site.isCondition, reads).some((atom) => {
    const [{ node, output }] = atom.reads;
    const source = reads.find((each) => each.node === node)?.source;
    if (source === undefined || source.policy === null) return false;
    if (isForgiven(source) || valueAt(source.step.node, 'if') !== null) return false;
    const { hasGate, gated } = source.policy;
    const isRedUnlessGood =
      ['run-conclusion', 'run-exit-code', ...(hasGate ? ['run-gate'] : [])].includes(output.name) ||
      (output.name !== 'run-gate' && gated.includes(output.name));
    const green = output.name === 'run-conclusion' ? ['success', 'skipped'] : [output.good ?? ''];
    return isRedUnlessGood && [...green, ''].every((value) => holds(atom, value) === false);
  });
}

function isForgiven({ job, step }: Source): boolean {
  return [job, step].some(({ node }) => !['false', null].includes(textAt(node, 'continue-on-error')));
}

/** Whether what the condition starts ends in failure. */
function failsWhere({ job, step }: Site): boolean {
  const steps: readonly Step[] = step === null ? (job?.steps ?? []) : [step];
  return steps.some((each) => {
    const script = `${textAt(each.node, 'run') ?? ''}\n${withOf(each, 'script') ?? ''}`;
    return /\bexit\s+["']?[1-9$]|^[ \t]*false[ \t]*$|setFailed\(|\bthrow\b/mu.test(script);
  });
}

/** Whether text around `${{ }}` turns a condition into a non-empty string, which is always true. */
function isTextCondition(site: Site, workflow: Workflow, sources: readonly Source[]): boolean {
  const { text } = site.scalar;
  const [first, ...others] = site.expressions;
  if (!site.isCondition || first === undefined || !text.includes('${{')) return false;
  if (others.length === 0 && text.replace(`\${{${first.text}}}`, '').trim() === '') return false;
  return site.expressions.some(({ root }) => readsIn(root, site, workflow, sources).length > 0);
}

/**
 * Checks conditions on the outputs of a workflow in another repository. That workflow is not read, so only names of the
 * action's outputs are checked, and findings are warnings.
 */
export function checkUnknown(workflow: Workflow, findings: Findings): void {
  for (const site of workflow.sites) {
    for (const expression of site.expressions) {
      const { root, text } = expression;
      const names = new Map<Expression, string>();
      const reads = nodesOf(root).flatMap((node) => {
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
        const shown = textOf(atom, text);
        const fault = atomFault(atom, shown, site.isCondition && failsWhere(site));
        if (fault?.rule !== 'fails-open') continue;
        const [{ node, output }] = atom.reads;
        const from = truncate(names.get(node) ?? '', DISPLAY.excerpt);
        const unknown = OUTPUT.unknownWorkflow(shown, output.name, from, fault);
        reportPart(workflow, site, expression, atom.node, unknown, findings);
      }
    }
  }
}

/** Finds jobs that run after a failed verdict and never check it. */
function checkRegardless(job: Job, workflow: Workflow, findings: Findings): void {
  const condition = textAt(job.node, 'if');
  if (condition === null || !/\b(?:always|cancelled)\s*\(/iu.test(condition)) return;
  // A merge reads the verdicts from their files.
  if (actionSteps(job, 'merge').length > 0) return;
  const texts = [...scalarsOf(job.node)].map(({ scalar }) => scalar.text.toLowerCase());
  for (const needed of workflow.jobs) {
    if (!job.needs.includes(needed.id) || !givesVerdict(needed, workflow)) continue;
    const words = [`needs.${needed.id}.`, 'needs.*', 'tojson(needs'];
    const isAsked = texts.some((text) => words.some((word) => text.includes(word)));
    findings.report(job, ['if'], !isAsked && OUTPUT.runsRegardless(needed.id));
  }
}

function checkForgiven(
  source: Source,
  workflow: Workflow,
  sources: readonly Source[],
  findings: Findings,
): void {
  const { job, step } = source;
  if (!isForgiven(source)) return;
  const owner = textAt(step.node, 'continue-on-error') === null ? job : step;
  const isRead = workflow.sites.some((site) =>
    site.expressions.some(({ root }) =>
      readsIn(root, site, workflow, sources).some((read) => read.source.step === step),
    ),
  );
  const asks = (what: string) => step.id !== null && mentions(job.node, `steps.${step.id}.${what}`);
  findings.report(owner, ['continue-on-error'], OUTPUT.forgiven(isRead || asks('outcome')));
  findings.report(
    owner,
    ['continue-on-error'],
    asks('conclusion') && OUTPUT.conclusionForgiven(step.id ?? ''),
  );
}
