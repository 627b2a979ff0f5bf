/** Checks one workflow file: its steps that use the action, the outputs read from them, and the workflows it calls. */
import { readTrustedFile } from '../../config/workspace-file.ts';
import { GITHUB, READ } from '../../text/limits.ts';
import { createFindings } from './finding.ts';
import { checkLegs, checkMatrix } from './legs.ts';
import { checkDownload, checkMergeGate, checkMergeJob, type MergeStep, readMergeStep } from './merge-job.ts';
import { checkOutputs, checkUnknown } from './output-usage.ts';
import { MERGE_RUN_OUTPUTS, MERGED_OUTPUTS, type Output, RUN_OUTPUTS } from './outputs.ts';
import { checkMergePermissions } from './permissions.ts';
import { meaningOf, wholeExpression } from './references.ts';
import type { Policy } from './schema.ts';
import { checkStep, isKnownHere, type StepSurroundings, type Used } from './step.ts';
import { actionSteps, type Called, type Job, type Source, type Workflow } from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

export interface Surroundings extends StepSurroundings {
  /** Parses another workflow of the same checkout; returns null when the text is not a workflow. */
  readonly readWorkflow: (file: string, text: string) => Promise<Workflow | null>;
}

/** Checks a workflow. Returns the steps of the action whose schema is valid; null when no step uses the action. */
export async function checkWorkflow(
  alone: Workflow,
  surroundings: Surroundings,
): Promise<readonly Used[] | null> {
  const { findings, files } = surroundings;
  const workflow = { ...alone, called: await calledWorkflows(alone, surroundings) };
  const { sources, merges, used } = await checkSteps(workflow, surroundings);
  checkUnknown(workflow, findings);
  if (sources.length === 0 && ![...workflow.called.values()].some((each) => each.isOurs)) return null;
  for (const merge of workflow.isComposite ? [] : merges) {
    const isHere = isKnownHere(merge.inputs.get('gate'), merge.job, merge.step);
    await checkMergeGate(merge, sources, isHere ? files : null, findings);
  }
  checkOutputs(workflow, sources, findings);
  if (!workflow.isComposite) checkMatrix(workflow, findings);
  return used;
}

/** A merge fails unless its verdict passed, whatever it was merged from. */
const MERGED: Policy = {
  name: 'merge',
  schema: {},
  outputs: MERGED_OUTPUTS,
  gated: ['passed'],
  hasGate: true,
};

async function checkSteps(workflow: Workflow, surroundings: StepSurroundings) {
  const { findings } = surroundings;
  const sources: Source[] = [];
  const merges: MergeStep[] = [];
  const used: Used[] = [];
  for (const job of workflow.jobs) {
    for (const step of actionSteps(job, 'run')) {
      const found = await checkStep(workflow, job, step, surroundings);
      if (found !== null) used.push(found);
      sources.push({ job, step, policy: found?.policy ?? null, about: RUN_OUTPUTS });
    }
    for (const step of actionSteps(job, 'merge')) {
      const merge = { job, step, inputs: readMergeStep(step) };
      merges.push(merge);
      sources.push({ job, step, policy: MERGED, about: MERGE_RUN_OUTPUTS });
      for (const { key, fault } of merge.inputs.faults)
        findings.report(step, key === null ? [] : ['with', key], fault);
      // The surrounding jobs of a composite action belong to its callers.
      if (workflow.isComposite) continue;
      checkMergePermissions(workflow, merge, findings);
      checkMergeJob(workflow, merge, findings);
      checkDownload(workflow, merge, findings);
      checkLegs(workflow, merge, findings);
    }
  }
  return { sources, merges, used };
}

/** Reads the workflows that jobs call, if they are in the same repository. */
async function calledWorkflows(
  workflow: Workflow,
  surroundings: Surroundings,
  level = 0,
): Promise<ReadonlyMap<Job, Called>> {
  const found = new Map<Job, Called>();
  for (const job of workflow.jobs) {
    const name = textAt(job.node, 'uses') ?? '';
    if (level >= GITHUB.workflowLevels) continue;
    if (/^[\w.-]+\/[\w.-]+\/\.github\/workflows\/[^@]+@/u.test(name))
      found.set(job, { name, isKnown: false, isOurs: false, outputs: new Map() });
    if (!/^\.\/\.github\/workflows\/[^/]+\.ya?ml$/u.test(name)) continue;
    const { root } = surroundings;
    const reading = await readTrustedFile(name, { root, outside: 'refused', maxBytes: READ.workflow });
    const inner = reading.ok ? await surroundings.readWorkflow(name, reading.text) : null;
    if (inner === null) continue;
    // Problems with its steps are reported when that workflow is checked itself.
    const { sources } = await checkSteps(inner, { ...surroundings, findings: createFindings() });
    const called = await calledWorkflows(inner, surroundings, level + 1);
    const isOurs = sources.length > 0 || [...called.values()].some((each) => each.isOurs);
    found.set(job, { name, isKnown: true, isOurs, outputs: outputsOf({ ...inner, called }, sources) });
  }
  return found;
}

function outputsOf(workflow: Workflow, sources: readonly Source[]): Called['outputs'] {
  const outputs = valueAt(valueAt(valueAt(workflow.node, 'on'), 'workflow_call'), 'outputs');
  const found = new Map<string, { output: Output; source: Source } | null>();
  for (const { key, value } of outputs?.kind === 'map' ? outputs.entries : []) {
    const root = wholeExpression(textAt(value, 'value') ?? '');
    const meaning = root === null ? null : meaningOf(root, { job: null, step: null }, workflow, sources);
    found.set(key.toLowerCase(), meaning !== null && 'output' in meaning ? meaning : null);
  }
  return found;
}
