/** The redacted transcript: one JSON object a line for each event of a run, secrets masked in every string. */
import { ReportError } from '../errors.ts';
import { openPrivateLog } from '../files/private-file.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Report, Reporter } from './report-types.ts';

/** The world of a transcript. */
export interface TranscriptOptions {
  /** An absolute path; the file is made, or emptied, with the first event. */
  readonly file: string;
  readonly secrets: Secrets;
}

/**
 * Writes events as they come, keys in snake_case. After a line that could not be written it stays silent, so that the
 * run goes on, and `report` rejects with a ReportError.
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
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ReportError(`The transcript is not whole: ${why}`, { cause });
    },
  };
}

/** How the run ended, without the error's sentence: that may quote the payload, which has no place here. */
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

/** An event as its line has it. Events have our own names as keys only, so every key may be renamed; the native form stays out. */
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
