/** How a step is reported: its reporters in the order in which they run, and what it writes at the end. */
import { type Reporting, verdictKey } from '../config/reporting.ts';
import { signEnvelope } from '../envelope/signature.ts';
import { createCommentWriter } from '../github/comment.ts';
import type { Hub } from '../github/pull-request.ts';
import { createStatusSetter } from '../github/status.ts';
import { createAnnotations } from '../reporters/annotations.ts';
import { createCommitStatus } from '../reporters/commit-status.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { createLiveLog } from '../reporters/live-log.ts';
import type { Log } from '../reporters/log.ts';
import { stepOutputs, writeOutputs } from '../reporters/outputs.ts';
import { createComment, createSummary } from '../reporters/page.ts';
import { runPage } from '../reporters/places.ts';
import type { Report, Reporter, ViewFacts } from '../reporters/report-types.ts';
import { createResultFiles } from '../run/result-files.ts';
import type { EndWorld } from '../run/world.ts';
import type { Step } from './start.ts';

export interface ReportingOptions {
  readonly step: Step;
  readonly config: Reporting & { readonly signingKey: string | null; readonly leg?: string | null };
  readonly hub: Hub;
  readonly world: Pick<EndWorld, 'subject' | 'locate' | 'version'>;
  readonly isMerge: boolean;
  /** Whether there are files in which findings have places. */
  readonly hasPlaces: boolean;
}

export function createReporting(options: ReportingOptions, log: Log) {
  const { step, config } = options;
  const { secrets } = step;
  const key = config.signingKey;
  return {
    reporters: createReporters(options, log),
    /** Signs it if there is a key. @throws InputError if it cannot be written */
    writeEnvelope: (report: Report) =>
      writeResultFile(report, secrets, key === null ? null : (whole) => signEnvelope(whole, key)),
    /** Warns about outputs that are left out. @throws InputError if they cannot be written */
    writeOutputs(report: Report) {
      const { outputs, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      writeOutputs(step.files.output ?? '', outputs);
    },
  };
}

/** Local reporters come first: network reporters may take their time, and are skipped after a signal. */
function createReporters(options: ReportingOptions, log: Log): readonly Reporter[] {
  const { step, config, world, isMerge, hasPlaces } = options;
  const { locate, version } = world;
  const { environment, secrets, workspace, results } = step;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const repository = environment['GITHUB_ACTION_REPOSITORY'] || null;
  const isKnown = serverUrl !== null && repository !== null;
  // In the version of the action that runs.
  const ref = environment['GITHUB_ACTION_REF'] || 'main';
  const folder = isKnown ? `${serverUrl}/${repository}/blob/${ref}/` : '';
  const facts: ViewFacts = {
    secrets,
    serverUrl,
    name: checkName(verdictKey(environment, config)),
    help: `${folder}docs/troubleshooting.md`,
    ...(hasPlaces ? { locate } : {}),
  };
  const files = { results, workspace, secrets, version, isMerge };
  const summary = config.summary ? step.files.summary : null;
  const elsewhere = summary === null ? 'the result file' : 'the job summary';
  const level = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  return [
    ...createResultFiles({ ...files, locate: hasPlaces ? locate : null }),
    ...(summary === null ? [] : [createSummary(summary, facts)]),
    // The verdict's own error comes before the findings: the runner shows ten annotations of each level.
    createLiveLog(log, level, facts),
    // The merge of the legs annotates what they found, once.
    ...(config.leg ? [] : [createAnnotations(log, locate, elsewhere)]),
    ...createGitHubReporters(options, facts, log),
  ];
}

/**
 * Returns the name of the check in headlines: the key without its uninformative parts, which are an absent matrix and
 * the name that the runner gives to a step without an id.
 */
function checkName(key: string): string | null {
  const parts = key.split(' / ').filter((part) => part !== '' && part !== 'null' && !part.startsWith('__'));
  return parts.length === 0 ? null : parts.join(' / ');
}

/** The comment and the status; a warning when there is no token for them. */
function createGitHubReporters({ step, config, hub, world }: ReportingOptions, facts: ViewFacts, log: Log) {
  const { comment, commitStatus } = config;
  const reporters: Reporter[] = [];
  if (config.githubToken === null) {
    if (comment !== 'off' || commitStatus !== null)
      step.warn('github-token is empty, so there is neither a comment nor a commit status.');
    return reporters;
  }
  if (commitStatus !== null) {
    const set = createStatusSetter(hub, commitStatus, runPage(world.subject, facts.serverUrl));
    reporters.push(createCommitStatus(set, facts));
  }
  if (comment !== 'off') {
    const key = verdictKey(step.environment, config);
    const write = createCommentWriter(hub);
    reporters.push(createComment({ ...facts, mode: comment, key, write, notice: (text) => log.info(text) }));
  }
  return reporters;
}
