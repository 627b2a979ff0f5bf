/** The stdout of the command line: the payload, the envelope, or the whole run as messages. */

import { jsonLine } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import { envelope } from './envelope.ts';
import { createMessages } from './messages.ts';
import type { Report, Reporter, RunEvent } from './report-types.ts';
import type { Sink } from './sink.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json' | 'object';

export interface StdoutOptions {
  readonly sink: Sink;
  readonly format: OutputFormat;
  readonly secrets: Secrets;
  readonly version: string;
  readonly cwd: string;
}

export interface Stdout {
  /** Receives events during the run: `stream-json` is written line by line, `json` is kept until the end. */
  readonly reporter: Reporter;
  /**
   * Writes the verdict in the chosen format, and resolves when the system has accepted all of it. Only the first call
   * writes: a second call happens only after the first one failed, and a truncated document cannot be repaired by
   * appending another one.
   * @throws InputError if stdout lost output, unless that loss is what ended the run.
   */
  writeOutputs(report: Report): Promise<void>;
}

export function createStdout({ sink, format, secrets, version, cwd }: StdoutOptions): Stdout {
  const messages = createMessages({ version, cwd, mask: secrets.mask });
  const kept: string[] = [];
  let done = false;

  const listen = (event: RunEvent) => {
    for (const message of messages(event)) {
      const line = jsonLine(message);
      if (format === 'json') kept.push(line);
      else sink.write(`${line}\n`);
    }
  };
  const render = (report: Report): string => {
    if (format === 'text') return report.payload === null ? '' : `${jsonLine(report.payload)}\n`;
    const end = jsonLine(envelope(report, secrets.mask));
    return format === 'json' ? `[${[...kept, end].join(',')}]\n` : `${end}\n`;
  };

  return {
    reporter: { name: 'stdout', ...(format === 'json' || format === 'stream-json' ? { event: listen } : {}) },
    async writeOutputs(report) {
      if (done) return;
      done = true;
      const lost = await sink.flush().then(
        () => false,
        () => true,
      );
      // The loss itself ended the run and is what the report describes, so no additional warning is needed.
      if (lost && !report.verdict.published && report.verdict.exitCode !== 0) return;
      sink.write(render(report));
      await sink.flush();
    },
  };
}
