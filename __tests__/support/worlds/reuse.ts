/** A committed workspace, a directory of earlier verdicts and a model, for runs that reuse verdicts. */
import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { InputName } from '../../../src/config/inputs.ts';
import type { Config } from '../../../src/config/parse-config.ts';
import type { Parsed } from '../../../src/config/values.ts';
import { envelope } from '../../../src/reporters/envelope.ts';
import type { Report } from '../../../src/reporters/report-types.ts';
import { run } from '../../../src/run/run.ts';
import type { World } from '../../../src/run/world.ts';
import type { JsonObject, Subject } from '../../../src/types.ts';
import { startModel, submits } from '../fakes/model/server.ts';
import { parseInputs } from '../fakes/runner/inputs.ts';
import { quietWorld } from './quiet.ts';

/** The inputs of a run, by name. */
export type Inputs = Partial<Record<InputName, string>>;

/** Reads a configuration like the action; an empty input is absent. */
export function configOf(inputs: Inputs): Parsed<Config> {
  return parseInputs({
    prompt: 'Judge.',
    model: 'scripted-1',
    'base-url': 'http://127.0.0.1:1/v1',
    ...inputs,
  });
}

/** The payload of the model. */
export const PAYLOAD = { passed: true, summary: 'fine', findings: [] };
/** The subject of the first run. */
export const subject: Subject = {
  repository: 'o/r',
  sha: 'a'.repeat(40),
  ref: 'refs/pull/7/merge',
  event: 'pull_request',
  pull_request: 7,
  run_id: '100',
  run_attempt: 1,
};

export type ReuseWorld = Awaited<ReturnType<typeof makeReuseWorld>>;

/** One world for many tests, restored by `reset`. */
export async function makeReuseWorld() {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'reuse-')));
  const workspace = path.join(base, 'workspace');
  const verdicts = path.join(base, 'temp', 'verdicts');
  const pristine = path.join(base, 'pristine');
  for (const folder of ['workspace/api', 'home', 'temp/verdicts'])
    await mkdir(path.join(base, folder), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: workspace });
  git('init', '-q', '--template=');
  await writeFile(path.join(workspace, 'api', 'a.txt'), 'one\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
  cpSync(workspace, pristine, { recursive: true });
  const model = await startModel([submits(PAYLOAD)]);
  const notices: string[] = [];
  let asked = 0;
  let usual: JsonObject | null = null;

  async function startRun(inputs: Inputs = {}, more: Partial<World> = {}): Promise<Report> {
    notices.length = 0;
    const runFolder = await mkdtemp(path.join(base, 'temp', 'run-'));
    const world: World = {
      ...quietWorld(base, runFolder),
      subject,
      home: path.join(base, 'home'),
      reporters: [
        {
          name: 'notices',
          event: (event) => {
            if (event.type === 'notice') notices.push(`${event.level}: ${event.text}`);
          },
        },
      ],
      warn: (text) => void notices.push(`warn: ${text}`),
      ...more,
    };
    const url = `${model.url}/v1`;
    const all = { 'base-url': url, 'reuse-from': verdicts, 'subject-paths': 'api', ...inputs };
    return run(configOf(all), world);
  }

  const toEnvelope = (report: Report): JsonObject => envelope(report, (text) => text);

  return {
    base,
    workspace,
    verdicts,
    /** The notices of the last run: levels and texts. */
    notices,
    git,
    startRun,
    toEnvelope,
    /** Adds an envelope, or any text, to the earlier verdicts. */
    keep: (name: string, file: JsonObject | string) =>
      writeFile(path.join(verdicts, `${name}.json`), typeof file === 'string' ? file : JSON.stringify(file)),
    /** The envelope of a first run over the untouched workspace; the model is asked once for all tests. */
    first: async (): Promise<JsonObject> => {
      usual ??= toEnvelope(await startRun());
      return usual;
    },
    /** Whether a model was asked since the last call. */
    wasAsked: () => {
      const now = model.requests.length;
      const was = now > asked;
      asked = now;
      return was;
    },
    reset: async () => {
      for (const folder of [workspace, path.join(base, 'temp')])
        for (const name of await readdir(folder)) await rm(path.join(folder, name), { recursive: true });
      cpSync(pristine, workspace, { recursive: true });
      await mkdir(verdicts);
      asked = model.requests.length;
    },
    close: async () => {
      await model.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
