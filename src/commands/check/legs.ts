/** Checks the legs that a merge waits for: whether their verdicts reach it. */
import { InputError } from '../../errors.ts';
import { parseExpectation, parseVotes } from '../../merge/config.ts';
import { conditionOf, embedded, evaluate, nodesOf, parseExpression, pathOf } from './expression.ts';
import type { Findings } from './finding.ts';
import type { MergeStep, MergeStepInputs } from './merge-job.ts';
import { LEG } from './rules.ts';
import { actionSteps, isUse, type Job, mentions, type Step, type Workflow, withOf } from './workflow.ts';
import { type Node, textAt, valueAt } from './yaml-file.ts';

interface Leg {
  readonly job: Job;
  readonly step: Step;
  readonly uploads: readonly Step[];
  readonly leg: Named;
  readonly vote: Named;
}

interface Named {
  /** As typed; null when the step has no such input. */
  readonly text: string | null;
  /** The matrix key that provides it; null for none. */
  readonly key: string | null;
  /** All names that it takes in the job; null when unknown. */
  readonly values: readonly string[] | null;
}

export function checkLegs(workflow: Workflow, merge: MergeStep, findings: Findings): void {
  const needed = workflow.jobs.filter(({ id }) => merge.job.needs.includes(id));
  const legs = needed.flatMap((job) => {
    const own = legsIn(job);
    const failFast = textAt(valueAt(job.node, 'strategy'), 'fail-fast') ?? 'true';
    findings.report(
      job,
      ['strategy'],
      own.length > 0 && job.hasMatrix && failFast === 'true' && LEG.failFast,
    );
    return own;
  });
  for (const leg of legs) {
    checkLeg(leg, merge.inputs, findings);
    for (const upload of leg.uploads) checkUpload(leg.job, upload, findings);
  }
  checkTwins(legs, findings);
  // The legs of a called workflow are defined elsewhere.
  if (needed.some(({ node }) => valueAt(node, 'uses') !== null)) return;
  const [missing] = missingLegs(legs, expectedLegs(merge.inputs));
  findings.report(merge.step, ['with', 'expect'], missing !== undefined && LEG.missing(missing));
}

function legsIn(job: Job): readonly Leg[] {
  const matrix = readMatrix(job);
  return actionSteps(job, 'run').flatMap((step) => {
    const leg = nameOf(step, 'leg', matrix);
    const vote = nameOf(step, 'vote', matrix);
    const uploads = uploadsOf(job, step);
    // A job before the legs may run the agent for something that is not merged.
    if (uploads.length === 0 && leg.text === null) return [];
    // `include` in a matrix may give each leg votes of its own.
    const isOwn = matrix?.hasIncludes !== true;
    return [{ job, step, uploads, leg, vote: isOwn ? vote : { ...vote, values: null } }];
  });
}

function nameOf(step: Step, input: 'leg' | 'vote', matrix: Matrix | null): Named {
  const text = withOf(step, input);
  const key = /^\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*$/u.exec(text ?? '')?.[1]?.toLowerCase() ?? null;
  if (text === null || !text.includes('${{'))
    return { text, key, values: text === null ? null : [tidy(text)] };
  const known = key === null || matrix?.hasExcludes !== false ? null : matrix.keys.get(key)?.values;
  return { text, key, values: known?.length === 0 ? null : (known ?? null) };
}

/** Normalizes a name like the input `leg`. */
function tidy(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

function checkLeg({ job, step, uploads, leg, vote }: Leg, merge: MergeStepInputs, findings: Findings): void {
  const report = (key: string, fault: Parameters<Findings['report']>[2]) =>
    findings.report(step, ['with', key], fault);
  const expected = expectedLegs(merge);
  const stranger = expected === null ? undefined : leg.values?.find((each) => !expected.includes(each));
  report('leg', stranger !== undefined && LEG.unexpected(stranger, expected ?? []));
  const votes = expectedVotes(merge);
  const found = vote.values?.length ?? 0;
  report('vote', votes !== null && found > 1 && found !== votes && LEG.votes(found, votes));
  report('leg', leg.text === null && LEG.nameless);
  const hasVotes = merge.get('votes') !== null;
  const isOneVote = job.hasMatrix && isFixed(vote.text);
  report('leg', !hasVotes && isOneVote && leg.text !== null && isFixed(leg.text) && LEG.oneLeg);
  report(vote.text === null ? 'leg' : 'vote', hasVotes && isOneVote && LEG.oneVote);
  const asked = hasVotes ? inputWithVote(step, leg, vote) : undefined;
  report(asked ?? '', asked !== undefined && LEG.prompt);
  report('gate', withOf(step, 'gate') !== 'none' && LEG.gate);
  const [signs, checks] = [withOf(step, 'signing-key') !== null, merge.get('signing-key') !== null];
  report('leg', checks && !signs && LEG.unsigned);
  report('signing-key', signs && !checks && LEG.unchecked);
  report('leg', uploads.length === 0 && !mayBeUploaded(job, step) && LEG.notUploaded);
}

/** Returns an input that differs between the votes of a leg; a merge refuses such votes. */
function inputWithVote(step: Step, leg: Named, vote: Named): string | undefined {
  if (vote.key === null || leg.key === vote.key) return undefined;
  return ['prompt', 'prompt-file', 'system-prompt', 'schema'].find((input) =>
    embedded(withOf(step, input) ?? '').some(({ text }) =>
      nodesOf(parseExpression(text) ?? NOTHING).some(
        (node) => pathOf(node)?.join('.') === `matrix.${vote.key}`,
      ),
    ),
  );
}

const NOTHING = { kind: 'literal', value: null, at: 0, end: 0 } as const;

/** Returns the steps that upload the envelope of a step. */
function uploadsOf(job: Job, step: Step): readonly Step[] {
  const file = withOf(step, 'result-file');
  const name = `steps.${step.id ?? ''}.outputs.run-result-file`;
  return job.steps.filter((each) => {
    if (each.index <= step.index || !isUse(each, 'actions/upload-artifact')) return false;
    const path = withOf(each, 'path') ?? '';
    return (step.id !== null && path.toLowerCase().includes(name)) || (file !== null && path.includes(file));
  });
}

/** Whether a later step may upload the envelope in an unrecognized way: by a computed path, or by other means. */
function mayBeUploaded(job: Job, step: Step): boolean {
  return job.steps.some((each) => {
    if (each.index <= step.index || isOtherUpload(each, step)) return false;
    return (
      textAt(each.node, 'run') !== null ||
      each.uses.includes('upload') ||
      mentions(each.node, 'run-result-file')
    );
  });
}

/** Whether a step uploads another file of the same run, such as the transcript or the patch. */
function isOtherUpload(upload: Step, { id }: Step): boolean {
  const root = isUse(upload, 'actions/upload-artifact') ? conditionOf(withOf(upload, 'path') ?? '') : null;
  const [context, of, , name] = (root === null ? null : pathOf(root)) ?? [];
  return context === 'steps' && of === id && name !== 'run-result-file';
}

function checkUpload(job: Job, upload: Step, findings: Findings): void {
  const condition = textAt(upload.node, 'if');
  const root = condition === null ? null : conditionOf(condition);
  const isSkipped = condition === null || (root !== null && evaluate(root, () => undefined) !== true);
  findings.report(upload, [condition === null ? 'uses' : 'if'], isSkipped && LEG.uploadSkipped);
  // A file that is not archived keeps its own name.
  if (withOf(upload, 'archive') === 'false') return;
  const name = withOf(upload, 'name');
  const [shared] = job.hasMatrix && name !== null ? keysNotIn(job, name) : [];
  const fault =
    job.hasMatrix && isFixed(name)
      ? LEG.oneArtifact
      : shared !== undefined
        ? LEG.sharedArtifact(shared)
        : !(name ?? '').includes('run_attempt') && LEG.uploadOnce;
  findings.report(upload, ['with', 'name'], fault);
}

/** Whether a value is the same in every leg of a matrix. */
function isFixed(text: string | null): boolean {
  return text === null || !text.includes('${{');
}

/** Returns the names of the legs that a merge expects; null when it expects a number, or when unknown or invalid. */
function expectedLegs(inputs: MergeStepInputs): readonly string[] | null {
  return parseKnown(inputs.get('expect'), parseExpectation);
}

/** Returns how many votes a merge expects of each leg; null when unknown or invalid. */
function expectedVotes(inputs: MergeStepInputs): number | null {
  const text = inputs.get('votes');
  return text === null ? 1 : (parseKnown(text, parseVotes)?.count ?? null);
}

function parseKnown<T>(text: string | null | undefined, parse: (text: string) => T): T | null {
  try {
    return typeof text === 'string' ? parse(text) : null;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** Returns the expected names that no leg has; empty when the names of the legs are unknown. */
function missingLegs(legs: readonly Leg[], expected: readonly string[] | null): readonly string[] {
  const names = legs.flatMap(({ leg }) => leg.values ?? []);
  if (expected === null || legs.length === 0 || legs.some(({ leg }) => leg.values === null)) return [];
  return expected.filter((name) => !names.includes(name));
}

/** Reports legs with the same name and vote as an earlier one. */
function checkTwins(legs: readonly Leg[], findings: Findings): void {
  const seen = new Set<string>();
  for (const leg of legs) {
    // Of legs with conditions, possibly only one runs.
    if ([leg.job, leg.step].some(({ node }) => textAt(node, 'if') !== null)) continue;
    const pairs = pairsOf(leg) ?? [];
    const twin = pairs.find(([key]) => seen.has(key));
    for (const [key] of pairs) seen.add(key);
    findings.report(leg.step, ['with', 'leg'], twin !== undefined && LEG.duplicate(twin[1]));
  }
}

/** Returns a key for each pair of name and vote, with the name; null when one of them is unknown. */
function pairsOf({ leg, vote }: Leg): readonly (readonly [string, string])[] | null {
  const votes = vote.text === null ? [null] : vote.values;
  if (leg.values === null || votes === null || (leg.key !== null && leg.key === vote.key)) return null;
  return leg.values.flatMap((name) => votes.map((each) => [JSON.stringify([name, each]), name] as const));
}

/** The matrix of a job, as far as the file defines it. */
interface Matrix {
  /** By key in lower case. */
  readonly keys: ReadonlyMap<string, MatrixKey>;
  readonly hasIncludes: boolean;
  readonly hasExcludes: boolean;
}

interface MatrixKey {
  /** Without duplicates; null when computed by an expression. */
  readonly values: readonly string[] | null;
  readonly isMany: boolean;
}

/** Reads the matrix of a job, without keys when it has none; returns null when its keys are unknown. */
function readMatrix(job: Job): Matrix | null {
  const node = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  if (node !== null && node.kind !== 'map') return null;
  const keys = new Map<string, MatrixKey>();
  const [includes, excludes] = [valueAt(node, 'include'), valueAt(node, 'exclude')];
  for (const { key, value } of node?.entries ?? []) {
    const isMany = value.kind !== 'list' || value.items.length > 1;
    if (value !== includes && value !== excludes)
      keys.set(key.toLowerCase(), { values: textsIn(value), isMany });
  }
  if (includes !== null && includes.kind !== 'list') return null;
  for (const item of includes?.items ?? []) {
    if (item.kind !== 'map') return null;
    for (const entry of item.entries) {
      const key = entry.key.toLowerCase();
      const before = keys.has(key) ? keys.get(key)?.values : [];
      const added = entry.value.kind === 'scalar' ? [tidy(entry.value.text)] : [];
      keys.set(key, { values: before ? [...new Set([...before, ...added])] : null, isMany: true });
    }
  }
  return { keys, hasIncludes: includes !== null, hasExcludes: excludes !== null };
}

function textsIn(node: Node): readonly string[] | null {
  if (node.kind !== 'list') return null;
  const texts = node.items.map((item) =>
    item.kind === 'scalar' && !item.text.includes('${{') ? tidy(item.text) : null,
  );
  return texts.includes(null) ? null : [...new Set(texts.filter((text) => text !== null))];
}

/** Checks the matrix keys that jobs with a step of the action read: an undefined key is an empty string. */
export function checkMatrix(workflow: Workflow, findings: Findings): void {
  const matrices = new Map(
    workflow.jobs.map((job) => [job, actionSteps(job).length === 0 ? null : readMatrix(job)]),
  );
  for (const { job, scalar, expressions } of workflow.sites) {
    const keys = job === null ? undefined : matrices.get(job)?.keys;
    if (keys === undefined) continue;
    for (const { root, text, at } of expressions) {
      for (const node of nodesOf(root)) {
        const [context, key = '*', ...others] = pathOf(node) ?? [];
        if (context !== 'matrix' || key === '*' || others.length > 0 || keys.has(key)) continue;
        const location = workflow.file.locatePart(scalar, at + node.at, text.slice(node.at, node.end));
        findings.add(location, LEG.unknownKey(key, [...keys.keys()]));
      }
    }
  }
}

/** Returns the keys with several values that a text does not contain, so some legs share it; empty when unknown. */
function keysNotIn(job: Job, text: string): readonly string[] {
  const matrix = readMatrix(job);
  // Entries added or left out may belong together.
  if (matrix === null || matrix.hasIncludes || matrix.hasExcludes) return [];
  const read = new Set<string>();
  for (const { text: inner } of embedded(text)) {
    const path = pathOf(parseExpression(inner) ?? NOTHING);
    if (path === null || !['matrix', 'github', 'vars', 'inputs'].includes(path[0] ?? '')) return [];
    if (path[0] === 'matrix') read.add(path[1] ?? '');
  }
  return [...matrix.keys].flatMap(([key, { isMany }]) => (isMany && !read.has(key) ? [key] : []));
}
