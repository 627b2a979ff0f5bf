/** A run against a scripted model that is recorded, and the same run replayed from the recording. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { InputName } from '../../../src/config/inputs.ts';
import { readTrustedFile } from '../../../src/config/workspace-file.ts';
import { createRecordingFile } from '../../../src/replay/recording-file.ts';
import type { Report, RunEvent } from '../../../src/reporters/report-types.ts';
import { run } from '../../../src/run/run.ts';
import type { World } from '../../../src/run/world.ts';
import { calls, type Script, submits } from '../fakes/model/server.ts';
import { parseInputs } from '../fakes/runner/inputs.ts';
import { localFiles } from './quiet.ts';
import { base, model, nothing, serve, world } from './run.ts';

export { base };

export type Inputs = Partial<Record<InputName, string>>;

export const file = (): string => path.join(base, 'recording.jsonl');

interface Run {
  readonly report: Report;
  readonly notices: readonly string[];
  readonly warnings: readonly string[];
  readonly events: readonly RunEvent[];
}

async function start(inputs: Inputs, more: Partial<World> = {}): Promise<Run> {
  const events: RunEvent[] = [];
  const told = nothing();
  const started = world(told, {
    runFolder: await mkdtemp(path.join(base, 'temp', 'run-')),
    files: localFiles((name) =>
      readTrustedFile(name, { root: '/', outside: 'allowed', maxBytes: 4 * 1024 * 1024 }),
    ),
    reporters: [{ name: 'probe', event: (event) => events.push(event) }],
    ...more,
  });
  const report = await run(parseInputs({ prompt: 'Judge.', sandbox: 'off', ...inputs }), started);
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { report, notices, warnings: told.warnings, events };
}

/** A real run against a scripted model, recorded. */
export async function record(script: Script, inputs: Inputs = {}, more: Partial<World> = {}): Promise<Run> {
  await serve(script);
  const given: Inputs = { model: 'scripted-1', 'base-url': `${model.url}/v1`, ...inputs };
  return start(given, { recording: createRecordingFile(file()), ...more });
}

const offline: typeof fetch = () => Promise.reject(new Error('a replay went to the network'));

/** Replays the recording without a model, a key or a network. */
export function replay(inputs: Inputs = {}, more: Partial<World> = {}): Promise<Run> {
  return start({ replay: file(), ...inputs }, { fetch: offline, ...more });
}

export async function edit(change: (line: Record<string, unknown>, at: number) => unknown): Promise<void> {
  const lines = (await readFile(file(), 'utf8')).trimEnd().split('\n');
  const changed = lines.map((line, at) => JSON.stringify(change(JSON.parse(line), at)));
  await writeFile(file(), `${changed.join('\n')}\n`);
}

export const submit = submits;
export const shell = (command: string) => calls('shell', { command });
export const green = submit({ passed: true, summary: 'fine' });

const PARTS = [
  ...(['verdict', 'payload', 'gate', 'turnCount', 'rejections', 'repaired', 'usage'] as const),
  ...(['lastAssistantText', 'policy'] as const),
];

/** The parts of the ending that must be equal in a replay. */
export function ending({ report }: Run) {
  return PARTS.map((name) => [name, report[name]]);
}
