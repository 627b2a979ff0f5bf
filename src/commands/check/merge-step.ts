/** The inputs of a step that merges verdicts, as far as its `with:` says them literally. */

import { parseMergeConfig } from '../../merge/config.ts';
import { MERGE_NAMES, type MergeInputName } from '../../merge/inputs.ts';
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

/** Reads the inputs of a merge, literal ones by its own rules. */
export function readMergeStep(step: Mapping): MergeStepInputs {
  const faults: StepFault[] = [];
  const given = collectInputs(step, MERGE_NAMES, SECRET_INPUTS, faults);
  const raw = new Map<MergeInputName, string>();
  const unknown = new Set<MergeInputName>();
  for (const [name, value] of given) {
    if (value === null) unknown.add(name);
    else raw.set(name, value);
  }
  for (const error of parseMergeConfig(raw, { environment: {}, unknown }).problems) {
    const name = MERGE_NAMES.find((each) => each === error.input);
    const key = name !== undefined && entryAt(valueAt(step, 'with'), name) !== null ? name : null;
    faults.push({ key, fault: refused(`input-${error.input ?? 'any'}`, error.message) });
  }
  return {
    faults,
    get(name) {
      const value = given.get(name);
      return value === undefined ? null : (value ?? undefined);
    },
  };
}
