/** A process that reports a scripted run on stdout and stderr like the command line: `node reporting-process.ts SCRIPT`. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { InputError } from '../../../src/errors.ts';
import { createProgress } from '../../../src/reporters/progress.ts';
import type { Report, RunEvent } from '../../../src/reporters/report-types.ts';
import { createStdout, lossOf, type OutputFormat } from '../../../src/reporters/stdout.ts';
import { verdictOf } from '../../../src/run/endings.ts';
import { createSecrets } from '../../../src/text/secrets.ts';

/** The script of the process; `wait` waits for a line on stdin. */
export interface ToldScript {
  readonly format: OutputFormat;
  readonly quiet: boolean;
  readonly events?: readonly (RunEvent | { readonly type: 'wait' })[];
  readonly report: Report;
}

const script: ToldScript = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const secrets = createSecrets();
let lost: InputError | null = null;
process.stdout.on('error', (error) => {
  lost ??= lossOf(error);
});
const write = (text: string) => process.stderr.write(text);
const progress = createProgress({ write, quiet: script.quiet, level: 'summary', secrets });
const stream = process.stdout;
const stdout = createStdout({ stream, format: script.format, secrets, version: '0.0.0', cwd: '/w' });

for (const event of script.events ?? []) {
  if (event.type === 'wait') await once(process.stdin, 'data');
  else for (const reporter of [progress.reporter, stdout.reporter]) reporter.event?.(event);
}
// A loss is told a moment later.
await new Promise((resolve) => setTimeout(resolve, 50));
let report = lost === null ? script.report : failed(lost);
try {
  await stdout.writeOutputs(report);
} catch (error) {
  report = failed(error);
  await stdout.writeOutputs(report);
}
await progress.conclude(report);
process.exit(report.verdict.exitCode);

function failed(error: unknown): Report {
  if (!(error instanceof InputError)) throw error;
  const limits = { turns: '', time: '', tokens: '', cost: '' };
  const facts = { turns: 0, gate: null, limits, entry: 'command-line' } as const;
  const verdict = verdictOf({ kind: 'failed', error }, facts);
  return { ...script.report, verdict, payload: null, gate: null };
}
