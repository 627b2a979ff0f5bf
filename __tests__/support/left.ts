import type { ActionRun } from './fakes/runner/action.ts';

/** Everything a run left, but for the lines that tell the runner what to mask. */
export function left(run: ActionRun): string {
  const log = run.log.replace(/^::add-mask::.*$/gmu, '');
  const outputs = JSON.stringify([...run.outputs]);
  return [log, run.summary, run.transcript, JSON.stringify(run.envelope), outputs].join('\n');
}
