/** The stdout of the command line: the payload, the envelope, or the whole run as messages. */
import type { Writable } from 'node:stream';
import { InputError, messageOf } from '../errors.ts';
import { jsonLine } from '../text/sanitize.ts';
import { envelope } from './envelope.ts';
import { createMessages, type MessagesOptions } from './messages.ts';
import type { Report, Reporter } from './report-types.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json' | 'object';

/** Returns the error for output that did not arrive: such a result is not a success. */
export function lossOf(cause: Error): InputError {
  const why = `stdout did not take everything: ${messageOf(cause)}. Read it to the end, or send it to a file.`;
  return new InputError(null, why, { cause });
}

/** Creates the reporter that receives events during the run, and the function that writes its end. */
export function createStdout(stream: Writable, format: OutputFormat, options: MessagesOptions) {
  const messages = createMessages(options);
  const kept: string[] = [];
  let isLost = false;
  stream.on('error', () => {
    isLost = true;
  });
  const reporter: Reporter = {
    name: 'stdout',
    event(event) {
      if (format !== 'json' && format !== 'stream-json') return;
      for (const line of messages(event).map(jsonLine)) {
        if (format === 'json') kept.push(line);
        else stream.write(`${line}\n`);
      }
    },
  };
  const render = (report: Report): string | null => {
    if (format === 'text') return report.payload === null ? null : jsonLine(report.payload);
    const end = jsonLine(envelope(report, options.mask));
    return format === 'json' ? `[${[...kept, end].join(',')}]` : end;
  };
  let isWritten = false;
  /**
   * Writes the verdict, and resolves when the system has taken all of it. It is called again only after it failed: no
   * second document is appended to a part of the first. @throws InputError if output is lost that the report does not
   * say is lost
   */
  const writeOutputs = async (report: Report): Promise<void> => {
    const isKnown = isLost && !report.verdict.published && report.verdict.exitCode !== 0;
    const text = isWritten || isKnown ? null : render(report);
    isWritten = true;
    if (text === null) return;
    stream.write(text);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A stream to a file takes a write that a full disk cut short for a whole one; the next write fails.
    stream.write('\n', (error) => (error ? reject(lossOf(error)) : resolve()));
    await promise;
  };
  return { reporter, writeOutputs };
}
