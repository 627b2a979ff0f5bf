/** The legs that a merge waits for: whether their verdicts reach it. */

import { InputError } from '../../errors.ts';
import { parseExpectation, parseVotes } from '../../merge/config.ts';
import { suggest } from '../../text/messages.ts';
import { embedded, evaluate, nodesOf, parseExpression, pathOf } from './expression.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import { conditionOf, isUse, type MergeStepInputs } from './merge-job.ts';
import { sitesOf } from './references.ts';
import {
  type Job,
  judgeSteps,
  mentions,
  ourSteps,
  placeOf,
  type Step,
  type Workflow,
  withOf,
} from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

/** Looks at the jobs that a merge needs, as far as they judge. */
export function checkLegs(
  workflow: Workflow,
  merge: Job,
  mergeStep: Step,
  inputs: MergeStepInputs,
  findings: Findings,
): void {
  const named: PlacedLeg[] = [];
  const needed = workflow.jobs.filter(({ id }) => merge.needs.includes(id));
  for (const job of needed) {
    const at = (owner: Job | Step, ...keys: readonly string[]) =>
      placeOf(workflow.file, owner.node, owner.start, ...keys);
    let legs = 0;
    for (const step of judgeSteps(job)) {
      const uploads = uploadsOf(job, step);
      // A job before the legs may ask the agent something that is not merged.
      if (uploads.length === 0 && withOf(step, 'leg') === null) continue;
      legs += 1;
      named.push({ ...nameOf(job, step), job, step });
      for (const { key, fault } of legFaults(job, step, inputs)) findings.add(at(step, 'with', key), fault);
      if (uploads.length === 0 && !hasUpload(job, step)) findings.add(at(step, 'with', 'leg'), notUploaded);
      for (const upload of uploads) {
        for (const { keys, fault } of uploadFaults(job, upload)) findings.add(at(upload, ...keys), fault);
      }
    }
    if (legs > 0 && job.hasMatrix && failsFast(job)) findings.add(at(job, 'strategy'), cancelsOthers);
  }
  for (const { leg, fault } of twins(named))
    findings.add(placeOf(workflow.file, leg.step.node, leg.step.start, 'with', 'leg'), fault);
  // The legs of a called workflow stand elsewhere.
  if (needed.some(({ node }) => valueAt(node, 'uses') !== null)) return;
  const place = placeOf(workflow.file, mergeStep.node, mergeStep.start, 'with', 'expect');
  const [missing] = missingLegs(named, expectedLegs(inputs));
  const count = countFault(named, inputs);
  if (missing !== undefined) findings.add(place, nobodyIs(missing));
  if (count !== null) findings.add(place, count);
}

function nameOf(job: Job, step: Step): NamedLeg {
  const [leg, vote] = [withOf(step, 'leg'), withOf(step, 'vote')];
  return {
    names: leg === null ? null : valuesIn(job, leg),
    votes: vote === null ? null : votesIn(job, vote),
  };
}

/** The steps that upload the envelope of a step. */
function uploadsOf(job: Job, step: Step): readonly Step[] {
  const file = withOf(step, 'result-file');
  const name = `steps.${step.id ?? ''}.outputs.run-result-file`;
  return job.steps.filter((each) => {
    if (each.index <= step.index || !isUse(each, 'actions/upload-artifact')) return false;
    const path = withOf(each, 'path') ?? '';
    return (step.id !== null && path.toLowerCase().includes(name)) || (file !== null && path.includes(file));
  });
}

/** Whether anything after a step may upload its envelope: by a path that cannot be followed, or by other means. */
function hasUpload(job: Job, step: Step): boolean {
  return job.steps.some((each) => each.index > step.index && !isOther(each, step) && mayUpload(each));
}

/** Whether a step uploads another file of the same run: the transcript or the patch is no envelope. */
function isOther(upload: Step, { id }: Step): boolean {
  const root = isUse(upload, 'actions/upload-artifact') ? conditionOf(withOf(upload, 'path') ?? '') : null;
  const [context, of, , name] = (root === null ? null : pathOf(root)) ?? [];
  return context === 'steps' && of === id && name !== 'run-result-file';
}

function mayUpload({ node }: Step): boolean {
  return (
    textAt(node, 'run') !== null ||
    (textAt(node, 'uses') ?? '').includes('upload') ||
    mentions(node, 'run-result-file')
  );
}

function legFaults(
  job: Job,
  step: Step,
  inputs: MergeStepInputs,
): readonly { readonly key: string; readonly fault: Fault }[] {
  const faults: { key: string; fault: Fault }[] = [];
  const leg = withOf(step, 'leg');
  const vote = withOf(step, 'vote');
  const own = nameOf(job, step);
  const [stranger, count] = [
    strangerFault(own, expectedLegs(inputs)),
    votesFault(own, expectedVotes(inputs)),
  ];
  if (stranger !== null) faults.push({ key: 'leg', fault: stranger });
  if (count !== null) faults.push({ key: 'vote', fault: count });
  if (leg === null) faults.push({ key: 'leg', fault: nameless });
  const votes = inputs.get('votes');
  if (votes === null && isFixed(leg) && isFixed(vote) && leg !== null && job.hasMatrix)
    faults.push({ key: 'leg', fault: twice });
  if (votes !== null && isFixed(vote) && job.hasMatrix)
    faults.push({ key: vote === null ? 'leg' : 'vote', fault: sameVote });
  const apart = votes === null ? null : votePrompt(step);
  if (apart !== null) faults.push(apart);
  if (withOf(step, 'gate') !== 'none') faults.push({ key: 'gate', fault: redForItsVerdict });
  const [signs, checks] = [withOf(step, 'signing-key') !== null, inputs.get('signing-key') !== null];
  if (checks && !signs) faults.push({ key: 'leg', fault: unsigned });
  if (signs && !checks) faults.push({ key: 'signing-key', fault: unchecked });
  return faults;
}

function uploadFaults(
  job: Job,
  upload: Step,
): readonly { readonly keys: readonly string[]; readonly fault: Fault }[] {
  const faults: { keys: readonly string[]; fault: Fault }[] = [];
  const condition = textAt(upload.node, 'if');
  const root = condition === null ? null : conditionOf(condition);
  if (condition === null || (root !== null && evaluate(root, () => undefined) !== true))
    faults.push({ keys: condition === null ? ['uses'] : ['if'], fault: withoutRed });
  // A file that is no archive bears its own name.
  if (withOf(upload, 'archive') === 'false') return faults;
  const name = withOf(upload, 'name');
  const [shared] = job.hasMatrix && name !== null ? keysNotIn(job, name) : [];
  if (job.hasMatrix && isFixed(name)) faults.push({ keys: ['with', 'name'], fault: oneName });
  else if (shared !== undefined) faults.push({ keys: ['with', 'name'], fault: nameOfSome(shared) });
  else if (!(name ?? '').includes('run_attempt'))
    faults.push({ keys: ['with', 'name'], fault: oneForAttempts });
  return faults;
}

/** Whether a value is the same in every leg of a matrix. */
function isFixed(text: string | null): boolean {
  return text === null || !text.includes('${{');
}

function failsFast({ node }: Job): boolean {
  const text = textAt(valueAt(node, 'strategy'), 'fail-fast');
  return text === null || text === 'true';
}

function nobodyIs(name: string): Fault {
  const message = `No leg that this job needs is named ${JSON.stringify(name.slice(0, 100))}, so it is always missing.`;
  return doubtful('leg-missing', message, 'Correct the name, or add the job to needs.');
}

const nameless = wrong(
  'leg-nameless',
  'This verdict is uploaded for a merge and names no leg: the merge refuses it (52).',
  'Set leg, in a matrix to ${{ matrix.NAME }}.',
);

const twice = doubtful(
  'leg-twice',
  'Every leg of the matrix has this one name, and two verdicts of one leg and vote are refused (52).',
  'Set leg or vote to a value of the matrix.',
);

const sameVote = doubtful(
  'leg-twice',
  'The merge counts several votes a leg, and here every vote has one name.',
  'Set vote to a value of the matrix.',
);

const redForItsVerdict = doubtful(
  'leg-gate',
  'With a gate of its own this leg is red for a verdict too, and is asked again with "Re-run failed jobs".',
  'Set gate: none; the merge gates.',
);

const unsigned = wrong(
  'leg-unsigned',
  'The merge counts signed verdicts only, and this leg signs none.',
  'Set signing-key to the same secret.',
);

const unchecked = doubtful(
  'leg-unchecked',
  'This leg signs its verdict, and the merge does not ask for it: what another job uploads under its name counts.',
  'Set signing-key on the merge, too.',
);

const notUploaded = doubtful(
  'leg-not-uploaded',
  'No later step uploads the verdict of this leg, so that the merge counts it as missing.',
  'Upload steps.ID.outputs.run-result-file with actions/upload-artifact, with if: ${{ always() }}.',
);

const withoutRed = doubtful(
  'leg-not-uploaded',
  'After a red leg nothing is uploaded, and the merge cannot tell why the leg gave no verdict.',
  'Set if: ${{ always() }} on the upload.',
);

const oneName = wrong(
  'artifact-name',
  'Every leg of the matrix uploads under this one name, of which there can be one artifact only.',
  'Put the values of the matrix into the name.',
);

function nameOfSome(key: string): Fault {
  const message = `The legs that differ in matrix.${key} alone upload under one name, of which there can be one artifact only.`;
  return wrong('artifact-name', message, `Put \${{ matrix.${key} }} into the name, too.`);
}

const oneForAttempts = doubtful(
  'leg-upload-once',
  'When the job is run again its artifact has the name of the earlier one: the upload may fail, and of two with one name the earlier may be downloaded.',
  'Put ${{ github.run_attempt }} into the name; the merge takes the later attempt.',
);

const cancelsOthers = doubtful(
  'leg-fail-fast',
  'The first red leg cancels the others, and their verdicts are missing.',
  'Set fail-fast: false.',
);

/** A leg as its step names it: every name that it takes; null where nobody can say which. */
interface NamedLeg {
  readonly names: readonly string[] | null;
  readonly votes: readonly string[] | null;
}

/** The names of legs that a merge expects; null where that is a number, unknown or wrong. */
function expectedLegs(inputs: MergeStepInputs): readonly string[] | null {
  const text = inputs.get('expect');
  if (typeof text !== 'string') return null;
  const expected = known(() => parseExpectation(text));
  return expected?.kind === 'legs' ? expected.names : null;
}

/** How many votes a merge expects of each leg; null where that is unknown or wrong. */
function expectedVotes(inputs: MergeStepInputs): number | null {
  const text = inputs.get('votes');
  if (text === null) return 1;
  return text === undefined ? null : (known(() => parseVotes(text))?.count ?? null);
}

/** The values that an input takes in a job: itself, or those of the matrix; null where they cannot be told. */
function valuesIn(job: Job, text: string): readonly string[] | null {
  if (!text.includes('${{')) return [tidy(text)];
  const key = /^\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*$/u.exec(text)?.[1]?.toLowerCase();
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  if (key === undefined || matrix?.kind !== 'map' || valueAt(matrix, 'exclude') !== null) return null;
  const found: string[] = [];
  for (const entry of matrix.entries) {
    if (entry.key.toLowerCase() === key) {
      if (entry.value.kind !== 'list') return null;
      for (const item of entry.value.items) {
        if (item.kind !== 'scalar' || item.text.includes('${{')) return null;
        found.push(tidy(item.text));
      }
    } else if (entry.key === 'include') {
      if (entry.value.kind !== 'list') return null;
      for (const item of entry.value.items) {
        const value = valueAt(item, key);
        if (value?.kind === 'scalar') found.push(tidy(value.text));
      }
    }
  }
  return found.length === 0 ? null : [...new Set(found)];
}

/** The votes that every leg of a job has; null where they cannot be told, or where legs may have votes of their own. */
function votesIn(job: Job, text: string): readonly string[] | null {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  return matrix !== null && valueAt(matrix, 'include') !== null ? null : valuesIn(job, text);
}

/** What is wrong with the name of one leg. */
function strangerFault({ names }: NamedLeg, expected: readonly string[] | null): Fault | null {
  const stranger = expected === null ? undefined : names?.find((name) => !expected.includes(name));
  if (stranger === undefined || expected === null) return null;
  const near = suggest(stranger, [...expected]);
  const message = `The merge expects no leg ${JSON.stringify(stranger.slice(0, 100))}, and refuses it (52).`;
  const fix = near.length === 0 ? 'Add it to expect.' : `Did you mean ${near.join(' or ')}?`;
  return wrong('leg-unexpected', message, fix);
}

/** What is wrong with the votes of one leg. */
function votesFault({ votes }: NamedLeg, expected: number | null): Fault | null {
  if (votes === null || expected === null || votes.length === expected || votes.length < 2) return null;
  const count = `Here a leg has ${votes.length} votes, and the merge expects ${expected}`;
  const fix = 'Let votes of the merge say how many there are.';
  return votes.length > expected
    ? wrong('leg-votes', `${count}: it refuses what is too many (52).`, fix)
    : doubtful('leg-votes', `${count}: what is missing abstains.`, fix);
}

/** The names that no leg bears; empty where nobody can say which there are. */
function missingLegs(legs: readonly NamedLeg[], expected: readonly string[] | null): readonly string[] {
  const names = legs.flatMap((leg) => leg.names ?? []);
  if (expected === null || legs.length === 0 || legs.some((leg) => leg.names === null)) return [];
  return expected.filter((name) => !names.includes(name));
}

/** As the input `leg` is read. */
function tidy(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

function known<T>(task: () => T): T | null {
  try {
    return task();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** A leg with where it stands. */
interface PlacedLeg extends NamedLeg {
  readonly job: Job;
  readonly step: Step;
}

/** The legs of which another one before them has a name and a vote. */
function twins(legs: readonly PlacedLeg[]): readonly { readonly leg: PlacedLeg; readonly fault: Fault }[] {
  const seen = new Set<string>();
  return legs.flatMap((leg) => {
    // Of two that depend on conditions there may be one at a time.
    if ([leg.job, leg.step].some(({ node }) => textAt(node, 'if') !== null)) return [];
    const pairs = pairsOf(leg) ?? [];
    const twin = pairs.find(([key]) => seen.has(key));
    for (const [key] of pairs) seen.add(key);
    return twin === undefined ? [] : [{ leg, fault: duplicateVote(twin[1]) }];
  });
}

/** What is wrong with a number of envelopes that is expected; null where nobody knows how many there are. */
function countFault(legs: readonly PlacedLeg[], inputs: MergeStepInputs): Fault | null {
  const text = inputs.get('expect');
  const expected = typeof text === 'string' ? countIn(text) : null;
  if (expected === null || legs.length === 0 || inputs.faults.some(({ key }) => key === 'expect'))
    return null;
  const all = new Set<string>();
  for (const leg of legs) {
    const pairs = pairsOf(leg);
    if (pairs === null) return null;
    for (const [key] of pairs) all.add(key);
  }
  if (all.size === expected) return null;
  const message = `The legs leave ${all.size} envelopes in all, one for each vote, and ${expected} are expected`;
  const fix = `Write expect: ${all.size}, or the names of the legs.`;
  return all.size > expected
    ? wrong('expect-count', `${message}: what is too many is refused (52).`, fix)
    : doubtful('expect-count', `${message}: what is missing abstains.`, fix);
}

/** What makes the votes of a leg differ in what they are asked: the merge refuses such votes. */
function votePrompt(step: Step): { readonly key: string; readonly fault: Fault } | null {
  const vote = keyOf(withOf(step, 'vote'));
  if (vote === null || keyOf(withOf(step, 'leg')) === vote) return null;
  const read = new RegExp(`\\bmatrix\\.${vote}(?![\\w-])`, 'iu');
  const key = ['prompt', 'prompt-file', 'system-prompt', 'schema'].find((each) =>
    read.test(withOf(step, each) ?? ''),
  );
  return key === undefined ? null : { key, fault: askedApart };
}

/** Each name with each vote; null where one of them cannot be told. */
function pairsOf({ names, votes, step }: PlacedLeg): readonly (readonly [string, string])[] | null {
  const all = withOf(step, 'vote') === null ? [null] : votes;
  const [leg, vote] = [keyOf(withOf(step, 'leg')), keyOf(withOf(step, 'vote'))];
  if (names === null || all === null || (leg !== null && leg === vote)) return null;
  return names.flatMap((name) => all.map((vote) => [JSON.stringify([name, vote]), name] as const));
}

function countIn(text: string): number | null {
  try {
    const expected = parseExpectation(text);
    return expected.kind === 'envelopes' ? expected.count : null;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

function keyOf(text: string | null): string | null {
  return /^\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*$/u.exec(text ?? '')?.[1]?.toLowerCase() ?? null;
}

function duplicateVote(name: string): Fault {
  const message = `Another step has this leg ${JSON.stringify(name.slice(0, 100))} and vote too, and two verdicts of one leg and vote are refused (52).`;
  return wrong('leg-twice', message, 'Give it another leg, or another vote.');
}

const askedApart = wrong(
  'vote-prompt',
  'Every vote is asked something else here, and votes that were asked different questions are refused (52).',
  'Keep the vote out of it; what should differ is a leg.',
);

/** The keys of a matrix in lower case, each with whether it has several values; null where nobody can tell them. */
function matrixKeys(job: Job): ReadonlyMap<string, boolean> | null {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  const keys = new Map<string, boolean>();
  if (matrix === null) return keys;
  if (matrix.kind !== 'map') return null;
  for (const { key, value } of matrix.entries) {
    const name = key.toLowerCase();
    if (name === 'exclude') continue;
    if (name !== 'include') {
      keys.set(name, value.kind !== 'list' || value.items.length > 1);
      continue;
    }
    if (value.kind !== 'list') return null;
    for (const item of value.items) {
      if (item.kind !== 'map') return null;
      for (const entry of item.entries) keys.set(entry.key.toLowerCase(), true);
    }
  }
  return keys;
}

/** Looks at what the jobs that judge and merge read of their matrix: a key that there is not is an empty text. */
export function checkMatrix(workflow: Workflow, findings: Findings): void {
  for (const { job, scalar, expressions } of sitesOf(workflow)) {
    const keys = job === null || ourSteps(job).length === 0 ? null : matrixKeys(job);
    if (keys === null) continue;
    for (const { root, text, at } of expressions) {
      for (const node of nodesOf(root)) {
        const [context, key, ...others] = pathOf(node) ?? [];
        if (context !== 'matrix' || key === undefined || key === '*' || others.length > 0 || keys.has(key))
          continue;
        const part = text.slice(node.at, node.end);
        findings.add(workflow.file.placeIn(scalar, at + node.at, part), unknownKey(key, [...keys.keys()]));
      }
    }
  }
}

/** The keys with several values that a text is not about, so that it is the same for some legs; empty where unknown. */
function keysNotIn(job: Job, text: string): readonly string[] {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  const keys = matrixKeys(job);
  // What is added or left out may belong together.
  if (keys === null || ['include', 'exclude'].some((each) => valueAt(matrix, each) !== null)) return [];
  const read = new Set<string>();
  for (const { text: inner } of embedded(text)) {
    const path = pathOf(parseExpression(inner) ?? NOTHING);
    if (path === null || !['matrix', 'github', 'vars', 'inputs'].includes(path[0] ?? '')) return [];
    if (path[0] === 'matrix') read.add(path[1] ?? '');
  }
  return [...keys].flatMap(([key, isMany]) => (isMany && !read.has(key) ? [key] : []));
}

const NOTHING = { kind: 'literal', value: null, at: 0, end: 0 } as const;

function unknownKey(key: string, keys: readonly string[]): Fault {
  const shown = JSON.stringify(key.slice(0, 100));
  if (keys.length === 0) {
    const message = `This job has no matrix, so what is read of it is always empty.`;
    return wrong('unknown-matrix-key', message, 'Give the job a strategy with a matrix, or write a value.');
  }
  const near = suggest(key, keys);
  const message = `The matrix of this job has no ${shown}, so it is always empty.`;
  const fix = near.length === 0 ? `Its keys are ${keys.join(', ')}.` : `Did you mean ${near.join(' or ')}?`;
  return wrong('unknown-matrix-key', message, fix);
}
