/** Whether the gate of a merge can be asked of its legs' payloads: found here, and not once all of them are paid for. */
import { nearest } from '../nearest.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import type { Judge } from './judge.ts';
import type { MergeStepInputs } from './merge-step.ts';
import type { Source } from './references.ts';
import { type Job, placeOf, type Workflow, withOf } from './workflow.ts';

/** Looks at the schemas of the legs that a merge needs, as far as they are known. */
export function checkMergeGate(
  workflow: Workflow,
  merge: Job,
  inputs: MergeStepInputs,
  sources: readonly Source[],
  findings: Findings,
): void {
  const gate = inputs.get('gate');
  if (gate === undefined) return;
  for (const { job, step, judge } of sources) {
    if (judge === null || !merge.needs.includes(job.id) || withOf(step, 'leg') === null) continue;
    const fault = faultOf(gate ?? 'auto', withOf(step, 'gate'), judge);
    if (fault !== null) findings.add(placeOf(workflow.file, step.node, step.start, 'with', 'schema'), fault);
  }
}

function faultOf(gate: string, own: string | null, judge: Judge): Fault | null {
  const names = judge.outputs.map(({ name }) => name);
  if (gate === 'auto') {
    const ungated = own === 'none' || (own === null && !judge.hasGate);
    return ungated && !names.includes('passed') ? told(judge, silent, fix) : null;
  }
  if (gate === 'none' || !/^[\w.-]+$/u.test(gate) || names.includes(gate)) return null;
  const near = nearest(gate, names);
  const message = `The gate of the merge wants "${gate}" to be true, which the schema of this leg does not declare: it never passes.`;
  return told(judge, message, near.length === 0 ? fix : `Did you mean ${near.join(' or ')}?`);
}

/** A schema that takes more than it declares may be given what it does not. */
function told({ schema }: Judge, message: string, what: string): Fault {
  return schema['additionalProperties'] === false
    ? wrong('leg-ungated', message, what)
    : doubtful('leg-ungated', message, what);
}

const silent =
  'Nothing says whether this leg passes: it has no gate, its schema no property "passed", and the gate of the merge is auto (52).';
const fix = 'Set gate on the merge to what must hold, for example a boolean property of the schema.';
