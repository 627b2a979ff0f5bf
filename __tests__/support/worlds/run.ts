/** The world of a whole run: a workspace, a model that answers as it is told, and what was told of the run. */
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { parseConfig } from '../../../src/config/config.ts';
import type { InputName } from '../../../src/config/inputs.ts';
import type { Report, Reporter, RunEvent } from '../../../src/reporters/report-types.ts';
import { run } from '../../../src/run/run.ts';
import type { World } from '../../../src/run/world.ts';
import { localFiles } from '../fakes/github/none.ts';
import { type ModelRequest, type Reply, type ScriptedModel, startModel } from '../fakes/model/server.ts';
import { quietWorld } from './quiet.ts';

export let base = '';
export let model: ScriptedModel;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'run-')));
  for (const name of ['workspace', 'temp', 'temp/run']) await mkdir(path.join(base, name));
  model = await startModel(() => ({
    calls: [{ name: 'structured_output', arguments: '{"passed":true,"summary":"fine"}' }],
  }));
});

afterEach(async () => {
  await model.close();
  await rm(base, { recursive: true, force: true });
});

interface Told {
  readonly reports: Report[];
  readonly published: Report[];
  readonly warnings: string[];
}

export function world(told: Told, more: Partial<World> = {}): World {
  return {
    ...quietWorld(base, path.join(base, 'temp', 'run')),
    files: localFiles(async (file) => ({ ok: true, text: await readFile(file, 'utf8') })),
    reporters: [{ name: 'probe', report: async (report) => void told.reports.push(report) }],
    writeOutputs: (report) => void told.published.push(report),
    warn: (text) => told.warnings.push(text),
    ...more,
  };
}

export function config(more: Partial<Record<InputName, string>> = {}) {
  const inputs: Partial<Record<InputName, string>> = {
    prompt: 'Judge.',
    model: 'scripted-1',
    'base-url': `${model.url}/v1`,
    sandbox: 'off',
    ...more,
  };
  if (more['prompt-file'] !== undefined) delete inputs.prompt;
  const raw = new Map<InputName, string>();
  for (const [name, value] of Object.entries(inputs)) raw.set(name as InputName, value);
  return parseConfig(raw, { environment: {} });
}

export const nothing = (): Told => ({ reports: [], published: [], warnings: [] });

/** Puts a model that answers so in the place of the one that submits at once. */
export async function serve(script: Parameters<typeof startModel>[0]): Promise<void> {
  await model.close();
  model = await startModel(script);
}

export const good: Reply = {
  calls: [{ name: 'structured_output', arguments: '{"passed":true,"summary":"fine"}' }],
};
export const command = (line: string): Reply => ({
  calls: [{ name: 'shell', arguments: JSON.stringify({ command: line }) }],
});

/** A run over a scripted conversation, the last reply for ever; gives what the model was asked and what was told. */
export async function converse(
  replies: readonly Reply[],
  inputs: Partial<Record<InputName, string>> = {},
  more: Partial<World> = {},
) {
  const asked: ModelRequest[] = [];
  const events: RunEvent[] = [];
  const runFolder = await mkdtemp(path.join(base, 'temp', 'run-'));
  await serve((request, index) => {
    asked.push(request);
    return replies[Math.min(index, replies.length - 1)] ?? good;
  });
  const listening: Reporter = { name: 'events', event: (event) => void events.push(event) };
  const report = await run(
    config({ 'base-url': `${model.url}/v1`, ...inputs }),
    world(nothing(), { runFolder, reporters: [listening], ...more }),
  );
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { report, asked, notices };
}
