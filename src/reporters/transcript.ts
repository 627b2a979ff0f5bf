/** The redacted transcript: one JSON object per line for each event of a run, with secrets masked in every string. */
import { messageOf, ReportError } from '../errors.ts';
import { openPrivateLog } from '../files/private-file.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Report, Reporter } from './report-types.ts';

export interface TranscriptOptions {
  /** Absolute path; the file is created, or truncated, at the first event. */
  readonly file: string;
  readonly secrets: Secrets;
}

/**
 * Writes events as they occur, with keys in snake_case. After a failed write it writes nothing more, so that the run
 * continues, and `report` rejects with a ReportError.
 */
export function createTranscript({ file, secrets }: TranscriptOptions): Reporter {
  let append: ((line: string) => void) | null = null;
  let failure: { readonly cause: unknown } | null = null;

  const write = (entry: unknown) => {
    if (failure !== null) return;
    try {
      append ??= openPrivateLog(file);
      append(JSON.stringify(toWire(entry, secrets.mask)));
    } catch (cause) {
      failure = { cause };
    }
  };

  return {
    name: 'transcript',
    event: write,
    async report(report) {
      write(ending(report));
      if (failure === null) return;
      const { cause } = failure;
      throw new ReportError(`The transcript is not whole: ${messageOf(cause)}`, { cause });
    },
  };
}

/** How the run ended, without the error sentence, which may quote the payload; the transcript must not contain it. */
function ending(report: Report) {
  const { conclusion, reason, exitCode } = report.verdict;
  const { turnCount, rejections, usage, costUsd, durationMs } = report;
  return {
    type: 'run_finished',
    conclusion,
    reason,
    exitCode,
    turnCount,
    rejections,
    usage,
    costUsd,
    durationMs,
  };
}

/**
 * Converts an event to the format of a line. Keys of events are always our own names, so every key may be renamed;
 * `native` is omitted.
 */
export function toWire(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => toWire(each, mask));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'native')
      .map(([key, child]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        toWire(child, mask),
      ]),
  );
}
