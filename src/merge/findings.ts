/** The findings of all runs, each shown once: by file, rule and nearby line, with the legs that agree. */
import path from 'node:path';
import { SEVERITIES } from '../reporters/findings.ts';
import { byName } from './legs.ts';
import type { MergedFinding } from './types.ts';
import type { VoteFinding } from './vote.ts';

/** What one run found. */
export interface RunFindings {
  readonly leg: string;
  /** Tells the runs of one leg apart. */
  readonly run: string;
  /** Whether the run fails and what it is a vote of passes. */
  readonly outvoted: boolean;
  readonly findings: readonly VoteFinding[];
  readonly leftOut: number;
}

/** The findings, the gravest first, and how many more there are. */
export interface MergedFindings {
  readonly findings: readonly MergedFinding[];
  readonly leftOut: number;
}

/** Two models may place what they both mean at most so many lines apart. */
const NEARBY_LINES = 3;
/** Others of a kind that are quoted beside the gravest one. */
const MAX_ALSO = 5;
/** More than anybody reads. */
const MAX_FINDINGS = 2_000;
/** As JSON; the output of a step takes what of them fits beside the legs. */
const MAX_CHARACTERS = 500_000;

/** A finding and the run that it is of. */
interface Member {
  readonly run: RunFindings;
  readonly index: number;
  readonly finding: VoteFinding;
  readonly file: string | null;
  readonly line: number | null;
  /** What it is about, and in which file. */
  readonly key: string;
  /** In `SEVERITIES`. */
  readonly rank: number;
}

/** Findings of different runs that mean the same place. */
interface Cluster {
  readonly first: Member;
  readonly runs: Set<RunFindings>;
  readonly members: Member[];
  gravest: Member;
}

/**
 * Merges what several runs found. Two findings of one run always stay two: a run that names two lines means both.
 * Findings without a rule are the same where their titles or messages are; of those of one kind the words of all are kept.
 * @param workspace the folder that absolute paths are in; null where it is not known.
 */
export function mergeFindings(found: readonly RunFindings[], workspace: string | null): MergedFindings {
  const root = workspace === null ? null : toSlashes(workspace).replace(/(?<!\/)\/+$/u, '');
  const members = found.flatMap((run) =>
    run.findings.map((finding, index) => toMember(run, index, finding, root)),
  );
  const clusters = [...Map.groupBy(members, ({ key }) => key).values()]
    .flatMap(clusterNearby)
    .sort(byGravity);
  const findings = takeFitting(clusters.slice(0, MAX_FINDINGS).map(toMergedFinding));
  const leftOut = found.reduce((sum, run) => sum + run.leftOut, 0);
  return { findings, leftOut: leftOut + clusters.length - findings.length };
}

function toMember(run: RunFindings, index: number, finding: VoteFinding, root: string | null): Member {
  const { place, rule, title, message, severity } = finding;
  const file = place === null ? null : repositoryPath(place.path, root);
  const about = rule === null ? `says ${normalize(title ?? message)}` : `rule ${normalize(rule)}`;
  const key = JSON.stringify([file, about]);
  return { run, index, finding, file, line: place?.line ?? null, key, rank: SEVERITIES.indexOf(severity) };
}

/** Words that two models may write differently and mean the same. */
function normalize(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]+/gu, ' ')
    .trim();
}

function toSlashes(written: string): string {
  return written.replaceAll('\\', '/');
}

/** As git names it: relative to the repository, with `/`. */
function repositoryPath(written: string, root: string | null): string {
  const slashes = toSlashes(written);
  const inside = root !== null && slashes.startsWith(`${root}/`) ? slashes.slice(root.length + 1) : slashes;
  return path.posix.normalize(inside).replace(/^(?:\.\/)+/u, '') || '.';
}

/**
 * In the order of their lines each member joins the nearest cluster that has nothing of its run yet; the order is total, so
 * that the result does not depend on which run was read first.
 */
function clusterNearby(members: readonly Member[]): readonly Cluster[] {
  const clusters: Cluster[] = [];
  // Those that the next line may still be near to: never more than one run has findings.
  let open: Cluster[] = [];
  for (const member of members.toSorted(byPlace)) {
    if (!open.every(({ first }) => isNear(first, member)))
      open = open.filter(({ first }) => isNear(first, member));
    const cluster = findNearest(open, member);
    if (cluster === null) {
      const fresh = { first: member, runs: new Set([member.run]), members: [member], gravest: member };
      clusters.push(fresh);
      open.push(fresh);
      continue;
    }
    cluster.runs.add(member.run);
    cluster.members.push(member);
    if (member.rank < cluster.gravest.rank) cluster.gravest = member;
  }
  return clusters;
}

/** The first of those that are nearest; null where each has something of that run. */
function findNearest(open: readonly Cluster[], member: Member): Cluster | null {
  let nearest: Cluster | null = null;
  for (const cluster of open) {
    if (cluster.runs.has(member.run)) continue;
    if (nearest === null || distance(cluster.first, member) < distance(nearest.first, member))
      nearest = cluster;
  }
  return nearest;
}

/** In lines; none where neither has one. */
function distance(one: Member, other: Member): number {
  return Math.abs((one.line ?? 0) - (other.line ?? 0));
}

function isNear(one: Member, other: Member): boolean {
  if (one.line === null || other.line === null) return one.line === other.line;
  return distance(one, other) <= NEARBY_LINES;
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
    byName(one.first.file ?? '', other.first.file ?? '') ||
    (one.gravest.line ?? 0) - (other.gravest.line ?? 0) ||
    byName(one.first.key, other.first.key) ||
    byPlace(one.gravest, other.gravest)
  );
}

/** One finding for all who agree, in the words of the gravest. */
function toMergedFinding({ gravest, members }: Cluster): MergedFinding {
  const { severity, rule, title, message, place } = gravest.finding;
  return {
    severity,
    path: gravest.file,
    line: gravest.line,
    endLine: place?.endLine ?? null,
    rule,
    title,
    message: `${message}${quoteOthers(gravest, members)}`,
    legs: [...new Set(members.map(({ run }) => run.leg))].toSorted(byName),
    votes: members.length,
    outvoted: members.every(({ run }) => run.outvoted),
  };
}

/** What others of the same kind at the same place say in other words, and may mean: a category is not one mistake. */
function quoteOthers({ finding }: Member, members: readonly Member[]): string {
  const own = normalize(finding.brief);
  const others = new Map<string, string>();
  const briefs = members.flatMap((member) => (member.finding.isKind ? [member.finding.brief] : []));
  for (const text of [...new Set(briefs)].toSorted(byName)) {
    const key = normalize(text);
    if (key !== own && !others.has(key)) others.set(key, text.replace(/\s+/gu, ' '));
  }
  if (others.size === 0) return '';
  const shown = [...others.values()].slice(0, MAX_ALSO).map((text) => `“${text}”`);
  const more = others.size > MAX_ALSO ? ` and ${others.size - MAX_ALSO} more` : '';
  return `\n\nAlso said of this place: ${shown.join(', ')}${more}.`;
}

/** The first ones, as many as fit. */
function takeFitting(findings: readonly MergedFinding[]): readonly MergedFinding[] {
  let left = MAX_CHARACTERS;
  const over = findings.findIndex((finding) => {
    left -= JSON.stringify(finding).length;
    return left < 0;
  });
  return over === -1 ? findings : findings.slice(0, over);
}
