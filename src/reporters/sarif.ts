/** Findings as SARIF 2.1.0, for code scanning, which tracks them as alerts, and for other tools. */
import { writePrivateFile } from '../files/private-file.ts';
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { sanitize, singleLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { JsonObject } from '../types.ts';
import type { Finding } from './findings.ts';
import { findingsToShow, urlPath } from './places.ts';
import type { Locate, Report, Reporter, SourcePlace } from './report-types.ts';

/** GitHub rejects more than 25,000 results and processes the 5,000 most severe. */
const MAX_RESULTS = 5_000;

export interface SarifOptions {
  /** Absolute path, whose folder is a real path. */
  readonly file: string;
  readonly locate: Locate;
  readonly secrets: Secrets;
  readonly version: string;
}

/**
 * Writes the findings of a published payload that name a file of the repository, readable only by the owner. Without a
 * published payload nothing is written: code scanning closes every alert that an upload does not contain.
 */
export function createSarif(options: SarifOptions): Reporter {
  return {
    name: 'SARIF',
    async report(report) {
      if (report.payload === null) return;
      const { rules, results } = alertsOf(report, options);
      const driver = { name: 'structured-agent', version: options.version, rules };
      const log = {
        $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
        version: '2.1.0',
        runs: [{ tool: { driver }, results }],
      };
      writePrivateFile(options.file, `${JSON.stringify(log)}\n`);
    },
  };
}

/** Returns as many results as GitHub processes, most severe first, and their rules. */
function alertsOf(report: Report, { locate, secrets }: SarifOptions) {
  const scores = new Map<string, number>();
  const results: JsonObject[] = [];
  for (const finding of findingsToShow(report, locate)) {
    const { place } = finding;
    // A masked path would name another file, or none.
    if (place === null || secrets.mask(place.path) !== place.path) continue;
    if (results.length === MAX_RESULTS) break;
    const ruleId = singleLine(sanitize(finding.rule ?? '', secrets), DISPLAY.value) || 'finding';
    scores.set(ruleId, Math.max(scores.get(ruleId) ?? 0, finding.score));
    results.push({
      ruleId,
      level: finding.severity,
      message: { text: textOf(finding, secrets) },
      locations: [locationOf(place)],
    });
  }
  return { results, rules: [...scores].map(([id, score]) => ruleOf(id, score)) };
}

function textOf({ title, message, isDoubted }: Finding, secrets: Secrets): string {
  const text = title === null || message.startsWith(title) ? message : `${title}: ${message}`;
  const clean = sanitize(isDoubted ? `Not proven. ${text}` : text, secrets).trim();
  // SARIF messages support links: `[text](target)`.
  return truncate(clean.replace(/\](?=\()/g, '] '), DISPLAY.message) || 'No text.';
}

function locationOf({ path, line, endLine }: SourcePlace): JsonObject {
  return {
    physicalLocation: {
      artifactLocation: { uri: urlPath(path) },
      // GitHub requires a line, so a finding about a whole file is placed at line 1.
      region: { startLine: line ?? 1, ...(endLine === null ? {} : { endLine }) },
    },
  };
}

/** A rule is merely a name that findings share; its score is the highest of theirs, and 0 if none has one. */
function ruleOf(id: string, score: number): JsonObject {
  const security = { tags: ['security'], 'security-severity': score.toFixed(1) };
  return {
    id,
    shortDescription: { text: id },
    fullDescription: { text: `What structured-agent found under the name ${id}.` },
    help: { text: 'A language model judged it: read the message, look at the line, decide.' },
    ...(score === 0 ? {} : { properties: security }),
  };
}
