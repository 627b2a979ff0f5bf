/** Merges the findings of all runs by file, rule and nearby line, and records which legs agree. */
import path from 'node:path';
import { SEVERITIES } from '../reporters/findings.ts';
import { LISTED, MERGE } from '../text/limits.ts';
import { byName, type VoteFinding } from './legs.ts';
import type { MergedFinding } from './types.ts';

export interface RunFindings {
  readonly leg: string;
  /** Distinguishes the runs of one leg. */
  readonly run: string;
  /** Whether the run fails although its leg, or the merge as a whole, passes. */
  readonly outvoted: boolean;
  readonly findings: readonly VoteFinding[];
  readonly leftOut: number;
}

/** The findings, most severe first, and the number of omitted ones. */
export interface MergedFindings {
  readonly findings: readonly MergedFinding[];
  readonly leftOut: number;
}

/** Maximum distance in lines at which findings of two models are taken to mean the same. */
const NEARBY_LINES = 3;

interface Member {
  readonly run: RunFindings;
  readonly index: number;
  readonly finding: VoteFinding;
  readonly file: string | null;
  readonly line: number | null;
  /** Identifies the subject of the finding and its file. */
  readonly key: string;
  /** Index in `SEVERITIES`. */
  readonly rank: number;
}

/** Findings of different runs about the same location. */
interface Cluster {
  readonly first: Member;
  readonly runs: Set<RunFindings>;
  readonly members: Member[];
  gravest: Member;
}

/**
 * Merges the findings of several runs. Two findings of one run always stay separate: a run that names two lines means
 * both. Findings without a rule are the same if their titles or messages are; for findings that share only a category,
 * the texts of all are kept.
 * @param workspace the folder that absolute paths are in; null if unknown.
 */
export function mergeFindings(found: readonly RunFindings[], workspace: string | null): MergedFindings {
  const root = workspace === null ? null : toSlashes(workspace).replace(/(?<!\/)\/+$/u, '');
  const members = found.flatMap((run) =>
    run.findings.map((finding, index) => toMember(run, index, finding, root)),
  );
  const nearby = [...Map.groupBy(members, ({ key }) => key).values()].flatMap(clusterNearby);
  const clusters = joinProven(nearby.toSorted(byGravity)).toSorted(byGravity);
  const findings = takeFitting(clusters.slice(0, MERGE.findings).map(toMergedFinding));
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

/** Normalizes text that two models may write differently. */
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

/** Returns the path as git names it: relative to the repository, with `/`. */
function repositoryPath(written: string, root: string | null): string {
  const slashes = toSlashes(written);
  const inside = root !== null && slashes.startsWith(`${root}/`) ? slashes.slice(root.length + 1) : slashes;
  return path.posix.normalize(inside).replace(/^(?:\.\/)+/u, '') || '.';
}

/**
 * Clusters findings: in line order, each member joins the nearest cluster that has no finding of its run yet. The order
 * is total, so the result does not depend on the order in which runs were read.
 */
function clusterNearby(members: readonly Member[]): readonly Cluster[] {
  const clusters: Cluster[] = [];
  // Clusters that the next finding may still be near to; at most as many as one run has findings.
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

/** Clusters with which another one is compared; more are different findings about one line. */
const MAX_COMPARED = 20;

/**
 * Joins clusters that are proven by the same text of the same file, whatever their rules and lines are, unless they
 * have findings of one run. The order of the clusters decides, so it must be total.
 */
function joinProven(clusters: readonly Cluster[]): readonly Cluster[] {
  const byProof = new Map<string, Cluster[]>();
  return clusters.filter((cluster) => {
    const proofs = new Set(cluster.members.flatMap(proofOf));
    const near = new Set([...proofs].flatMap((proof) => byProof.get(proof) ?? []));
    const other = [...near].slice(0, MAX_COMPARED).find((each) => isDisjoint(each, cluster));
    if (other === undefined) {
      for (const proof of proofs) {
        const known = byProof.get(proof) ?? [];
        if (known.length < MAX_COMPARED) byProof.set(proof, [...known, cluster]);
      }
      return true;
    }
    for (const run of cluster.runs) other.runs.add(run);
    for (const member of cluster.members) other.members.push(member);
    return false;
  });
}

function isDisjoint(one: Cluster, other: Cluster): boolean {
  return ![...other.runs].some((run) => one.runs.has(run));
}

function proofOf({ file, finding: { proof } }: Member): readonly string[] {
  return file === null || proof === undefined ? [] : [JSON.stringify([file, proof])];
}

/** Returns the first of the nearest clusters; null if each already has a finding of that run. */
function findNearest(open: readonly Cluster[], member: Member): Cluster | null {
  let nearest: Cluster | null = null;
  for (const cluster of open) {
    if (cluster.runs.has(member.run)) continue;
    if (nearest === null || distance(cluster.first, member) < distance(nearest.first, member))
      nearest = cluster;
  }
  return nearest;
}

/** Distance in lines; 0 if neither has a line. */
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

/** Most severe first, then those with the most agreement; the remaining criteria make the order total. */
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

/** Returns one finding for all that agree, in the words of the most severe. */
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
    ...(members.every(({ finding }) => finding.isDoubted === true) ? { doubted: true } : {}),
  };
}

/**
 * Quotes the differing texts of other findings with the same category and location, or proven by the same text: neither
 * is one specific mistake.
 */
function quoteOthers({ finding, key: subject }: Member, members: readonly Member[]): string {
  const own = normalize(finding.brief);
  const others = new Map<string, string>();
  const briefs = members.flatMap((member) =>
    member.finding.isKind || member.key !== subject ? [member.finding.brief] : [],
  );
  for (const text of [...new Set(briefs)].toSorted(byName)) {
    const key = normalize(text);
    if (key !== own && !others.has(key)) others.set(key, text.replace(/\s+/gu, ' '));
  }
  if (others.size === 0) return '';
  const shown = [...others.values()].slice(0, LISTED.some).map((text) => `“${text}”`);
  const more = others.size > LISTED.some ? ` and ${others.size - LISTED.some} more` : '';
  return `\n\nAlso said of this place: ${shown.join(', ')}${more}.`;
}

function takeFitting(findings: readonly MergedFinding[]): readonly MergedFinding[] {
  let left: number = MERGE.findingsJson;
  const over = findings.findIndex((finding) => {
    left -= JSON.stringify(finding).length;
    return left < 0;
  });
  return over === -1 ? findings : findings.slice(0, over);
}
