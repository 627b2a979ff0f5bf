/** The reporters of a step, in the order in which they run. */
import { type Reporting, verdictKey } from '../config/reporting.ts';
import { signEnvelope } from '../envelope/signature.ts';
import { createCommentWriter } from '../github/comment.ts';
import { createStatusSetter } from '../github/commit-status.ts';
import type { Hub } from '../github/pull-request.ts';
import { createAnnotations } from '../reporters/annotations.ts';
import { createLiveLog } from '../reporters/live-log.ts';
import type { Log } from '../reporters/log.ts';
import { stepOutputs, writeOutputs } from '../reporters/outputs.ts';
import { runPage } from '../reporters/places.ts';
import type { Reporter, ViewFacts } from '../reporters/report-types.ts';
import { createCommitStatus } from '../reporters/status.ts';
import { createComment, createSummary } from '../reporters/summary-and-comment.ts';
import { createResultFiles } from '../run/result-files.ts';
import type { EndWorld } from '../run/world.ts';
import type { JsonObject } from '../types.ts';
import type { Step } from './start.ts';

interface ReportingOptions extends Pick<EndWorld, 'subject' | 'locate' | 'version'> {
  readonly step: Step;
  readonly config: Reporting & { readonly leg?: string | null };
  readonly hub: Hub;
  readonly isMerge: boolean;
  /** Whether there are files in which findings have places. */
  readonly hasPlaces: boolean;
}

/** Local reporters come first: network reporters may take their time, and are skipped after a signal. */
export function createReporters(options: ReportingOptions, log: Log): readonly Reporter[] {
  const { step, config, hub, subject, locate, version, isMerge, hasPlaces } = options;
  const { environment, secrets, workspace, results } = step;
  const { comment: mode, commitStatus, signingKey } = config;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const repository = environment['GITHUB_ACTION_REPOSITORY'] || null;
  // In the version of the action that runs.
  const ref = environment['GITHUB_ACTION_REF'] || 'main';
  const folder = serverUrl && repository ? `${serverUrl}/${repository}/blob/${ref}/` : '';
  const key = verdictKey(environment, config);
  const facts: ViewFacts = {
    secrets,
    serverUrl,
    name: checkName(key),
    help: `${folder}docs/troubleshooting.md`,
    ...(hasPlaces ? { locate } : {}),
  };
  const files = { results, workspace, secrets, version, isMerge, locate: hasPlaces ? locate : null };
  const sign = signingKey === null ? null : (whole: JsonObject) => signEnvelope(whole, signingKey);
  const summary = config.summary ? step.files.summary : null;
  const outputs: Reporter = {
    name: 'outputs',
    publish(report) {
      const { outputs: values, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      writeOutputs(step.files.output ?? '', values);
    },
  };
  const reporters: Reporter[] = [...createResultFiles({ ...files, sign }), outputs];
  if (summary !== null) reporters.push(createSummary(summary, facts));
  // The verdict's own error comes before the findings: the runner shows ten annotations of each level.
  reporters.push(createLiveLog(log, environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary', facts));
  // The merge of the legs annotates what they found, once.
  if (!config.leg)
    reporters.push(createAnnotations(log, locate, summary === null ? 'the result file' : 'the job summary'));
  const hasToken = config.githubToken !== null;
  if (!hasToken && (mode !== 'off' || commitStatus !== null))
    step.warn('github-token is empty, so there is neither a comment nor a commit status.');
  if (hasToken && commitStatus !== null) {
    const set = createStatusSetter(hub, commitStatus, runPage(subject, serverUrl));
    reporters.push(createCommitStatus(set, facts));
  }
  if (hasToken && mode !== 'off') {
    const write = createCommentWriter(hub);
    reporters.push(createComment({ ...facts, mode, key, write, notice: (text) => log.info(text) }));
  }
  return reporters;
}

/**
 * Returns the name of the check in headlines: the key without its uninformative parts, which are an absent matrix and
 * the name that the runner gives to a step without an id.
 */
function checkName(key: string): string | null {
  const parts = key.split(' / ').filter((part) => part !== '' && part !== 'null' && !part.startsWith('__'));
  return parts.length === 0 ? null : parts.join(' / ');
}
