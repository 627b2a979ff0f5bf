/** Which findings of several runs mean one thing at one place. */
import type { Kept } from './kept.ts';
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

/** A finding by where it is kept: its texts are read again once it is to be told. */
export interface Member {
  readonly group: Group;
  readonly run: Found;
  readonly index: number;
  /** In `SEVERITIES`. */
  readonly rank: number;
  readonly line: number | null;
}

/** All that is said of one thing in one file. */
export interface Group {
  readonly key: string;
  readonly file: string | null;
  /** Tells the groups apart, and nothing else. */
  readonly at: number;
  /** Whether the rule of one of them is only a kind. */
  hasKinds: boolean;
}

/** What is said of one place. */
export interface Cluster {
  readonly first: Member;
  /** Made once they are many. */
  runs: Set<Found> | null;
  readonly members: Member[];
  gravest: Member;
}

/**
 * Members that mean the same place. In the order of their lines each joins the nearest cluster that has nothing of its run
 * yet; the order is total, so that the outcome does not depend on who was read first.
 * @param members sorted in place.
 */
export function clustersOf(members: Member[]): Cluster[] {
  const made: Cluster[] = [];
  // The clusters that the next line may still be near to: never more than one run has findings.
  let open: Cluster[] = [];
  for (const member of members.sort(byGroup)) {
    if (!open.every(({ first }) => isNear(first, member)))
      open = open.filter(({ first }) => isNear(first, member));
    const cluster = nearestOf(open, member);
    if (cluster === null) {
      const fresh = { first: member, runs: null, members: [member], gravest: member };
      made.push(fresh);
      open.push(fresh);
    } else join(cluster, member);
  }
  return made;
}

/** The first of those that are nearest; null where each has something of that run. */
function nearestOf(open: readonly Cluster[], member: Member): Cluster | null {
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
export function byGravity(one: Cluster, other: Cluster): number {
  return (
    one.gravest.rank - other.gravest.rank ||
    other.members.length - one.members.length ||
    byName(one.first.group.file ?? '', other.first.group.file ?? '') ||
    (one.gravest.line ?? 0) - (other.gravest.line ?? 0) ||
    byName(one.first.group.key, other.first.group.key) ||
    byPlace(one.gravest, other.gravest)
  );
}
