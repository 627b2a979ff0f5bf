/** The findings of all runs, each told once: by file, rule and nearby line, with the legs that agree. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { MergedFinding } from '../merge-types.ts';
import { SEVERITIES } from '../reporters/severity.ts';
import type { Kept, KeptFinding } from './kept.ts';
import { byName } from './legs.ts';

/** What one run found. */
export interface Found {
  readonly leg: string;
  /** Tells the runs of one leg apart. */
  readonly run: string;
  /** Whether the run fails and what it is a vote of passes. */
  readonly outvoted: boolean;
  readonly findings: Kept;
}

/** So many lines apart two models may place what they both mean. */
const NEARBY_LINES = 3;
/** From so many members on a set costs less than to look at each. */
const MANY = 8;
/** Others of a kind that are told beside the gravest one. */
const MAX_ALSO = 5;
/** More than anybody reads. */
const MAX_FINDINGS = 2_000;
/** As JSON: a step's output may have 1 MiB, and the legs stand in it too. */
const MAX_CHARACTERS = 500_000;

/** The findings, the gravest first, and how many more there are. */
export interface MergedFindings {
  readonly findings: readonly MergedFinding[];
  readonly leftOut: number;
}

/**
 * Merges what several runs found. Two findings of one run always stay two: a run that names two lines means both.
 * Findings without a rule are the same where their titles or messages are.
 * @param workspace the folder that absolute paths are in; null where it is not known.
 */
export function mergeFindings(found: readonly Found[], workspace: string | null): MergedFindings {
  const root = workspace === null ? null : slashed(workspace).replace(/\/+$/u, '');
  const groups = new Map<string, Group>();
  // One list for all: tens of thousands of short ones would take more than what is in them.
  const members: Member[] = [];
  let leftOut = 0;
  for (const run of found) {
    leftOut += run.findings.leftOut;
    for (const [index, finding] of run.findings.read().entries()) {
      const file = finding.path === null ? null : pathOf(finding.path, root);
      const key = keyOf(file, finding);
      const group = groups.get(key) ?? { key, file, at: groups.size, hasKinds: false };
      if (group.at === groups.size) groups.set(key, group);
      if (finding.inShort !== null) group.hasKinds = true;
      members.push({ group, run, index, rank: SEVERITIES.indexOf(finding.severity), line: finding.line });
    }
  }
  const merged = clustersOf(members.sort(byGroup)).sort(byGravity);
  const findings = fitting(told(merged.slice(0, MAX_FINDINGS)));
  return { findings, leftOut: leftOut + merged.length - findings.length };
}

/** A finding by where it is kept: its texts are read again once it is to be told. */
interface Member {
  readonly group: Group;
  readonly run: Found;
  readonly index: number;
  /** In `SEVERITIES`. */
  readonly rank: number;
  readonly line: number | null;
}

/** All that is said of one thing in one file. */
interface Group {
  readonly key: string;
  readonly file: string | null;
  /** Tells the groups apart, and nothing else. */
  readonly at: number;
  /** Whether the rule of one of them is only a kind. */
  hasKinds: boolean;
}

/** What is said of one place. */
interface Cluster {
  readonly first: Member;
  /** Made once they are many. */
  runs: Set<Found> | null;
  readonly members: Member[];
  gravest: Member;
}

/** Short whatever the file and the finding say. */
function keyOf(file: string | null, finding: KeptFinding): string {
  const key = JSON.stringify([file, subjectOf(finding)]);
  return key.length <= 200 ? key : createHash('sha256').update(key).digest('hex');
}

/** What a finding is about, in words that two models may both use. */
function subjectOf({ rule, title, message }: KeptFinding): string {
  return rule === null ? `says ${plain(title ?? message)}` : `rule ${plain(rule)}`;
}

function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, ' ')
    .trim();
}

function slashed(written: string): string {
  return written.replaceAll('\\', '/');
}

/** As git names it: relative to the repository, with `/`. */
function pathOf(written: string, root: string | null): string {
  const slashes = slashed(written);
  const inside = root !== null && slashes.startsWith(`${root}/`) ? slashes.slice(root.length + 1) : slashes;
  const plain = path.posix.normalize(inside).replace(/^(?:\.\/)+/u, '');
  return plain === '' ? '.' : plain;
}

/**
 * Members that mean the same place. In the order of their lines each joins the nearest cluster that has nothing of its run
 * yet; the order is total, so that the outcome does not depend on who was read first.
 * @param members group by group, each in the order of its places.
 */
function clustersOf(members: readonly Member[]): Cluster[] {
  const made: Cluster[] = [];
  // The clusters that the next line may still be near to: never more than one run has findings.
  let open: Cluster[] = [];
  for (const member of members) {
    if (!open.every(({ first }) => isNear(first, member)))
      open = open.filter(({ first }) => isNear(first, member));
    const cluster = nearest(open, member);
    if (cluster === null) {
      const fresh = { first: member, runs: null, members: [member], gravest: member };
      made.push(fresh);
      open.push(fresh);
    } else join(cluster, member);
  }
  return made;
}

/** The first of those that are nearest; null where each has something of that run. */
function nearest(open: readonly Cluster[], member: Member): Cluster | null {
  let best: Cluster | null = null;
  for (const cluster of open) {
    if (holds(cluster, member.run)) continue;
    if (best === null || distance(cluster.first, member) < distance(best.first, member)) best = cluster;
  }
  return best;
}

/** In lines; none where neither has one. */
function distance(one: Member, other: Member): number {
  return Math.abs((one.line ?? 0) - (other.line ?? 0));
}

function join(cluster: Cluster, member: Member): void {
  cluster.runs?.add(member.run);
  cluster.members.push(member);
  if (cluster.members.length === MANY) cluster.runs = new Set(cluster.members.map(({ run }) => run));
  if (member.rank < cluster.gravest.rank) cluster.gravest = member;
}

function holds({ runs, members }: Cluster, run: Found): boolean {
  return runs === null ? members.some((member) => member.run === run) : runs.has(run);
}

function isNear(one: Member, other: Member): boolean {
  if (one.group !== other.group) return false;
  if (one.line === null || other.line === null) return one.line === other.line;
  return Math.abs(one.line - other.line) <= NEARBY_LINES;
}

function byGroup(one: Member, other: Member): number {
  return one.group.at - other.group.at || byPlace(one, other);
}

function byPlace(one: Member, other: Member): number {
  return (
    (one.line ?? 0) - (other.line ?? 0) ||
    one.rank - other.rank ||
    byName(one.run.leg, other.run.leg) ||
    byName(one.run.run, other.run.run) ||
    one.index - other.index
  );
}

/** The gravest first, then those that most agree on; the rest makes the order total. */
function byGravity(one: Cluster, other: Cluster): number {
  return (
    one.gravest.rank - other.gravest.rank ||
    other.members.length - one.members.length ||
    byName(one.first.group.file ?? '', other.first.group.file ?? '') ||
    (one.gravest.line ?? 0) - (other.gravest.line ?? 0) ||
    byName(one.first.group.key, other.first.group.key) ||
    byPlace(one.gravest, other.gravest)
  );
}

/** What is read of a cluster. */
interface Texts {
  gravest: KeptFinding | null;
  /** Of those whose rule is only a kind: what each says. */
  readonly inShort: Set<string>;
}

/** One finding for all who agree, in the words of whoever finds it gravest. Each run is read once. */
function told(clusters: readonly Cluster[]): readonly MergedFinding[] {
  const texts = new Map<Cluster, Texts>(
    clusters.map((cluster) => [cluster, { gravest: null, inShort: new Set() }]),
  );
  const read = clusters.flatMap((cluster) =>
    (cluster.first.group.hasKinds ? cluster.members : [cluster.gravest]).map((member) => ({
      cluster,
      member,
    })),
  );
  for (const [run, own] of Map.groupBy(read, ({ member }) => member.run)) {
    const kept = run.findings.read();
    for (const { cluster, member } of own) {
      const [finding, known] = [kept[member.index], texts.get(cluster)];
      if (finding === undefined || known === undefined) continue;
      if (member === cluster.gravest) known.gravest = finding;
      if (finding.inShort !== null) known.inShort.add(finding.inShort);
    }
  }
  return [...texts].flatMap(([cluster, { gravest, inShort }]) =>
    gravest === null ? [] : [tell(gravest, cluster, alsoSaid(gravest, inShort))],
  );
}

/** What others of the same kind at the same place say in other words, and may mean: a category is not one mistake. */
function alsoSaid(told: KeptFinding, inShort: ReadonlySet<string>): string {
  const own = plain(told.inShort ?? told.title ?? told.message);
  const others = new Map<string, string>();
  for (const text of [...inShort].toSorted(byName)) {
    const key = plain(text);
    if (key !== own && !others.has(key)) others.set(key, text.replace(/\s+/gu, ' '));
  }
  if (others.size === 0) return '';
  const shown = [...others.values()].slice(0, MAX_ALSO).map((text) => `“${text}”`);
  const more = others.size > MAX_ALSO ? ` and ${others.size - MAX_ALSO} more` : '';
  return `\n\nAlso said of this place: ${shown.join(', ')}${more}.`;
}

/** The first ones, as many as fit. */
function fitting(findings: readonly MergedFinding[]): readonly MergedFinding[] {
  let left = MAX_CHARACTERS;
  const over = findings.findIndex((finding) => {
    left -= JSON.stringify(finding).length;
    return left < 0;
  });
  return over === -1 ? findings : findings.slice(0, over);
}

function tell(finding: KeptFinding, { gravest, members }: Cluster, also: string): MergedFinding {
  return {
    severity: finding.severity,
    path: gravest.group.file,
    line: gravest.line,
    endLine: finding.endLine,
    rule: finding.rule,
    title: finding.title,
    message: `${finding.message}${also}`,
    legs: [...new Set(members.map(({ run }) => run.leg))].toSorted(byName),
    votes: members.length,
    outvoted: members.every(({ run }) => run.outvoted),
  };
}
