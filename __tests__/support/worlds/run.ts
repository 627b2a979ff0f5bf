/** Whole runs in this process: a workspace, a scripted model, and the recorded notices and reports. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { InputName } from '../../../src/config/inputs.ts';
import type { Report, RunEvent } from '../../../src/reporters/report-types.ts';
import { run } from '../../../src/run/run.ts';
import type { World } from '../../../src/run/world.ts';
import {
  calls,
  type ModelRequest,
  type Reply,
  type Script,
  startModel,
  submits,
} from '../fakes/model/server.ts';
import { parseInputs } from '../fakes/runner/inputs.ts';
import { quietWorld } from './quiet.ts';

export let base = '';
export let model: Awaited<ReturnType<typeof startModel>>;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'run-')));
  for (const name of ['workspace', 'temp']) await mkdir(path.join(base, name), { recursive: true });
  model = await startModel([good]);
});

afterEach(async () => {
  await model.close();
  await rm(base, { recursive: true, force: true });
});

export type Inputs = Partial<Record<InputName, string>>;

export function config(more: Inputs = {}) {
  return parseInputs({
    ...(more['prompt-file'] === undefined ? { prompt: 'Judge.' } : {}),
    // Most scripts deliver a payload at once, which rests on nothing.
    ...{ model: 'scripted-1', 'base-url': `${model.url}/v1`, sandbox: 'off', 'min-coverage': 'off', ...more },
  });
}

/** Replaces the model that submits at once with this one. */
export async function serve(script: Script): Promise<void> {
  await model.close();
  model = await startModel(script);
}

export const good = submits({ passed: true, summary: 'fine' });
export const command = (line: string): Reply => calls('shell', { command: line });

/** Runs to the end. */
export async function start(parsed: ReturnType<typeof config>, more: Partial<World> = {}) {
  const events: RunEvent[] = [];
  const warnings: string[] = [];
  const report = await run(parsed, {
    ...quietWorld(base, await mkdtemp(path.join(base, 'temp', 'run-'))),
    openReporters: async () => [{ name: 'events', event: (event) => void events.push(event) }],
    warn: (text) => warnings.push(text),
    ...more,
  });
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  return { report, events, notices, warnings };
}

/**
 * Runs a scripted conversation, repeating the last reply; `since` is a ref, as of `--base`. Replies name the context
 * folder as it is in a sandbox; without one it lies elsewhere.
 */
export async function converse(
  replies: readonly Reply[],
  inputs: Inputs = {},
  { since = null, ...more }: Partial<World> & { readonly since?: string | null } = {},
) {
  const asked: ModelRequest[] = [];
  const runFolder = await mkdtemp(path.join(base, 'temp', 'run-'));
  const hasSandbox = (inputs.sandbox ?? 'off') !== 'off';
  await serve((request, index) => {
    asked.push(request);
    const reply = replies[Math.min(index, replies.length - 1)] ?? good;
    const context = hasSandbox ? '/tmp/context' : path.join(runFolder, 'context');
    return JSON.parse(JSON.stringify(reply).replaceAll('/tmp/context', context));
  });
  const parsed = config(inputs);
  const withBase = since === null ? parsed : { ...parsed, config: { ...parsed.config, base: since } };
  const ended = await start(withBase, { runFolder, ...more });
  const results = asked.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  return { ...ended, asked, rejections: results.filter((text) => text.startsWith('Not taken yet')) };
}

export const file = (): string => path.join(base, 'recording.jsonl');

/** A real run against a scripted model, recorded. */
export async function record(script: Script, inputs: Inputs = {}, more: Partial<World> = {}) {
  await serve(script);
  return start(config(inputs), { recording: file(), ...more });
}

/** Replays the recording without a model, a key or a network. */
export function replay(inputs: Inputs = {}, more: Partial<World> = {}) {
  const usual = { prompt: 'Judge.', sandbox: 'off', 'min-coverage': 'off', replay: file() };
  const offline = { fetch: () => Promise.reject(new Error('a replay went to the network')) };
  return start(parseInputs({ ...usual, ...inputs }), { ...offline, ...more });
}

/** The parts of the ending that must be equal in a replay. */
export function ending({ report }: { readonly report: Report }) {
  const { verdict, payload, gate, turnCount, rejections, repaired, usage, lastAssistantText, policy } =
    report;
  return { verdict, payload, gate, turnCount, rejections, repaired, usage, lastAssistantText, policy };
}
