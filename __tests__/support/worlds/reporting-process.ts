/** A process that reports a scripted run on stdout and stderr like the command line: `node reporting-process.ts SCRIPT`. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { InputError } from '../../../src/errors.ts';
import { createProgress } from '../../../src/reporters/progress.ts';
import type { Report, RunEvent } from '../../../src/reporters/report-types.ts';
import { createSink } from '../../../src/reporters/sink.ts';
import { createStdout, type OutputFormat } from '../../../src/reporters/stdout.ts';
import { terminalStyle } from '../../../src/reporters/terminal.ts';
import { verdictOf } from '../../../src/run/endings.ts';
import { createSecrets } from '../../../src/text/secrets.ts';

/** The script of the process; `wait` waits for a line on stdin or the end of the run. */
export interface ToldScript {
  readonly format: OutputFormat;
  readonly quiet?: boolean;
  readonly steps?: readonly (RunEvent | { readonly type: 'wait' })[];
  readonly report: Report;
}

const script: ToldScript = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const stop = new AbortController();
const stopped = once(stop.signal, 'abort');
const secrets = createSecrets();
const lost = (error: unknown) => stop.abort(error);
const sink = createSink({ name: 'stdout', fd: 1, stream: () => process.stdout, lost });
const stderr = createSink({ name: 'stderr', fd: 2, stream: () => process.stderr });
const progress = createProgress({
  sink: stderr,
  style: terminalStyle({ environment: process.env, stderr: process.stderr, stdoutShows: false }),
  quiet: script.quiet ?? false,
  level: 'summary',
  secrets,
  now: () => performance.now(),
});
const stdout = createStdout({ sink, format: script.format, secrets, version: '0.0.0', cwd: '/w' });
const reporters = [progress.reporter, stdout.reporter];

for (const step of script.steps ?? []) {
  if (step.type === 'wait') await Promise.race([once(process.stdin, 'data'), stopped]);
  else for (const reporter of reporters) reporter.event?.(step);
  if (stop.signal.aborted) break;
}
for (const reporter of reporters) await reporter.report?.(script.report, stop.signal);
let report = stop.signal.aborted ? failed(stop.signal.reason) : script.report;
try {
  await stdout.writeOutputs(report);
} catch (error) {
  report = failed(error);
  await stdout.writeOutputs(report);
}
await progress.conclude(report);
await stderr.flush().catch(() => undefined);
process.exit(report.verdict.exitCode);

function failed(error: unknown): Report {
  if (!(error instanceof InputError)) throw error;
  const limits = { turns: '', time: '', tokens: '', cost: '' };
  const verdict = verdictOf(
    { kind: 'failed', error },
    { turns: 0, gate: null, limits, entry: 'command-line' },
  );
  return { ...script.report, verdict, payload: null, gate: null };
}
