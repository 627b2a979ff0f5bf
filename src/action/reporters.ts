/** The reporters of the action, in the order in which they run. */
import path from 'node:path';
import { createReportPage } from '../commands/report/report-page.ts';
import type { Config } from '../config/parse-config.ts';
import { verdictKey } from '../config/reporting.ts';
import { createCommentWriter } from '../github/comment.ts';
import { textAt } from '../github/event.ts';
import { createStatusSetter } from '../github/status-commit.ts';
import { createAnnotations } from '../reporters/annotations.ts';
import { createComment } from '../reporters/comment.ts';
import { createCommitStatus } from '../reporters/commit-status.ts';
import { runPage } from '../reporters/links.ts';
import { createLiveLog } from '../reporters/live-log.ts';
import type { Log } from '../reporters/log.ts';
import { RESULT_FILES } from '../reporters/outputs.ts';
import type { Reporter } from '../reporters/report-types.ts';
import { createSarif } from '../reporters/sarif.ts';
import { isCheckedOut, type Locate } from '../reporters/source-locations.ts';
import { createSummary, type SummaryFacts } from '../reporters/summary.ts';
import { createTranscript } from '../reporters/transcript.ts';
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
  readonly hub: ActionGitHub;
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
}

/** Local reporters come first: network reporters may take their time, and are skipped after a signal. */
export function createReporters(options: ActionReportersOptions): readonly Reporter[] {
  const { environment, setup, hub, log, secrets, workspace, results, locate, isResolved } = options;
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const isThere = !isResolved || isCheckedOut({ workspace, repositories: repositoriesOf(hub) });
  const facts: SummaryFacts = { secrets, serverUrl, ...(isThere ? { locate } : {}) };
  const file = setup.config.summary ? options.summaryFile : null;
  const level = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  const notify = (text: string) => log.info(text, 1);
  const ofRun = [
    createTranscript({ file: path.join(results, RESULT_FILES.transcript), secrets }),
    createReportPage({ file: path.join(results, RESULT_FILES.page), secrets, notify }),
  ];
  const elsewhere = file === null ? 'the result file' : 'the job summary';
  return [
    ...(isResolved ? [] : ofRun),
    ...(file === null ? [] : [{ ...createSummary({ ...facts, file }), repeatable: true }]),
    // Findings can be placed only in a repository that is checked out.
    ...(isThere ? [createSarifFile(options, facts)] : []),
    // The merge of the legs annotates what they found, once.
    ...(setup.config.leg === null ? [createAnnotations({ log, locate, elsewhere })] : []),
    { ...createLiveLog({ log, level }), repeatable: true },
    ...onGitHub(options, facts),
  ];
}

/** The reviewed repository, and the head repository of a pull request. */
export function repositoriesOf({ event }: Pick<ActionGitHub, 'event'>): readonly string[] {
  const head = textAt(event.payload, 'pull_request', 'head', 'repo', 'full_name');
  return [event.repository, head].filter((name) => name !== '');
}

function createSarifFile(
  { environment, setup, results, version, log, locate }: ActionReportersOptions,
  { secrets, serverUrl }: SummaryFacts,
): Reporter {
  const repository = environment['GITHUB_ACTION_REPOSITORY'] || null;
  return createSarif({
    file: path.join(results, RESULT_FILES.sarif),
    locate,
    secrets,
    notify: (text) => log.info(text, 1),
    version,
    informationUri: serverUrl === null || repository === null ? null : `${serverUrl}/${repository}`,
    category: verdictKey(environment, setup.config),
    serverUrl,
  });
}

/** The comment and the status; a warning when there is no token for them. */
function onGitHub(options: ActionReportersOptions, facts: SummaryFacts): readonly Reporter[] {
  const { environment, setup, hub, subject, log } = options;
  const { comment, commitStatus } = setup.config;
  const { github, finder, event } = hub;
  if (comment === 'off' && commitStatus === null) return [];
  if (github === null) {
    log.warning('github-token is empty, so there is neither a comment nor a commit status.', {
      title: 'structured-agent',
    });
    return [];
  }
  const status = createStatusSetter({
    github,
    repository: event.repository,
    name: commitStatus ?? '',
    targetUrl: runPage(subject, facts.serverUrl),
    findCommit: finder.findStatusCommit,
  });
  const findPullRequest = async () => {
    const number = finder.number ?? (await finder.find())?.number;
    return number === undefined ? null : { repository: event.repository, number };
  };
  return [
    ...(commitStatus === null ? [] : [createCommitStatus({ secrets: facts.secrets, set: status })]),
    ...(comment === 'off'
      ? []
      : [
          createComment({
            ...facts,
            mode: comment,
            key: verdictKey(environment, setup.config),
            write: createCommentWriter({ github, findPullRequest }),
            notice: (text) => log.info(text),
          }),
        ]),
  ];
}
