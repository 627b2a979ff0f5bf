/** A workflow file as far as the action's steps are concerned. */
import type { Place } from './finding.ts';
import type { Output } from './outputs.ts';
import type { Judge } from './schema.ts';
import { entryAt, type Mapping, type Node, scalarsOf, textAt, valueAt, type YamlFile } from './yaml-file.ts';

/** A workflow. */
export interface Workflow {
  readonly file: YamlFile;
  readonly root: Mapping;
  /** The names of the events that start it. */
  readonly events: readonly string[];
  readonly jobs: readonly Job[];
  /** Whether it is a composite action, whose steps are those of one job here. */
  readonly isComposite: boolean;
  /** What the jobs hand on that call other workflows, as far as that is known. */
  readonly called: ReadonlyMap<Job, Called>;
}

/** A step of the action with what it gives. */
export interface Source {
  readonly job: Job;
  readonly step: Step;
  /** null where the schema is not known. */
  readonly judge: Judge | null;
  /** What it tells about the run. */
  readonly about: readonly Output[];
}

/** A workflow that a job calls. */
export interface Called {
  /** As the job names it. */
  readonly name: string;
  /** Whether it could be read: those of other repositories cannot. */
  readonly isKnown: boolean;
  /** Whether a step of it, or of one that it calls, is a step of the action. */
  readonly isOurs: boolean;
  /** By name; null for one that is none of the action's. */
  readonly outputs: ReadonlyMap<string, { readonly output: Output; readonly source: Source } | null>;
}

/** A job. */
export interface Job {
  /** In lower case, as expressions find it. */
  readonly id: string;
  readonly node: Mapping;
  readonly start: number;
  /** In lower case. */
  readonly needs: readonly string[];
  readonly hasMatrix: boolean;
  readonly steps: readonly Step[];
  /** The job's own permissions, else the workflow's; null where neither says any. */
  readonly permissions: Node | null;
}

/** A step. */
export interface Step {
  readonly index: number;
  /** In lower case; null where it has none. */
  readonly id: string | null;
  readonly node: Mapping;
  readonly start: number;
  /** Whether it is a step of this action, and which: one that judges, or one that merges verdicts. */
  readonly part: ActionPart | null;
}

/** The action in the repository's root judges, the one in its folder `merge` makes one verdict of many. */
export type ActionPart = 'judge' | 'merge';

/** What tells the action from others. */
export interface ActionNames {
  /** What `uses:` may say before an `@`, beside everything that ends in `/structured-agent`. */
  readonly names: readonly string[];
  /** What of this action a folder of the checkout holds. */
  readonly localPart: (folder: string) => ActionPart | null;
}

/** Reads a file as a workflow, or as a composite action; null where it is neither. */
export function readWorkflow(file: YamlFile, action: ActionNames): Workflow | null {
  const runs = valueAt(file.root, 'runs');
  if (file.root?.kind === 'map' && runs?.kind === 'map' && textAt(runs, 'using') === 'composite')
    return compositeAction(file, file.root, runs, action);
  const jobs = valueAt(file.root, 'jobs');
  if (file.root?.kind !== 'map' || jobs?.kind !== 'map') return null;
  const general = valueAt(file.root, 'permissions');
  return {
    file,
    root: file.root,
    isComposite: false,
    called: new Map(),
    events: namesIn(valueAt(file.root, 'on')),
    jobs: jobs.entries.flatMap(({ key, start, value }): Job[] =>
      value.kind === 'map'
        ? [
            {
              id: key.toLowerCase(),
              node: value,
              start,
              needs: namesIn(valueAt(value, 'needs')),
              hasMatrix: valueAt(valueAt(value, 'strategy'), 'matrix') !== null,
              steps: stepsOf(value, action),
              permissions: valueAt(value, 'permissions') ?? general,
            },
          ]
        : [],
    ),
  };
}

/** Its steps run in the job of a caller, of which nothing is known here. */
function compositeAction(file: YamlFile, root: Mapping, runs: Mapping, action: ActionNames): Workflow {
  const job: Job = {
    id: '',
    node: runs,
    start: runs.start,
    needs: [],
    hasMatrix: false,
    steps: stepsOf(runs, action),
    permissions: null,
  };
  return { file, root, isComposite: true, called: new Map(), events: [], jobs: [job] };
}

/** Whether a job has a step of this action, or calls a workflow that has one. */
export function givesVerdict(job: Job, { called }: Workflow): boolean {
  return ourSteps(job).length > 0 || called.get(job)?.isOurs === true;
}

/** The steps of this action that judge. */
export function judgeSteps(job: Job): readonly Step[] {
  return job.steps.filter(({ part }) => part === 'judge');
}

/** The steps of this action that merge verdicts. */
export function mergeSteps(job: Job): readonly Step[] {
  return job.steps.filter(({ part }) => part === 'merge');
}

/** The steps of this action, all of which give a verdict. */
export function ourSteps(job: Job): readonly Step[] {
  return job.steps.filter(({ part }) => part !== null);
}

/** Where an entry of a mapping stands; else where the mapping's owner does. */
export function placeOf(file: YamlFile, node: Mapping, start: number, ...keys: readonly string[]): Place {
  let at: Node | null = node;
  let found = start;
  for (const key of keys) {
    const entry = entryAt(at, key);
    if (entry === null) break;
    found = entry.start;
    at = entry.value;
  }
  return file.place(found);
}

/** Whether any text below a node holds this one. */
export function mentions(node: Node, part: string): boolean {
  for (const { scalar } of scalarsOf(node)) if (scalar.text.includes(part)) return true;
  return false;
}

/** One name, a list of names, or a mapping by names. */
function namesIn(node: Node | null): readonly string[] {
  if (node === null) return [];
  if (node.kind === 'scalar') return node.text === '' ? [] : [node.text.toLowerCase()];
  if (node.kind === 'map') return node.entries.map(({ key }) => key.toLowerCase());
  return node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text.toLowerCase()] : []));
}

function stepsOf(job: Mapping, action: ActionNames): readonly Step[] {
  const steps = valueAt(job, 'steps');
  if (steps?.kind !== 'list') return [];
  return steps.items.flatMap((node, index): Step[] =>
    node.kind === 'map'
      ? [
          {
            index,
            id: textAt(node, 'id')?.toLowerCase() ?? null,
            node,
            start: node.start,
            part: partOf(textAt(node, 'uses') ?? '', action),
          },
        ]
      : [],
  );
}

function partOf(uses: string, { names, localPart }: ActionNames): ActionPart | null {
  if (names.includes(uses)) return 'judge';
  if (uses.startsWith('./') || uses.startsWith('../')) return localPart(uses);
  const [name = '', ref] = uses.split('@');
  if (ref === undefined) return null;
  const isNamed = (each: string) => names.includes(each) || /\/structured-agent$/iu.test(each);
  if (isNamed(name)) return 'judge';
  const [, owner] = /^(.+)\/merge$/u.exec(name) ?? [];
  return owner !== undefined && isNamed(owner) ? 'merge' : null;
}

/** What a step's `with` gives for an input, whose name is the same in any case; null where it gives no scalar. */
export function withOf({ node }: Step, name: string): string | null {
  const given: Node | null = valueAt(node, 'with');
  const entry =
    given?.kind === 'map' ? given.entries.find(({ key }) => key.toLowerCase() === name) : undefined;
  return entry?.value.kind === 'scalar' ? entry.value.text : null;
}
