/** Findings as SARIF 2.1.0, for code scanning, which tracks them as alerts, and for other tools. */
import { createHash } from 'node:crypto';
import { realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { errorCode, messageOf, ReportError } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { DISPLAY, GITHUB } from '../text/limits.ts';
import { counted, truncate } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Json, JsonObject } from '../types.ts';
import { urlPath } from './links.ts';
import type { Report, Reporter } from './report-types.ts';
import { type Alert, type AlertRule, type Alerts, alertsOf } from './sarif-alerts.ts';
import { type Locate, locateByEvidence, type SourceLocation } from './source-locations.ts';

/** Characters of the category of a SARIF log; GitHub keeps alerts by it. */
const MAX_CATEGORY = 200;

export interface SarifOptions extends SarifFacts {
  /** Absolute path, whose folder is a real path. */
  readonly file: string;
  readonly locate: Locate;
  readonly secrets: Secrets;
  /** Writes one line to the log. */
  readonly notify: (text: string) => void;
}

/**
 * Writes the findings of a published payload atomically, readable only by the owner. If no payload is published,
 * nothing is written, and the file of a report that is now repeated is removed: code scanning closes every alert that an
 * upload does not contain, so a run that judged nothing must leave nothing to upload. (`executionSuccessful: false` is
 * no alternative: not every server rejects such a file.) `report` rejects with a ReportError if the file cannot
 * be written.
 */
export function createSarif(options: SarifOptions): Reporter {
  const { file, secrets, locate, notify } = options;
  return {
    name: 'SARIF',
    repeatable: true,
    async report(report: Report) {
      if (report.payload === null) {
        removeFile(file);
        notify('No SARIF was written: no payload was published.');
        return;
      }
      const found = alertsOf(report.payload, locateByEvidence(report, locate), secrets, report);
      const { text, results } = sarifLog(report, found, options);
      try {
        writePrivateFile(file, text);
      } catch (cause) {
        throw problem(file, 'written', cause);
      }
      const lost = found.findings - found.placed;
      const rest =
        lost === 0 ? '' : ` ${counted(lost, 'finding')} without a file of the repository left out.`;
      notify(`SARIF: ${counted(results, 'result')} in ${file}.${rest}`);
    },
  };
}

/** @throws ReportError if the file cannot be removed or its folder is reached through a symbolic link. */
function removeFile(file: string): void {
  try {
    const folder = path.dirname(file);
    if (realpathSync.native(folder) !== folder) throw new ReportError(`${folder} leads through a link`);
    rmSync(file, { force: true });
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return;
    throw problem(file, 'removed', cause);
  }
}

function problem(file: string, what: string, cause: unknown): ReportError {
  return new ReportError(`${file} could not be ${what}: ${messageOf(cause)}`, { cause });
}

interface SarifFacts {
  readonly version: string;
  /** URL of this action; null if unknown. */
  readonly informationUri: string | null;
  /**
   * Distinguishes this analysis from others of the same commit, as the comment's key does: workflow, job, matrix leg,
   * step. GitHub closes the alerts of a category that its next upload does not contain.
   */
  readonly category: string;
  /** Base URL of the repository's server, such as `https://github.com`; null outside GitHub. */
  readonly serverUrl: string | null;
}

interface SarifText {
  readonly text: string;
  readonly results: number;
}

/** Maximum characters per message; the smaller limit applies if the log is too large. */
const MAX_MESSAGES = [DISPLAY.message, DISPLAY.reason];
const ROOT = '%SRCROOT%';
const HELP = 'A language model judged it: read the message, look at the line, decide.';

/**
 * Serializes the log. Results that do not fit are omitted, least severe first, and a notification in the log says so.
 */
export function sarifLog(report: Report, found: Alerts, facts: SarifFacts): SarifText {
  let results = found.alerts.length;
  for (const maxMessage of MAX_MESSAGES) {
    const text = logText(report, found, facts, results, maxMessage);
    if (Buffer.byteLength(text) <= GITHUB.sarif) return { text, results };
  }
  for (;;) {
    results = Math.floor(results / 2);
    const text = logText(report, found, facts, results, MAX_MESSAGES.at(-1) ?? 0);
    if (Buffer.byteLength(text) <= GITHUB.sarif || results === 0) return { text, results };
  }
}

function logText(
  report: Report,
  found: Alerts,
  facts: SarifFacts,
  results: number,
  maxMessage: number,
): string {
  const alerts = found.alerts.slice(0, results);
  const firsts = new Map<string, { readonly index: number; readonly level: Alert['severity'] }>();
  for (const { ruleId, severity } of alerts)
    if (!firsts.has(ruleId)) firsts.set(ruleId, { index: firsts.size, level: severity });
  const rules = [...firsts].flatMap(([id, { level }]) => {
    const rule = found.rules.get(id);
    return rule === undefined ? [] : ruleObject(rule, level);
  });
  const run = {
    tool: {
      driver: {
        name: 'structured-agent',
        version: facts.version,
        ...(facts.informationUri === null ? {} : { informationUri: facts.informationUri }),
        rules,
      },
    },
    automationDetails: { id: `structured-agent/${categoryOf(facts.category)}/` },
    originalUriBaseIds: { [ROOT]: { description: { text: "The repository's root." } } },
    columnKind: 'utf16CodeUnits',
    ...provenance(report, facts),
    invocations: [invocation(report, found, alerts.length)],
    results: alerts.map((alert) => result(alert, firsts.get(alert.ruleId)?.index ?? -1, maxMessage)),
  };
  const log = { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] };
  return `${JSON.stringify(log)}\n`;
}

/**
 * The category of a SARIF id is the part before the last slash; anything after it would be the name of the run. Keys
 * that become equal by replacing invalid characters or by truncation still get different categories.
 */
function categoryOf(key: string): string {
  const plain = key
    .replace(/[^\p{L}\p{N}._:=,()/-]+/gu, '-')
    .replace(/^\/+|(?<!\/)\/+$/g, '')
    .slice(0, MAX_CATEGORY);
  if (plain === key && key !== '') return key;
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 8);
  return `${plain.toWellFormed()}-${digest}`;
}

function ruleObject(rule: AlertRule, level: Alert['severity']): JsonObject {
  return {
    id: rule.id,
    name: rule.name,
    shortDescription: { text: rule.name },
    fullDescription: { text: `What structured-agent found under the name ${rule.name}.` },
    help: { text: HELP },
    defaultConfiguration: { level },
    ...(rule.securityScore === null
      ? {}
      : { properties: { tags: ['security'], 'security-severity': rule.securityScore.toFixed(1) } }),
  };
}

function result(alert: Alert, ruleIndex: number, maxMessage: number): JsonObject {
  return {
    ruleId: alert.ruleId,
    ruleIndex,
    level: alert.severity,
    message: { text: truncate(alert.message, maxMessage) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: urlPath(alert.place.path), uriBaseId: ROOT },
          region: region(alert.place),
        },
      },
    ],
    partialFingerprints: alert.fingerprints,
  };
}

/** GitHub requires a line, so a finding about a whole file is placed at line 1. */
function region({ line, endLine, column }: SourceLocation): JsonObject {
  return {
    startLine: line ?? 1,
    ...(column === null ? {} : { startColumn: column }),
    ...(endLine === null ? {} : { endLine }),
  };
}

function provenance({ subject }: Report, { serverUrl }: SarifFacts): { [key: string]: Json } {
  if (subject === null || serverUrl === null || !/^[\w.-]+\/[\w.-]+$/.test(subject.repository)) return {};
  return {
    versionControlProvenance: [
      {
        repositoryUri: `${serverUrl}/${subject.repository}`,
        revisionId: subject.sha,
        ...(subject.ref === '' ? {} : { branch: subject.ref }),
        mappedTo: { uriBaseId: ROOT },
      },
    ],
  };
}

/** Always successful: the log is written only if the run reached a verdict, whichever it is. */
function invocation(report: Report, found: Alerts, results: number): JsonObject {
  const { total, findings, placed } = found;
  const notes = [
    ...(placed === findings
      ? []
      : [
          `${counted(findings - placed, 'finding')} left out: they name no file of the repository, without which GitHub refuses the whole log.`,
        ]),
    ...(results === total
      ? []
      : [
          `${counted(total - results, 'result')} left out, the least grave: the log would be too large for GitHub.`,
        ]),
  ];
  return {
    executionSuccessful: true,
    exitCode: report.verdict.exitCode,
    exitCodeDescription: `${report.verdict.conclusion}: ${report.verdict.reason}`,
    toolExecutionNotifications: notes.map((text) => ({ level: 'warning', message: { text } })),
  };
}
