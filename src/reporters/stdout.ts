/** What the command line prints on stdout: the payload, the envelope, or the whole run as messages. */

import type { Secrets } from '../text/secrets.ts';
import { envelope } from './envelope.ts';
import { jsonLine } from './inert-json.ts';
import { createMessages } from './messages.ts';
import type { Report, Reporter, RunEvent } from './report-types.ts';
import type { Sink } from './sink.ts';

/** How stdout tells a run, by the names of `--output-format`. */
export type OutputFormat = 'text' | 'json' | 'stream-json' | 'object';

/** The world of stdout. */
export interface StdoutOptions {
  readonly sink: Sink;
  readonly format: OutputFormat;
  readonly secrets: Secrets;
  readonly version: string;
  /** The folder that the agent works on. */
  readonly cwd: string;
}

/** Stdout of a run. */
export interface Stdout {
  /** Listens while the run goes on: `stream-json` is written line by line, `json` is kept for the end. */
  readonly reporter: Reporter;
  /**
   * Writes what tells the verdict, and resolves once the system has taken all of it. Only the first call writes: a
   * second one comes where the first has failed, and half a document cannot be mended by another one behind it.
   * @throws InputError when stdout did not take everything; not where that is what ended the run.
   */
  writeOutputs(report: Report): Promise<void>;
}

/** Makes the stdout of one run. */
export function createStdout({ sink, format, secrets, version, cwd }: StdoutOptions): Stdout {
  const messages = createMessages({ version, cwd, mask: secrets.mask });
  const kept: string[] = [];
  let told = false;

  const listen = (event: RunEvent) => {
    for (const message of messages(event)) {
      const line = jsonLine(message);
      if (format === 'json') kept.push(line);
      else sink.write(`${line}\n`);
    }
  };
  const tell = (report: Report): string => {
    if (format === 'text') return report.payload === null ? '' : `${jsonLine(report.payload)}\n`;
    const end = jsonLine(envelope(report, secrets.mask));
    return format === 'json' ? `[${[...kept, end].join(',')}]\n` : `${end}\n`;
  };

  return {
    reporter: { name: 'stdout', ...(format === 'json' || format === 'stream-json' ? { event: listen } : {}) },
    async writeOutputs(report) {
      if (told) return;
      told = true;
      const lost = await sink.flush().then(
        () => false,
        () => true,
      );
      // The loss itself has ended the run, and is what the report tells: it needs no warning beside.
      if (lost && !report.verdict.published && report.verdict.exitCode !== 0) return;
      sink.write(tell(report));
      await sink.flush();
    },
  };
}
