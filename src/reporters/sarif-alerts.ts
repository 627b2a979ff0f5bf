/** What of a payload's findings lasts from run to run: the alerts that code scanning keeps. */
import { createHash } from 'node:crypto';
import { sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { JsonObject } from '../types.ts';
import { type Finding, SEVERITIES, type Severity, weighFindings } from './findings.ts';
import type { Report } from './report-types.ts';
import { type Locate, type SourceLocation, squeezeLine } from './source-locations.ts';

/** One place and one rule: what the findings there say is the text of one alert. */
export interface Alert {
  readonly severity: Severity;
  readonly place: SourceLocation;
  readonly ruleId: string;
  /** Clean, without secrets and links. */
  readonly message: string;
  readonly fingerprints: Readonly<Record<string, string>>;
}

/** A rule, which is no more than a name that findings share. */
export interface Rule {
  readonly id: string;
  /** One clean line of at most 200 characters, without secrets and links. */
  readonly name: string;
  /** The greatest score of its findings; null where their severities are none of a scale for vulnerabilities. */
  readonly securityScore: number | null;
}

/** The alerts of a payload, the gravest first, and their rules by id. */
export interface Alerts {
  readonly alerts: readonly Alert[];
  readonly rules: ReadonlyMap<string, Rule>;
  /** How many findings the payload has, and how many of them name a file of the repository. */
  readonly findings: number;
  readonly placed: number;
}

const MAX_NAME = 200;
const MAX_ID = 80;
/** What a finding is called that does not say of what kind it is, by the list that it stands in. */
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
 * Groups the findings that have a place by rule and line. The rule is what the finding itself names as its kind, never
 * its title or message: a model says the same thing in other words each time, and another rule is another alert. What
 * has the same rule at the same line would be one alert to GitHub, which knows no more of it: here it is one with all
 * that was said. What did not decide the verdict is a note without a score: code scanning fails a pull request for
 * what is graver, beside a green verdict.
 */
export function alertsOf(
  payload: JsonObject,
  locate: Locate,
  secrets: Secrets,
  report: Pick<Report, 'view'> = {},
): Alerts {
  const { deciding, minor } = weighFindings(payload, report);
  const findings = [...deciding, ...minor.map(quiet)];
  const groups = new Map<string, Entry[]>();
  const rules = new Map<string, Rule>();
  const clean = (text: string) => unlinked(sanitize(text, secrets)).trim();
  let placed = 0;
  for (const finding of findings) {
    const place = finding.place === null ? null : locate(finding.place);
    // A path that is masked names another file, or none.
    if (place === null || secrets.mask(place.path) !== place.path) continue;
    placed += 1;
    const rule = ruleOf(finding, clean);
    rules.set(rule.id, graver(rule, rules.get(rule.id)));
    const key = JSON.stringify([place.path, place.line, rule.id]);
    const group = groups.get(key) ?? [];
    group.push({ finding, place, ruleId: rule.id });
    groups.set(key, group);
  }
  const alerts = [...groups.values()].flatMap((group) => alertOf(group, clean));
  return { alerts: alerts.toSorted(byGravity), rules, findings: findings.length, placed };
}

function quiet(finding: Finding): Finding {
  return { ...finding, severity: 'note', securityScore: null };
}

/** `[text](target)` is a link in a SARIF message; the model's text links to nothing. */
function unlinked(text: string): string {
  return text.replace(/\](?=\()/g, '] ');
}

function byGravity(one: Alert, other: Alert): number {
  return SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity);
}

function ruleOf(finding: Finding, clean: (text: string) => string): Rule {
  const named = finding.rule === null ? '' : singleLine(clean(finding.rule), MAX_NAME);
  const name =
    idOf(named) === '' ? (NAMES.get(finding.list) ?? singleLine(clean(finding.list), MAX_NAME)) : named;
  // Once more: an id is folded, which may put a secret together that was written in other letters.
  return {
    id: clean(idOf(name)) || 'finding',
    name: name || 'Finding',
    securityScore: finding.securityScore,
  };
}

/** Lower case, since a model writes `CWE-89` today and `cwe-89` tomorrow. */
function idOf(name: string): string {
  const plain = name.normalize('NFKC').toLowerCase();
  return plain
    .replace(/[^\p{L}\p{N}._@/]+/gu, '-')
    .slice(0, MAX_ID)
    .toWellFormed()
    .replace(/^[-/]+/, '')
    .replace(/(?<![-/\ufffd])[-/\ufffd]+$/, '');
}

function graver(rule: Rule, known: Rule | undefined): Rule {
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
  return [
    { severity: finding.severity, place, ruleId, message, fingerprints: fingerprintsOf(place, ruleId) },
  ];
}

function textOf({ title, message }: Finding): string {
  if (title === null || message.startsWith(title)) return message;
  return `${title}${/[.:!?]$/.test(title) ? '' : ':'} ${message}`;
}

/**
 * Follows the line's own text, whatever changes around it, and knows neither its number nor the model's words. GitHub
 * looks at `primaryLocationLineHash`, which its `upload-sarif` calculates from the file and warns of where it differs.
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
