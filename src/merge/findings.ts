/** Merges the findings of all runs by file, rule and nearby line, and records which legs agree. */
import path from 'node:path';
import { SEVERITIES } from '../reporters/findings.ts';
import { byName } from './legs.ts';
import type { MergedFinding } from './types.ts';
import type { VoteFinding } from './vote.ts';

export interface RunFindings {
  readonly leg: string;
  /** Whether the run fails although its leg passes. */
  readonly outvoted: boolean;
  readonly findings: readonly VoteFinding[];
}

/** Maximum distance in lines at which findings of two runs are taken to mean the same. */
const NEARBY_LINES = 3;

interface Member {
  readonly run: RunFindings;
  readonly finding: VoteFinding;
}

/**
 * Merges the findings of several runs: those of one file with the same rule (or title, or message) and at most three
 * lines apart are one. Two findings of one run always stay separate: a run that names two lines means both.
 * @param runs in an order that does not depend on that of the files.
 * @returns most severe first, then those with the most agreement.
 */
export function mergeFindings(runs: readonly RunFindings[]): readonly MergedFinding[] {
  const members = runs.flatMap((run) =>
    run.findings.map((finding) => ({ run, finding: { ...finding, path: repositoryPath(finding.path) } })),
  );
  const clusters = [...Map.groupBy(members, keyOf).values()].flatMap(clusterNearby);
  return clusters.map(toMergedFinding).toSorted(byGravity);
}

/** Returns the path as git names it: with `/`, and without `./`. */
function repositoryPath(written: string | null): string | null {
  return written === null ? null : path.posix.normalize(written.replaceAll('\\', '/'));
}

/** Identifies the file and the subject of a finding; those without a line are apart. */
function keyOf({ finding: { path: file, rule, isKind, title, message, line } }: Member): string {
  const subject = (isKind ? null : rule) ?? title ?? message;
  const words = subject
    .normalize('NFKC')
    .toLowerCase()
    .split(/[\s_-]+/u);
  return JSON.stringify([file, words.filter((word) => word !== ''), line === null]);
}

/** Clusters findings in line order: each joins the nearest cluster that has no finding of its run yet. */
function clusterNearby(members: readonly Member[]): readonly (readonly Member[])[] {
  const clusters: Member[][] = [];
  for (const member of members.toSorted(byPlace)) {
    const isFar = ([first]: readonly Member[]) => lineOf(member) - lineOf(first) > NEARBY_LINES;
    const isOfOthers = (cluster: readonly Member[]) => cluster.every(({ run }) => run !== member.run);
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
function toMergedFinding(members: readonly Member[]): MergedFinding {
  const [worst] = members.map(({ finding }) => finding).toSorted((one, other) => rankOf(one) - rankOf(other));
  if (worst === undefined) throw new Error('A cluster has at least one finding.');
  const { isKind: _, ...finding } = worst;
  return {
    ...finding,
    legs: [...new Set(members.map(({ run }) => run.leg))].toSorted(byName),
    votes: members.length,
    outvoted: members.every(({ run }) => run.outvoted),
    doubted: members.every((member) => member.finding.doubted),
  };
}

function byGravity(one: MergedFinding, other: MergedFinding): number {
  return (
    rankOf(one) - rankOf(other) ||
    other.votes - one.votes ||
    byName(one.path ?? '', other.path ?? '') ||
    (one.line ?? 0) - (other.line ?? 0)
  );
}
