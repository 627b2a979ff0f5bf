/** SARIF logs for tests: written by the reporter and validated by the OASIS schema and GitHub's rules. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSarif, type SarifOptions } from '../../src/reporters/sarif.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleReport } from './sample-report.ts';
import type { Workspace } from './workspace-world.ts';

/** The parts of a log that tests look at. */
export interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string; readonly uriBaseId: string };
      readonly region: {
        readonly startLine: number;
        readonly startColumn?: number;
        readonly endLine?: number;
      };
    };
  }[];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}

/** A run of a log. */
export interface SarifRun {
  readonly tool: { readonly driver: { readonly rules: readonly ({ readonly id: string } & JsonObject)[] } };
  readonly automationDetails: { readonly id: string };
  readonly versionControlProvenance?: readonly JsonObject[];
  readonly invocations: readonly {
    readonly toolExecutionNotifications: readonly { readonly message: { readonly text: string } }[];
  }[];
  readonly results: readonly SarifResult[];
}

const file = new URL('../fixtures/sarif-schema-2.1.0.json', import.meta.url);
const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(file, 'utf8'));
// One pattern of the schema has an extra bracket, which is invalid in Unicode mode.
const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const validate = ajv.compile(schema);

/** The violations of the schema and of GitHub's rules in a log. */
export function sarifProblems(log: { readonly runs: readonly SarifRun[] }): readonly string[] {
  validate(log);
  const problems = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  for (const { results, tool } of log.runs) {
    const { rules } = tool.driver;
    if (new Set(rules.map(({ id }) => id)).size !== rules.length) problems.push('a rule twice');
    if (results.length > 5_000) problems.push('too many results');
    const seen = new Set<string>();
    for (const { ruleId, ruleIndex, message, locations, partialFingerprints } of results) {
      const where = locations[0]?.physicalLocation;
      if (rules[ruleIndex]?.id !== ruleId) problems.push(`no rule ${ruleId}`);
      if (message.text.trim() === '') problems.push('no text');
      if (where === undefined || where.artifactLocation.uri === '') problems.push('no location');
      if ((where?.region.startLine ?? 0) < 1) problems.push('no line');
      const alert = JSON.stringify([ruleId, where?.artifactLocation.uri, partialFingerprints]);
      if (seen.has(alert)) problems.push(`one alert twice: ${alert}`);
      seen.add(alert);
    }
  }
  return problems;
}

/** A reporter for a workspace, with the file and the lines that it writes. */
export function openSarif(workspace: Workspace, changes: Partial<SarifOptions> = {}) {
  const lines: string[] = [];
  const target = path.join(workspace.root, 'out.sarif');
  const reporter = createSarif({
    file: target,
    secrets: knowSecrets('sk-canary-123'),
    locate: createLocator({ workspace: workspace.root, workingDirectory: '.', repositories: ['octo/demo'] }),
    notify: (text) => lines.push(text),
    version: '0.1.0',
    informationUri: 'https://github.com/org/structured-agent',
    category: 'CI/review (node 24)',
    serverUrl: 'https://github.com',
    ...changes,
  });
  const report = (each: Report) => reporter.report?.(each, new AbortController().signal);
  return {
    reporter,
    target,
    lines,
    report,
    exists: () => existsSync(target),
    /** Reports a payload and reads the written log. */
    async write(payload: JsonObject) {
      await report(sampleReport({ payload }));
      const text = readFileSync(target, 'utf8');
      const log: { readonly runs: readonly [SarifRun] } = JSON.parse(text);
      return { text, log, run: log.runs[0], problems: sarifProblems(log) };
    },
  };
}
