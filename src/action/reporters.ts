/** The reporters of the action, in the order in which they run, and what it writes at the end. Loaded once the model is asked. */
import type { Config } from '../config/parse-config.ts';
import { verdictKey } from '../config/reporting.ts';
import { signEnvelope } from '../envelope/signature.ts';
import { createCommentWriter } from '../github/comment.ts';
import { createStatusSetter } from '../github/status.ts';
import { createAnnotations } from '../reporters/annotations.ts';
import { findCheckout } from '../reporters/checkouts.ts';
import { createComment } from '../reporters/comment.ts';
import { createCommitStatus } from '../reporters/commit-status.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { runPage } from '../reporters/links.ts';
import { createLiveLog } from '../reporters/live-log.ts';
import type { Log } from '../reporters/log.ts';
import { stepOutputs, writeOutputs } from '../reporters/outputs.ts';
import type { Report, Reporter } from '../reporters/report-types.ts';
import type { Locate } from '../reporters/source-locations.ts';
import { createSummary } from '../reporters/summary.ts';
import type { ViewOptions } from '../reporters/view.ts';
import { createResultFiles } from '../run/result-files.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Subject } from '../types.ts';
import type { ActionGitHub } from './github.ts';

/** The settings that choose the reporters. */
export interface ReportingInputs {
  readonly config: Pick<Config, 'summary' | 'comment' | 'commentKey' | 'commitStatus' | 'leg'>;
}

export interface ActionReportersOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly setup: ReportingInputs;
  readonly github: ActionGitHub;
  readonly subject: Subject | null;
  readonly workspace: string;
  /** The results folder. */
  readonly results: string;
  readonly locate: Locate;
  /** Whether the paths of findings were resolved in other jobs, so that this job may run without a checkout. */
  readonly isResolved: boolean;
  /** The step's summary file; null when the runner provided none. */
  readonly summaryFile: string | null;
  readonly version: string;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly warn: (text: string) => void;
}

/** Local reporters come first: network reporters may take their time, and are skipped after a signal. */
export function createReporters(options: ActionReportersOptions): readonly Reporter[] {
  const { environment, setup, log, secrets, workspace, results, locate, isResolved } = options;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const isThere = !isResolved || findCheckout(workspace, workspace) !== null;
  const key = verdictKey(environment, setup.config);
  const facts: ViewOptions = {
    secrets,
    serverUrl,
    name: checkName(key),
    help: helpPage(environment),
    ...(isThere ? { locate } : {}),
  };
  const file = setup.config.summary ? options.summaryFile : null;
  const level = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  const elsewhere = file === null ? 'the result file' : 'the job summary';
  return [
    ...createResultFiles({
      results,
      workspace,
      locate: isThere ? locate : null,
      isMerge: isResolved,
      informationUri: homePage(environment),
      notify: (text) => log.info(text, 1),
      secrets,
      version: options.version,
    }),
    ...(file === null ? [] : [createSummary({ ...facts, file })]),
    // The merge of the legs annotates what they found, once.
    ...(setup.config.leg === null ? [createAnnotations({ log, locate, elsewhere })] : []),
    createLiveLog({ ...facts, log, level }),
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

/** Returns the page about endings, in the version of the action that runs. */
function helpPage(environment: ActionReportersOptions['environment']): string {
  const home = homePage(environment);
  const ref = environment['GITHUB_ACTION_REF'] || 'main';
  return home === null ? 'docs/troubleshooting.md' : `${home}/blob/${ref}/docs/troubleshooting.md`;
}

/** Returns the page of the action; null if it is unknown. */
function homePage(environment: ActionReportersOptions['environment']): string | null {
  const { GITHUB_SERVER_URL: server, GITHUB_ACTION_REPOSITORY: repository } = environment;
  return server && repository ? `${server}/${repository}` : null;
}

/** The comment and the status; a warning when there is no token for them. */
function onGitHub(options: ActionReportersOptions, facts: ViewOptions): readonly Reporter[] {
  const { environment, setup, github, subject, log, warn } = options;
  const { comment, commitStatus } = setup.config;
  if (comment === 'off' && commitStatus === null) return [];
  if (!github.hasToken) {
    warn('github-token is empty, so there is neither a comment nor a commit status.');
    return [];
  }
  const set = createStatusSetter(github.hub, commitStatus ?? '', runPage(subject, facts.serverUrl));
  return [
    ...(commitStatus === null ? [] : [createCommitStatus({ ...facts, set })]),
    ...(comment === 'off'
      ? []
      : [
          createComment({
            ...facts,
            mode: comment,
            key: verdictKey(environment, setup.config),
            write: createCommentWriter(github.hub),
            notice: (text) => log.info(text),
          }),
        ]),
  ];
}

/** Writes the envelope, signed if there is a key. @throws InputError if it cannot be written */
export function writeSignedEnvelope(report: Report, secrets: Secrets, key: string | null): void {
  writeResultFile(report, secrets, key === null ? null : (whole) => signEnvelope(whole, key));
}

/** Writes the outputs, and warns about those that are left out. @throws InputError if they cannot be written */
export function writeStepOutputs(report: Report, file: string | null, log: Log): void {
  const { outputs, warnings } = stepOutputs(report);
  for (const text of warnings) log.warning(text);
  if (file !== null) writeOutputs(file, outputs);
}
