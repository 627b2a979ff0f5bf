/** Merges the findings of all runs by file, rule and nearby line, and records which legs agree. */
import { SEVERITIES } from '../reporters/findings.ts';
import { byName } from './legs.ts';
import type { Vote, VoteFinding } from './read-vote.ts';
import type { MergedFinding } from './types.ts';

/** Maximum distance in lines at which findings of two runs are taken to mean the same. */
const NEARBY_LINES = 3;

interface Member {
  readonly vote: Vote;
  readonly finding: VoteFinding;
}

/**
 * Merges the findings of several runs: those of one file with the same rule (or title, or message) and at most three
 * lines apart are one. Two findings of one run always stay separate: a run that names two lines means both.
 * @param votes in an order that does not depend on that of the files.
 * @param passing the legs that pass.
 * @returns most severe first, then those with the most agreement; those that no run could prove come last.
 */
export function mergeFindings(
  votes: readonly Vote[],
  passing: ReadonlySet<string>,
): readonly MergedFinding[] {
  const members = votes.flatMap((vote) => vote.findings.map((finding) => ({ vote, finding })));
  const merged: MergedFinding[] = [];
  // One file at a time: the subjects of all findings together would take much memory.
  for (const ofFile of Map.groupBy(members, ({ finding }) => finding.path).values())
    for (const alike of Map.groupBy(ofFile, subjectOf).values())
      for (const cluster of clusterNearby(alike)) merged.push(toMergedFinding(cluster, passing));
  return merged.sort(byGravity);
}

/** Identifies the subject of a finding, however its words are separated; findings without a line are apart. */
function subjectOf({ finding: { rule, isKind, title, message, line } }: Member): string {
  const subject = (isKind ? null : rule) ?? title ?? message;
  const words = subject
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, ' ')
    .trim();
  return `${line === null} ${words}`;
}

/** Clusters findings in line order: each joins the nearest cluster that has no finding of its run yet. */
function clusterNearby(members: readonly Member[]): readonly (readonly Member[])[] {
  const clusters: Member[][] = [];
  for (const member of members.toSorted(byPlace)) {
    const isFar = ([first]: readonly Member[]) => lineOf(member) - lineOf(first) > NEARBY_LINES;
    const isOfOthers = (cluster: readonly Member[]) => cluster.every(({ vote }) => vote !== member.vote);
    const near = clusters.slice(clusters.findLastIndex(isFar) + 1).findLast(isOfOthers);
    if (near === undefined) clusters.push([member]);
    else near.push(member);
  }
  return clusters;
}

function lineOf(member: Member | undefined): number {
  return member?.finding.line ?? 0;
}

function rankOf({ severity }: Pick<MergedFinding, 'severity'>): number {
  return SEVERITIES.indexOf(severity);
}

/** Members come in the order of their legs and votes, which sorting keeps. */
function byPlace(one: Member, other: Member): number {
  return lineOf(one) - lineOf(other) || rankOf(one.finding) - rankOf(other.finding);
}

/** Returns one finding for all that agree, in the words of the most severe. */
function toMergedFinding(members: readonly Member[], passing: ReadonlySet<string>): MergedFinding {
  const [worst] = members.map(({ finding }) => finding).toSorted((one, other) => rankOf(one) - rankOf(other));
  if (worst === undefined) throw new Error('A cluster has at least one finding.');
  const { isKind: _, ...finding } = worst;
  return {
    ...finding,
    legs: [...new Set(members.map(({ vote }) => vote.leg))].toSorted(byName),
    votes: members.length,
    outvoted: members.every(({ vote }) => vote.outcome === 'fail' && passing.has(vote.leg)),
    doubted: members.every((member) => member.finding.doubted),
  };
}

function byGravity(one: MergedFinding, other: MergedFinding): number {
  return (
    Number(one.doubted) - Number(other.doubted) ||
    rankOf(one) - rankOf(other) ||
    other.votes - one.votes ||
    byName(one.path ?? '', other.path ?? '') ||
    (one.line ?? 0) - (other.line ?? 0)
  );
}
