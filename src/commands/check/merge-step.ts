/** The inputs of a step that merges verdicts, as far as its `with:` says them literally. */

import { InputError } from '../../errors.ts';
import { parseMergeConfig } from '../../merge/config.ts';
import { MERGE_NAMES, type MergeInputName } from '../../merge/inputs.ts';
import { parseRule, parseVotes, parseWeights } from '../../merge/rule-inputs.ts';
import { refused } from './finding.ts';
import { collectInputs, type StepFault } from './step-inputs.ts';
import { entryAt, type Mapping, valueAt } from './yaml-file.ts';

/** What is known of a merge's inputs. */
export interface MergeStepInputs {
  /** As typed, trimmed; undefined where an expression decides, null where the input is absent. */
  readonly get: (name: MergeInputName) => string | null | undefined;
  readonly faults: readonly StepFault[];
}

const SECRET_INPUTS: readonly MergeInputName[] = ['signing-key', 'github-token'];

/** Inputs that a merge holds against each other: where one is not known, nobody knows whether they fit. */
const JOINED = ['expect', 'votes', 'rule', 'weights'] as const;

/** Reads the inputs of a merge, literal ones by its own rules. */
export function readMergeStep(step: Mapping): MergeStepInputs {
  const faults: StepFault[] = [];
  const given = collectInputs(step, MERGE_NAMES, SECRET_INPUTS, faults);
  const raw = new Map<MergeInputName, string>();
  for (const [name, value] of given) {
    if (value !== null) raw.set(name, value);
    else if (name === 'verdicts' || name === 'expect') raw.set(name, 'unknown');
  }
  if (JOINED.some((name) => given.get(name) === null)) separate(raw);
  // Each round takes away one thing that is wrong.
  for (let round = 0; round <= MERGE_NAMES.length; round += 1) {
    const error = thrownBy(() => parseMergeConfig(raw, {}));
    if (error === null) break;
    const name = MERGE_NAMES.find((each) => each === error.input);
    const key = name !== undefined && entryAt(valueAt(step, 'with'), name) !== null ? name : null;
    faults.push({ key, fault: refused(`input-${error.input ?? 'any'}`, error.message) });
    if (name === undefined) break;
    raw.delete(name);
    if (name === 'verdicts' || name === 'expect') raw.set(name, 'unknown');
    if (JOINED.some((each) => each === name)) separate(raw);
  }
  return {
    faults,
    get(name) {
      const value = given.get(name);
      return value === undefined ? null : (value ?? undefined);
    },
  };
}

/** Leaves of the inputs that are held against each other those that are wrong by themselves. */
function separate(raw: Map<MergeInputName, string>): void {
  const attempts = {
    rule: (text: string) => parseRule('rule', text),
    votes: parseVotes,
    weights: (text: string) => parseWeights(linesOf(text)),
  };
  for (const name of ['rule', 'votes', 'weights'] as const) {
    const text = raw.get(name);
    if (text !== undefined && thrownBy(() => attempts[name](text)) === null) raw.delete(name);
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/u)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

function thrownBy(task: () => unknown): InputError | null {
  try {
    task();
    return null;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}
