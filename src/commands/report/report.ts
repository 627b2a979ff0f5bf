/** `structured-agent report`: renders a transcript as one page. Other folders import this and `report-page`. */

import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { InputError, messageOf } from '../../errors.ts';
import { writePrivateFile } from '../../files/private-file.ts';
import { describeUnsafeLink, findCheckout, findUnsafeLink } from '../../files/unsafe-links.ts';
import { isObject, parseOrUndefined } from '../../text/json.ts';
import { READ } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { breakCommands } from '../../text/sanitize.ts';
import type { JsonObject } from '../../types.ts';
import { readFlags } from '../flags.ts';
import { readLines } from './lines.ts';
import { reportPage } from './page.ts';
import { createStory } from './story.ts';
import { createShowing, visible } from './visible.ts';

export interface ReportIo {
  /** An absolute path, to which relative paths are resolved. */
  readonly cwd: string;
  /** Awaited if it returns a promise, like `stderr`. */
  readonly stdout: (text: string) => unknown;
  readonly stderr: (text: string) => unknown;
}

const USAGE = `Usage: structured-agent report TRANSCRIPT -o FILE [--result RESULT] [--without-payload]

Makes one self-contained web page of a run's redacted transcript (transcript-file).

  -o, --output FILE   the page to write, for its owner only to read; - for stdout
  --result RESULT     the run's result envelope (result-file): what was found, the gate, the error, what was judged
  --without-payload   leave out what was found: a page for people who must not see the payload
  -h, --help          this text
`;

/**
 * Runs the command with the arguments after `report`. Returns 0, or 52 with one sentence on stderr. An existing file at
 * the output path is replaced. Rejects only on a bug.
 */
export async function runReport(argv: readonly string[], io: ReportIo): Promise<number> {
  try {
    const asked = readArguments(argv);
    if (asked === null) {
      await io.stdout(USAGE);
      return 0;
    }
    const page = makePage(asked, io.cwd);
    if (asked.output === '-') await io.stdout(page);
    else writePage(asked, io.cwd, page);
    return 0;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    await io.stderr(
      `structured-agent report: ${breakCommands(visible(error.message).replace(/\s+/g, ' '))}\n`,
    );
    return 52;
  }
}

interface Asked {
  readonly transcript: string;
  readonly output: string;
  readonly result: string | null;
  readonly withPayload: boolean;
}

function readArguments(argv: readonly string[]): Asked | null {
  const flags = readFlags(
    'report',
    argv,
    { output: 'text', result: 'text', 'without-payload': 'switch', help: 'switch' },
    { output: 'o' },
  );
  if (flags.has('help')) return null;
  const [transcript, second] = flags.positionals;
  if (transcript === undefined || transcript === '')
    throw new InputError(null, 'No transcript is named. Name the file that transcript-file gave.');
  if (second !== undefined)
    throw new InputError(
      null,
      `One transcript makes one page, and ${quote(second)} is a second. Take it out.`,
    );
  const output = flags.value('output');
  if (output === null)
    throw new InputError(null, 'No page is named. Name it with -o report.html, or -o - for stdout.');
  return { transcript, output, result: flags.value('result'), withPayload: !flags.has('without-payload') };
}

function makePage({ transcript, result, withPayload }: Asked, cwd: string): string {
  const showing = createShowing((text) => text);
  const teller = createStory(showing);
  const notes: string[] = [];
  let lines = 0;
  let tornEvent = false;
  const { torn, cut } = readLines(path.resolve(cwd, transcript), quote(transcript), (line) => {
    const text = line?.replace(/^\ufeff/u, '').trim();
    if (text === '') return;
    lines += 1;
    const entry = text === undefined ? undefined : parseOrUndefined(text);
    tornEvent = entry === undefined;
    teller.add(entry);
  });
  const story = teller.story();
  const isTorn = torn && tornEvent;
  if (lines === story.unknown) {
    throw new InputError(
      null,
      `${quote(transcript)} ${lines === 0 ? 'is empty' : 'is no transcript'}. Name the file that transcript-file gave.`,
    );
  }
  if (isTorn) notes.push('The last line is torn: the run was cut off while it was written.');
  if (cut) notes.push('The transcript is larger than 1 GiB: what comes after is left out.');
  const envelope = result === null ? null : readEnvelope(path.resolve(cwd, result), quote(result));
  return reportPage({
    story: { ...story, unknown: story.unknown - (isTorn ? 1 : 0) },
    envelope,
    showing,
    withPayload,
    notes,
  });
}

/** Returns the result envelope: the last line that is one, so that a stream of messages works as well. */
function readEnvelope(file: string, shown: string): JsonObject {
  const texts: string[] = [];
  const { cut } = readLines(file, shown, (line) => texts.push(line ?? ''), READ.result);
  if (cut) throw new InputError(null, `${shown} is larger than 64 MiB, which no result envelope is.`);
  const whole = parseOrUndefined(texts.join('\n').replace(/^\ufeff/u, ''));
  const candidates =
    whole === undefined ? texts.map(parseOrUndefined) : Array.isArray(whole) ? whole : [whole];
  const found: unknown = candidates.findLast(isEnvelope);
  if (isObject(found)) return found;
  throw new InputError(null, `${shown} is no result envelope. Name the file that result-file gave.`);
}

function isEnvelope(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'type') && value['type'] === 'result';
}

function writePage({ output, transcript, result }: Asked, cwd: string, page: string): void {
  const checkout = findCheckout(realpathSync(cwd));
  // Includes the last path segment, because links there are followed.
  const leaving = findUnsafeLink(path.resolve(cwd, output), checkout);
  if (leaving !== null)
    throw new InputError(null, `${quote(output)} is a file ${describeUnsafeLink(leaving, checkout)}`);
  const file = standing(path.resolve(cwd, output), quote(output));
  for (const source of [transcript, result]) {
    if (source !== null && realpathSync(path.resolve(cwd, source)) === file) {
      throw new InputError(
        null,
        `${quote(output)} is what the page is made from. Name another file with -o.`,
      );
    }
  }
  try {
    writePrivateFile(file, page);
  } catch (cause) {
    const why = messageOf(cause);
    throw new InputError(null, `${quote(output)} cannot be written: ${why}. Name a file that can be.`, {
      cause,
    });
  }
}

/** Returns the real path of a file to write: links made by the user or inside the checkout are followed. */
function standing(file: string, shown: string): string {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status?.isFile() === true) return realpathSync(file);
  if (status !== undefined)
    throw new InputError(null, `${shown} is there already and no file. Name another one, or - for stdout.`);
  try {
    return path.join(realpathSync(path.dirname(file)), path.basename(file));
  } catch (cause) {
    throw new InputError(null, `The folder of ${shown} is not there. Make it first.`, { cause });
  }
}
