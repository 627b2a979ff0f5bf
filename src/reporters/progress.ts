/** Progress on stderr: a line for each turn, and at the end what the run used and, if it failed, one sentence. */
import type { Secrets } from '../text/secrets.ts';
import { createLiveLog } from './live-log.ts';
import { createLog } from './log.ts';
import type { Report, Reporter } from './report-types.ts';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** Whether to print only the sentence of a failure. */
  readonly quiet: boolean;
  /** `full` is the log of the action, with the model's prose, prompts and tool output. */
  readonly level: 'summary' | 'full';
  readonly secrets: Secrets;
}

/** Creates the progress of one run. */
export function createProgress({ write, quiet, level, secrets }: ProgressOptions) {
  const print = (text: string) => write(`${text}\n`);
  const info = quiet ? () => undefined : print;
  const core = {
    info,
    notice: info,
    // Keeps the line breaks of a stack trace.
    warning: (text: string) => info(text.replace(/^/gm, 'warning: ')),
    error: (text: string) => print(`structured-agent: ${text.replace(/\s+/g, ' ')}`),
    startGroup: info,
    endGroup: () => undefined,
  };
  const log = createLog({ core, secrets, token: null });
  const view = { secrets, name: null, serverUrl: null, help: 'docs/troubleshooting.md' };
  const live = createLiveLog({ ...view, log, level: level === 'full' ? 'full' : 'turns' });
  const reporter: Reporter = { name: 'progress', event: (event) => live.event?.(event) };
  return {
    reporter,
    /** Prints a warning that belongs to no event. */
    warn: (text: string) => log.warning(text),
    /** Prints the last lines, for the verdict that the exit code reflects. */
    conclude: async (report: Report) => live.report?.(report, new AbortController().signal),
  };
}
