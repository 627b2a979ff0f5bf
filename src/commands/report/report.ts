/** `structured-agent report`: makes a page of a results folder. */
import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { readingSchema } from '../../envelope/read.ts';
import { errorCode, InputError, messageOf } from '../../errors.ts';
import { writePrivateFile } from '../../files/private-file.ts';
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
  const result = path.join(folder, 'result.json');
  const text = readWhole(result);
  const envelope = parseOrUndefined(text ?? '');
  if (!isObject(envelope) || !(await readingSchema()).validate(envelope).ok) {
    const problem = text === null ? 'does not exist' : 'is not the result of a run';
    throw new InputError(null, `${quote(result)} ${problem}. Name the results folder of a run.`);
  }
  const transcript = readWhole(path.join(folder, 'transcript.jsonl')) ?? '';
  const page = path.join(realpathSync(folder), 'report.html');
  try {
    const { renderReportPage } = await loadPage();
    // The texts in a results folder are masked already.
    const secrets = { mask: (text: string) => text };
    writePrivateFile(page, renderReportPage({ envelope, transcript, secrets }));
  } catch (cause) {
    throw new InputError(null, `${quote(page)} cannot be written: ${messageOf(cause)}.`, { cause });
  }
  return page;
}

/** Returns the text of a file; null if there is none. */
function readWhole(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(cause) ?? '')) return null;
    throw new InputError(null, `${quote(file)} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}
