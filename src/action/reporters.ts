/** The reporters of the action, in the order in which they run, and what it writes at the end. Loaded once the model is asked. */
import { verdictKey } from '../config/reporting.ts';
import { signEnvelope } from '../envelope/signature.ts';
import { createCommentWriter } from '../github/comment.ts';
import type { Hub } from '../github/pull-request.ts';
import { createStatusSetter } from '../github/status.ts';
import { createAnnotations } from '../reporters/annotations.ts';
import { createComment } from '../reporters/comment.ts';
import { createCommitStatus } from '../reporters/commit-status.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { runPage } from '../reporters/links.ts';
import { createLiveLog } from '../reporters/live-log.ts';
import type { Log } from '../reporters/log.ts';
import { stepOutputs, writeOutputs } from '../reporters/outputs.ts';
import { findCheckout } from '../reporters/places.ts';
import type { Report, Reporter } from '../reporters/report-types.ts';
import { createSummary } from '../reporters/summary.ts';
import type { ViewOptions } from '../reporters/view.ts';
import { createResultFiles } from '../run/result-files.ts';
import type { World } from '../run/world.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Step, StepConfig } from './start.ts';

export interface ReportersOptions {
  readonly step: Step;
  readonly config: StepConfig;
  readonly hub: Hub;
  readonly world: Pick<World, 'subject' | 'locate' | 'version'>;
  /** Whether the paths of findings were resolved in other jobs, so that this job may run without a checkout. */
  readonly isResolved: boolean;
  readonly log: Log;
}

/** Local reporters come first: network reporters may take their time, and are skipped after a signal. */
export function createReporters(options: ReportersOptions): readonly Reporter[] {
  const { step, config, isResolved, log } = options;
  const { locate, version } = options.world;
  const { environment, secrets, workspace } = step;
  const isThere = !isResolved || findCheckout(workspace, workspace) !== null;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const repository = environment['GITHUB_ACTION_REPOSITORY'] || null;
  const home = serverUrl === null || repository === null ? null : `${serverUrl}/${repository}`;
  const folder = home === null ? '' : `${home}/blob/${environment['GITHUB_ACTION_REF'] || 'main'}/`;
  const facts: ViewOptions = {
    secrets,
    serverUrl,
    name: checkName(verdictKey(environment, config)),
    // In the version of the action that runs.
    help: `${folder}docs/troubleshooting.md`,
    ...(isThere ? { locate } : {}),
  };
  const summary = config.summary ? step.files.summary : null;
  const elsewhere = summary === null ? 'the result file' : 'the job summary';
  const level = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  return [
    ...createResultFiles({
      results: step.results,
      workspace,
      locate: isThere ? locate : null,
      isMerge: isResolved,
      informationUri: home,
      secrets,
      version,
    }),
    ...(summary === null ? [] : [createSummary({ ...facts, file: summary })]),
    // The verdict's own error comes before the findings: the runner shows ten annotations of each level.
    createLiveLog({ ...facts, log, level }),
    // The merge of the legs annotates what they found, once.
    ...(config.leg ? [] : [createAnnotations({ log, locate, elsewhere })]),
    ...onGitHub(options, facts),
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
function onGitHub({ step, config, hub, world, log }: ReportersOptions, facts: ViewOptions) {
  const { comment, commitStatus } = config;
  const reporters: Reporter[] = [];
  if (comment === 'off' && commitStatus === null) return reporters;
  if (config.githubToken === null) {
    step.warn('github-token is empty, so there is neither a comment nor a commit status.');
    return reporters;
  }
  if (commitStatus !== null) {
    const set = createStatusSetter(hub, commitStatus, runPage(world.subject, facts.serverUrl));
    reporters.push(createCommitStatus({ ...facts, set }));
  }
  if (comment !== 'off')
    reporters.push(
      createComment({
        ...facts,
        mode: comment,
        key: verdictKey(step.environment, config),
        write: createCommentWriter(hub),
        notice: (text) => log.info(text),
      }),
    );
  return reporters;
}

/** Writes the envelope, signed if there is a key. @throws InputError if it cannot be written */
export function writeSignedEnvelope(report: Report, secrets: Secrets, key: string | null): void {
  writeResultFile(report, secrets, key === null ? null : (whole) => signEnvelope(whole, key));
}

/** Writes the outputs, and warns about those that are left out. @throws InputError if they cannot be written */
export function writeStepOutputs(report: Report, file: string | null, log: Log): void {
  const { outputs, warnings } = stepOutputs(report);
  for (const text of warnings) log.warning(text);
  writeOutputs(file ?? '', outputs);
}
