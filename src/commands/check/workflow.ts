/** Reads the parts of a workflow file that matter for steps of the action. */
import { type Embedded, type Expression, embedded, parseExpression } from './expression.ts';
import type { Owner } from './finding.ts';
import type { Output } from './outputs.ts';
import type { Policy } from './schema.ts';
import {
  type Mapping,
  type Node,
  type Scalar,
  scalarsOf,
  textAt,
  valueAt,
  type YamlFile,
} from './yaml-file.ts';

/** A workflow; `start` is that of the file. */
export interface Workflow extends Owner {
  readonly events: readonly string[];
  readonly jobs: readonly Job[];
  /** Whether it is a composite action, whose steps are represented as those of one job. */
  readonly isComposite: boolean;
  /** All texts that contain expressions. */
  readonly sites: readonly Site[];
  /** The known outputs of jobs that call other workflows. */
  readonly called: ReadonlyMap<Job, Called>;
}

export interface Job extends Owner {
  /** In lower case, as expressions look it up. */
  readonly id: string;
  /** In lower case. */
  readonly needs: readonly string[];
  readonly hasMatrix: boolean;
  readonly steps: readonly Step[];
  /** The job's own permissions, or else the workflow's; null when neither declares any. */
  readonly permissions: Node | null;
}

export interface Step extends Owner {
  readonly index: number;
  /** In lower case; null when it has none. */
  readonly id: string | null;
  /** Empty for a step that runs a script. */
  readonly uses: string;
  /** The part of this action that the step uses: a run, or the merge of many; null for any other step. */
  readonly part: ActionPart | null;
}

/** The action in the repository's root runs the agent; the one in its folder `merge` combines several verdicts. */
export type ActionPart = 'run' | 'merge';

/** A text of the workflow that contains expressions. */
export interface Site {
  /** null for the outputs of a reusable workflow. */
  readonly job: Job | null;
  /** null for what belongs to the job itself. */
  readonly step: Step | null;
  readonly scalar: Scalar;
  /** The keys that lead to it from the step or the job. */
  readonly keys: readonly string[];
  readonly isCondition: boolean;
  /** Expressions that cannot be parsed. */
  readonly unread: readonly Embedded[];
  readonly expressions: readonly (Embedded & { readonly root: Expression })[];
}

/** A step of the action with its outputs. */
export interface Source {
  readonly job: Job;
  readonly step: Step;
  /** null when the schema is unknown. */
  readonly policy: Policy | null;
  readonly about: readonly Output[];
}

export interface Called {
  /** As the job refers to it. */
  readonly name: string;
  /** Whether it could be read; those of other repositories cannot. */
  readonly isKnown: boolean;
  /** Whether it, or a workflow it calls, has a step of the action. */
  readonly isOurs: boolean;
  /** By name; null for an output that does not come from the action. */
  readonly outputs: ReadonlyMap<string, { readonly output: Output; readonly source: Source } | null>;
}

export interface ActionNames {
  /** What `uses:` may contain before an `@`, in addition to everything that ends in `/structured-agent`. */
  readonly names: readonly string[];
  /** Returns the part of this action in a folder of the checkout. */
  readonly localPart: (folder: string) => ActionPart | null;
}

/** Reads a file as a workflow or as a composite action; returns null when it is neither. */
export function readWorkflow(file: YamlFile, action: ActionNames): Workflow | null {
  const { root } = file;
  if (root?.kind !== 'map') return null;
  const runs = valueAt(root, 'runs');
  const isComposite = runs?.kind === 'map' && textAt(runs, 'using') === 'composite';
  const jobs = valueAt(root, 'jobs');
  if (!isComposite && jobs?.kind !== 'map') return null;
  const general = valueAt(root, 'permissions');
  const readJob = (id: string, node: Mapping, start: number): Job => ({
    file,
    node,
    start,
    id: id.toLowerCase(),
    needs: namesIn(valueAt(node, 'needs')),
    hasMatrix: valueAt(valueAt(node, 'strategy'), 'matrix') !== null,
    steps: stepsOf(file, node, action),
    permissions: valueAt(node, 'permissions') ?? general,
  });
  // The steps of a composite action run in a caller's job, about which nothing is known here.
  const read = isComposite
    ? [readJob('', runs, runs.start)]
    : jobs?.kind === 'map'
      ? jobs.entries.flatMap(({ key, start, value }) =>
          value.kind === 'map' ? [readJob(key, value, start)] : [],
        )
      : [];
  return {
    file,
    node: root,
    start: root.start,
    isComposite,
    events: isComposite ? [] : namesIn(valueAt(root, 'on')),
    jobs: read,
    sites: sitesOf(root, read, isComposite),
    called: new Map(),
  };
}

function stepsOf(file: YamlFile, job: Mapping, action: ActionNames): readonly Step[] {
  const steps = valueAt(job, 'steps');
  if (steps?.kind !== 'list') return [];
  return steps.items.flatMap((node, index): Step[] => {
    if (node.kind !== 'map') return [];
    const uses = textAt(node, 'uses') ?? '';
    const id = textAt(node, 'id')?.toLowerCase() ?? null;
    return [{ file, node, start: node.start, index, id, uses, part: partOf(uses, action) }];
  });
}

function partOf(uses: string, { names, localPart }: ActionNames): ActionPart | null {
  if (names.includes(uses)) return 'run';
  if (uses.startsWith('./') || uses.startsWith('../')) return localPart(uses);
  const [name = '', ref] = uses.split('@');
  if (ref === undefined) return null;
  const isNamed = (each: string) => names.includes(each) || /\/structured-agent$/iu.test(each);
  if (isNamed(name)) return 'run';
  const [, owner] = /^(.+)\/merge$/u.exec(name) ?? [];
  return owner !== undefined && isNamed(owner) ? 'merge' : null;
}

/** Returns one name, a list of names, or the keys of a mapping. */
function namesIn(node: Node | null): readonly string[] {
  if (node === null) return [];
  if (node.kind === 'scalar') return node.text === '' ? [] : [node.text.toLowerCase()];
  if (node.kind === 'map') return node.entries.map(({ key }) => key.toLowerCase());
  return node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text.toLowerCase()] : []));
}

function sitesOf(root: Mapping, jobs: readonly Job[], isComposite: boolean): readonly Site[] {
  const called = valueAt(valueAt(root, 'on'), 'workflow_call');
  const outputs = valueAt(isComposite ? root : called, 'outputs');
  const [steps = null] = isComposite ? jobs : [];
  return [
    ...(outputs === null ? [] : sitesIn(outputs, steps, null)),
    ...jobs.flatMap((job) => [
      ...job.node.entries.flatMap(({ key, value }) =>
        key === 'steps' ? [] : sitesIn(value, job, null, [key]),
      ),
      ...job.steps.flatMap((step) => sitesIn(step.node, job, step)),
    ]),
  ];
}

function sitesIn(
  node: Node,
  job: Job | null,
  step: Step | null,
  before: readonly string[] = [],
): readonly Site[] {
  return [...scalarsOf(node, before)].flatMap(({ scalar, keys }) => {
    const isCondition = keys.length === 1 && keys[0] === 'if';
    const parts =
      isCondition && !scalar.text.includes('${{') ? [{ text: scalar.text, at: 0 }] : embedded(scalar.text);
    if (parts.length === 0) return [];
    const read = parts.map((part) => ({ ...part, root: parseExpression(part.text) }));
    return [
      {
        job,
        step,
        scalar,
        keys,
        isCondition,
        unread: read.filter((part) => part.root === null && part.text.trim() !== ''),
        expressions: read.flatMap(({ root: tree, ...part }) =>
          tree === null ? [] : [{ ...part, root: tree }],
        ),
      },
    ];
  });
}

/** Whether a job has a step of this action, or calls a workflow that has one. */
export function givesVerdict(job: Job, { called }: Workflow): boolean {
  return actionSteps(job).length > 0 || called.get(job)?.isOurs === true;
}

/** Returns the steps that use this action, or only those of the given part. All of them produce a verdict. */
export function actionSteps({ steps }: Job, part: ActionPart | null = null): readonly Step[] {
  return steps.filter((step) => (part === null ? step.part !== null : step.part === part));
}

/** Whether a step uses an action, in any version. */
export function isUse({ uses }: Step, action: string): boolean {
  return uses.toLowerCase().startsWith(`${action}@`);
}

/** Whether any text below a node contains the given one. */
export function mentions(node: Node, part: string): boolean {
  for (const { scalar } of scalarsOf(node)) if (scalar.text.includes(part)) return true;
  return false;
}

/** Returns the value of an input in a step's `with`; null when it is not a scalar. */
export function withOf({ node }: Step, name: string): string | null {
  return textAt(valueAt(node, 'with'), name);
}
