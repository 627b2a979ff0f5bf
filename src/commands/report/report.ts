/** `structured-agent report`: makes a page of a results folder. */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { typedEnvelope } from '../../envelope/envelope.ts';
import { readingSchema } from '../../envelope/read.ts';
import { InputError, messageOf } from '../../errors.ts';
import { writePrivateFile } from '../../files/private-file.ts';
import { readBoundedText } from '../../files/read-bounded.ts';
import { isObject, parseOrUndefined } from '../../text/json.ts';
import { quote } from '../../text/messages.ts';
import { type Command, type CommandIo, runCommand } from '../flags.ts';
import { loadPage } from './report-page.ts';

const COMMAND: Command = {
  name: 'report',
  flags: {},
  help: `Usage: structured-agent report RESULTS

Writes report.html into the results folder of a run: its verdict, its findings and its conversation as one page.

  -h, --help   this text
`,
};

/** Runs the command with the arguments after `report`. Returns 0, or 52 with one sentence on stderr. */
export function runReport(argv: readonly string[], io: CommandIo): Promise<number> {
  return runCommand(COMMAND, argv, io, async ({ positionals }) => {
    io.stdout.write(`${await writePage(positionals, io.cwd)}\n`);
    return 0;
  });
}

/** Returns the path of the page. */
async function writePage([named, second]: readonly string[], cwd: string): Promise<string> {
  if (named === undefined || second !== undefined)
    throw new InputError(null, 'Name one results folder: structured-agent report RESULTS.');
  const folder = path.resolve(cwd, named);
  const read = (file: string) => readBoundedText(path.join(folder, file), Number.MAX_SAFE_INTEGER) ?? '';
  const envelope = parseOrUndefined(read('result.json'));
  if (!isObject(envelope) || !(await readingSchema()).validate(envelope).ok) {
    const result = quote(path.join(folder, 'result.json'));
    const fix = 'Name the results folder of a run.';
    throw new InputError(null, `${result} is not there, or is not the result of a run. ${fix}`);
  }
  const page = path.join(realpathSync(folder), 'report.html');
  try {
    const { renderReportPage } = await loadPage();
    const sources = { envelope: typedEnvelope(envelope), transcript: read('transcript.jsonl') };
    // The texts in a results folder are masked already.
    const secrets = { mask: (text: string) => text };
    writePrivateFile(page, renderReportPage({ ...sources, secrets }));
  } catch (cause) {
    throw new InputError(null, `${quote(page)} cannot be written: ${messageOf(cause)}.`, { cause });
  }
  return page;
}
