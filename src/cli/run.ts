import { isatty } from 'node:tty';
import type { RawInputs } from '../config/inputs.ts';
import { parseConfig } from '../config/parse-config.ts';
import { makeResultsFolder, resolveRecording } from '../config/paths.ts';
import { InputError } from '../errors.ts';
import { createProgress } from '../reporters/live-log.ts';
import { createStdout } from '../reporters/stdout.ts';
import { createResultFiles } from '../run/result-files.ts';
import { run } from '../run/run.ts';
import type { World } from '../run/world.ts';
import { describeProblems, type RunCommand } from './args.ts';
import { addStdin, readStdin } from './stdin.ts';
import { createMachine, localSecrets, VERSION } from './world.ts';

/** Runs to the end and returns the exit code. Invalid input is reported like any other ending. */
export async function runOnCommandLine(
  command: RunCommand,
  { environment, listen }: Pick<World, 'environment' | 'listen'>,
): Promise<number> {
  const workspace = process.cwd();
  // Values of headers are masked as they are for the action's input.
  const secrets = localSecrets({ ...environment, INPUT_HEADERS: command.inputs.get('headers') });
  // For an invalid command line, one sentence is enough.
  const isQuiet = command.quiet || command.problems.length > 0;
  const level = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'turns';
  const write = (text: string) => process.stderr.write(text);
  const progress = createProgress(write, isQuiet ? null : level, secrets);
  const { config, problems, results, record } = await prepare(command, workspace, environment, progress.warn);
  const stdout = createStdout(process.stdout, command.outputFormat, {
    version: VERSION,
    cwd: workspace,
    mask: secrets.mask,
  });
  const { machine, problems: missing } = await createMachine(environment, workspace, config.workingDirectory);
  const world: World = {
    ...machine,
    entry: 'command-line',
    secrets,
    listen,
    results,
    recording: record,
    openReporters: async () => [
      ...(results === null ? [] : createResultFiles({ ...machine, results, secrets, isMerge: false })),
      { ...stdout.reporter, publish: stdout.writeOutputs },
      progress.reporter,
    ],
    warn: progress.warn,
  };
  const report = await run({ config, problems: [...missing, ...problems] }, world);
  return report.verdict.exitCode;
}

/** Parses the inputs and, if they are valid, reads stdin and makes what the run writes to. */
async function prepare(
  command: RunCommand,
  workspace: string,
  environment: World['environment'],
  warn: (text: string) => void,
) {
  const { inputs } = command;
  const hasTask = inputs.has('prompt') || inputs.has('prompt-file');
  const isPiped = !isatty(0);
  const raw: RawInputs = hasTask || !isPiped ? inputs : new Map([...inputs, ['prompt', 'stdin']]);
  const { config, problems } = parseConfig(raw, { environment, problems: command.problems });
  const none = { results: null, record: null };
  if (problems.length > 0) return { config, problems: describeProblems(command, problems), ...none };
  try {
    let prompt = config.prompt;
    if (isPiped) {
      const onWait = () => warn('waiting for stdin; redirect it if there is none: </dev/null');
      const piped = await readStdin(process.stdin, AbortSignal.timeout(config.timeoutMs), onWait);
      prompt = addStdin(hasTask ? prompt : null, piped);
    }
    const record = command.record === null ? null : await resolveRecording(command.record, workspace);
    const results = command.results === null ? null : await makeResultsFolder(command.results, workspace);
    return { config: { ...config, prompt }, problems: [], results, record };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { config, problems: [error], ...none };
  }
}
