/** The findings of all runs, each told once: by file, rule and nearby line, with the legs that agree. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { SEVERITIES } from '../reporters/findings.ts';
import { byGravity, type Cluster, clustersOf, type Found, type Group, type Member } from './clusters.ts';
import type { KeptFinding } from './kept.ts';
import { byName } from './legs.ts';
import type { MergedFinding } from './types.ts';

export type { Found } from './clusters.ts';

/** Others of a kind that are told beside the gravest one. */
const MAX_ALSO = 5;
/** More than anybody reads. */
const MAX_FINDINGS = 2_000;
/** As JSON; the output of a step takes what of them fits beside the legs. */
const MAX_CHARACTERS = 500_000;

/** The findings, the gravest first, and how many more there are. */
export interface MergedFindings {
  readonly findings: readonly MergedFinding[];
  readonly leftOut: number;
}

/**
 * Merges what several runs found. Two findings of one run always stay two: a run that names two lines means both.
 * Findings without a rule are the same where their titles or messages are; of those of one kind the words of all are kept.
 * @param workspace the folder that absolute paths are in; null where it is not known.
 */
export function mergeFindings(found: readonly Found[], workspace: string | null): MergedFindings {
  const root = workspace === null ? null : slashed(workspace).replace(/(?<!\/)\/+$/u, '');
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
  const merged = clustersOf(members).sort(byGravity);
  const findings = fitting(told(merged.slice(0, MAX_FINDINGS)));
  return { findings, leftOut: leftOut + merged.length - findings.length };
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
