/** Converts a payload's findings to alerts, which code scanning tracks from run to run. */
import { createHash } from 'node:crypto';
import { DISPLAY, GITHUB } from '../text/limits.ts';
import { sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { JsonObject } from '../types.ts';
import { type Finding, isDoubted, type Severity, weighFindings } from './findings.ts';
import { placeFindings } from './grounding.ts';
import type { Report } from './report-types.ts';
import { type Locate, type SourceLocation, squeezeLine } from './source-locations.ts';

/** Characters of the id of a SARIF rule; GitHub keeps alerts by it. */
const MAX_RULE_ID = 80;

/** An alert for one location and one rule, whose text combines the findings there. */
export interface Alert {
  readonly severity: Severity;
  readonly place: SourceLocation;
  readonly ruleId: string;
  /** Sanitized, without secrets and links. */
  readonly message: string;
  readonly fingerprints: Readonly<Record<string, string>>;
}

/** A rule; merely a name that findings share. */
export interface AlertRule {
  readonly id: string;
  /** One sanitized line of at most 200 characters, without secrets and links. */
  readonly name: string;
  /** The highest score of its findings; null if none of their severities is a word of a vulnerability scale. */
  readonly securityScore: number | null;
}

/** The most severe alerts of a payload, as many as GitHub processes, and the rules by id. */
export interface Alerts {
  /** Most severe first. */
  readonly alerts: readonly Alert[];
  /** Number of all alerts, with those that GitHub would not process. */
  readonly total: number;
  readonly rules: ReadonlyMap<string, AlertRule>;
  /** Number of findings in the payload, and how many of them name a file of the repository. */
  readonly findings: number;
  readonly placed: number;
}

/** Default rule names by list, for findings without a rule. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['findings', 'Finding'],
  ['failures', 'Failed test'],
]);

interface Entry {
  readonly finding: Finding;
  readonly place: SourceLocation;
  readonly ruleId: string;
}

/**
 * Groups findings that have a location by rule and line. The rule is what the finding itself names as its kind, never
 * its title or message: a model words the same finding differently each time, and a different rule is a different
 * alert. GitHub treats the same rule at the same line as one alert, so such findings become one alert with all of their
 * messages. Findings that did not decide the verdict become notes without a score, because code scanning would fail a
 * pull request for more severe ones despite a passing verdict.
 */
export function alertsOf(
  payload: JsonObject,
  locate: Locate,
  secrets: Secrets,
  report: Pick<Report, 'view' | 'evidence'> = {},
): Alerts {
  const grounded = placeFindings(payload, report.evidence);
  const { deciding, minor } = weighFindings(grounded.payload, report, grounded.byRow);
  const findings = [...deciding, ...minor.map(quiet)];
  const groups = new Map<string, Entry[]>();
  const rules = new Map<string, AlertRule>();
  const clean = (text: string) => unlinked(sanitize(text, secrets)).trim();
  let placed = 0;
  for (const finding of findings) {
    const place = finding.place === null ? null : locate(finding.place);
    // A masked path would name another file, or none.
    if (place === null || secrets.mask(place.path) !== place.path) continue;
    placed += 1;
    const rule = ruleOf(finding, clean);
    rules.set(rule.id, graver(rule, rules.get(rule.id)));
    const key = JSON.stringify([place.path, place.line, rule.id]);
    const group = groups.get(key) ?? [];
    group.push({ finding, place, ruleId: rule.id });
    groups.set(key, group);
  }
  // Findings come most severe first, and so do the groups.
  const processed = [...groups.values()].slice(0, GITHUB.sarifResults);
  const alerts = processed.flatMap((group) => alertOf(group, clean));
  return { alerts, total: groups.size, rules, findings: findings.length, placed };
}

function quiet(finding: Finding): Finding {
  return { ...finding, severity: 'note', securityScore: null };
}

/** Breaks `[text](target)` links, which SARIF messages support, in the model's text. */
function unlinked(text: string): string {
  return text.replace(/\](?=\()/g, '] ');
}

function ruleOf(finding: Finding, clean: (text: string) => string): AlertRule {
  const named = finding.rule === null ? '' : singleLine(clean(finding.rule), DISPLAY.phrase);
  const ownId = idOf(named);
  const name =
    ownId === '' ? (NAMES.get(finding.list) ?? singleLine(clean(finding.list), DISPLAY.phrase)) : named;
  // Mask again: normalizing an id may produce a secret that was written in different letters.
  return {
    id: clean(ownId || idOf(name)) || 'finding',
    name: name || 'Finding',
    securityScore: finding.securityScore,
  };
}

/** Lower-cased, since a model may write `CWE-89` in one run and `cwe-89` in the next. */
function idOf(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase();
  return plain
    .replace(/[^\p{L}\p{N}._@/]+/gu, '-')
    .slice(0, MAX_RULE_ID)
    .toWellFormed()
    .replace(/^[-/]+/, '')
    .replace(/(?<![-/\ufffd])[-/\ufffd]+$/, '');
}

function graver(rule: AlertRule, known: AlertRule | undefined): AlertRule {
  if (known === undefined) return rule;
  const score = Math.max(rule.securityScore ?? 0, known.securityScore ?? 0);
  return { ...known, securityScore: score === 0 ? null : score };
}

function alertOf(group: readonly Entry[], clean: (text: string) => string): readonly Alert[] {
  const [first] = group;
  if (first === undefined) return [];
  const { finding, place, ruleId } = first;
  const texts = new Set(group.map((entry) => clean(textOf(entry.finding))));
  const message = [...texts].filter((text) => text !== '').join('\n\n') || 'No text.';
  const fingerprints = fingerprintsOf(place, ruleId);
  return [
    {
      severity: finding.severity,
      place,
      ruleId,
      message,
      fingerprints,
    },
  ];
}

function textOf(finding: Finding): string {
  const text = plainTextOf(finding);
  return isDoubted(finding.evidence) ? `Not proven. ${text}` : text;
}

function plainTextOf({ title, message }: Finding): string {
  if (title === null || message.startsWith(title)) return message;
  return `${title}${/[.:!?]$/.test(title) ? '' : ':'} ${message}`;
}

/**
 * A fingerprint that follows the text of the line when code around it changes, independent of the line number, the
 * model's wording, and how many lines it quotes. GitHub uses `primaryLocationLineHash`, which its `upload-sarif` action
 * computes from the file and warns about if it differs.
 */
function fingerprintsOf(
  { path, line, source }: SourceLocation,
  ruleId: string,
): Readonly<Record<string, string>> {
  const content =
    line === null || source === null ? null : [squeezeLine(source.line(line)), source.sameAbove(line)];
  const own = createHash('sha256')
    .update(JSON.stringify([path, ruleId, content]))
    .digest('hex');
  return {
    'structuredAgentFinding/v1': own.slice(0, 32),
  };
}
