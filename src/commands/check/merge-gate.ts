/** Whether the gate of a merge can be asked of its legs' payloads: found here, and not once all of them are paid for. */

import { type Files, pathHere } from '../../contract/source.ts';
import { suggest } from '../../text/messages.ts';
import type { JsonObject } from '../../types.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import { gateFaults, type Judge } from './judge.ts';
import type { MergeStepInputs } from './merge-step.ts';
import { type Job, placeOf, type Source, type Step, type Workflow, withOf } from './workflow.ts';

/** A merge with what is known of its inputs. */
export interface MergeStep {
  readonly job: Job;
  readonly step: Step;
  readonly inputs: MergeStepInputs;
}

/**
 * Looks at the schemas of the legs that a merge needs, as far as they are known.
 * @param files where a gate is read that is a file; null where its file may not be there yet.
 */
export async function checkMergeGate(
  workflow: Workflow,
  { job: merge, step: mergeStep, inputs }: MergeStep,
  sources: readonly Source[],
  files: Files | null,
  findings: Findings,
): Promise<void> {
  const gate = inputs.get('gate');
  if (gate === undefined) return;
  const schemas: JsonObject[] = [];
  const place = placeOf(workflow.file, mergeStep.node, mergeStep.start, 'with', 'gate');
  for (const { job, step, judge } of sources) {
    if (judge === null || !merge.needs.includes(job.id) || withOf(step, 'leg') === null) continue;
    schemas.push(judge.schema);
    if (gate === 'none' && isUngated(withOf(step, 'gate'), judge)) findings.add(place, passing);
    const fault = faultOf(gate ?? 'auto', withOf(step, 'gate'), judge);
    if (fault !== null) findings.add(placeOf(workflow.file, step.node, step.start, 'with', 'schema'), fault);
  }
  if (gate === null || files === null) return;
  for (const fault of await gateFaults(gate, schemas, files)) findings.add(place, fault);
}

/** Whether nothing asks a leg that speaks of passing whether it did. */
function isUngated(own: string | null, { hasGate, outputs }: Judge): boolean {
  const isOff = own === 'none' || (own === null && !hasGate);
  return isOff && outputs.some(({ name }) => name === 'passed');
}

function faultOf(gate: string, own: string | null, judge: Judge): Fault | null {
  const names = judge.outputs.map(({ name }) => name);
  if (gate === 'auto') {
    const ungated = own === 'none' || (own === null && !judge.hasGate);
    return ungated && !names.includes('passed') ? told(judge, silent, fix) : null;
  }
  if (gate === 'none' || pathHere(gate) !== null || !/^[\w.-]+$/u.test(gate) || names.includes(gate))
    return null;
  const near = suggest(gate, names);
  const message = `The gate of the merge wants "${gate}" to be true, which the schema of this leg does not declare: it never passes.`;
  return told(judge, message, near.length === 0 ? fix : `Did you mean ${near.join(' or ')}?`);
}

/** A schema that takes more than it declares may be given what it does not. */
function told({ schema }: Judge, message: string, what: string): Fault {
  return schema['additionalProperties'] === false
    ? wrong('leg-ungated', message, what)
    : doubtful('leg-ungated', message, what);
}

const passing = doubtful(
  'merge-ungated',
  'Every leg with a payload passes here, whatever "passed" says: the gate of the merge is none.',
  'Take it out: then "passed" is asked for. none belongs to the legs.',
);

const silent =
  'Nothing says whether this leg passes: it has no gate, its schema no property "passed", and the gate of the merge is auto (52).';
const fix = 'Set gate on the merge to what must hold, for example a boolean property of the schema.';
