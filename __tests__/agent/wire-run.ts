/** The real loop, tools, contract and SDK against a loopback server: everything is real except the model. */

import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { type AgentOptions, type AgentRecord, createRecord, runAgent } from '../../src/agent/agent.ts';
import { createContract } from '../../src/contract/contract.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { type Ending, verdictOf } from '../../src/run/endings.ts';
import { openSandbox } from '../../src/sandbox/open.ts';
import { structuredOutputSpec } from '../../src/tools/structured-output.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { CLOSED } from '../sandbox/world.ts';
import { providerAt, type Wire, type WireCall } from '../support/fakes/model/wires.ts';
import { type RawRequest, startRawServer } from '../support/fakes/raw-server.ts';
import { VERDICT_SCHEMA } from '../support/worlds/agent-run.ts';

/** The result of a run over a wire. */
export interface WireRun {
  readonly ending: Ending;
  readonly reason: string;
  readonly exitCode: number;
  readonly record: AgentRecord;
  /** How often each command that `counting` makes was executed. */
  readonly executed: Readonly<Record<string, number>>;
  readonly requests: readonly RawRequest[];
  readonly notices: readonly string[];
}

/** A shell call that appends to a trace file each time it is executed. */
export function counting(name: string, id?: string): WireCall {
  const call = { name: 'shell', arguments: JSON.stringify({ command: `echo ${name} >> trace.txt` }) };
  return id === undefined ? call : { ...call, id };
}

/** A call that submits a valid result. */
export const delivery: WireCall = {
  id: 'delivery',
  name: 'structured_output',
  arguments: '{"passed":true,"summary":"ok"}',
};

/** Runs the loop over a wire; `answer` is called with each request and its index from 0. */
export async function runOverWire(
  wire: Wire,
  answer: (response: ServerResponse, request: RawRequest, index: number) => void,
  options: Partial<AgentOptions> & { readonly settings?: Partial<ProviderSettings> } = {},
): Promise<WireRun> {
  const { settings, ...agentOptions } = options;
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'wire-')));
  const workspace = path.join(base, 'workspace');
  const runFolder = path.join(base, 'run');
  await mkdir(workspace);
  await mkdir(runFolder, { mode: 0o700 });
  const server = await startRawServer(answer);
  const sandbox = await openSandbox({
    ...{ ...CLOSED, workspace, workingDirectory: workspace, mode: 'off', runFolder },
    ...{ environment: { PATH: process.env['PATH'] }, home: base, runnerTemp: base },
  });
  const contract = await createContract(VERDICT_SCHEMA);
  const toolbox = createToolbox({
    sandbox,
    shellOffered: true,
    tools: ['shell'],
    exclude: [],
    structuredOutput: structuredOutputSpec(contract.schema),
  });
  const notices: string[] = [];
  const record = createRecord();
  const world: AgentOptions = {
    sessionId: 'session',
    provider: await providerAt(wire, server.url, settings),
    toolbox,
    contract,
    limits: { maxTurns: 8, maxTotalTokens: null, maxCostUsd: null },
    price: async () => null,
    system: 'system',
    prompt: 'Judge.',
    forceOutput: false,
    ready: () => sandbox.ready(),
    signal: new AbortController().signal,
    interrupt: new AbortController().signal,
    now: () => performance.now(),
    emit: (event: RunEvent) => void (event.type === 'notice' && notices.push(event.text)),
    ...agentOptions,
  };
  try {
    const ending = await runAgent(world, record).catch(
      (error: unknown): Ending => ({ kind: 'failed', error }),
    );
    const limits = { turns: '8', time: '1 minute', tokens: '', cost: '' };
    const { reason, exitCode } = verdictOf(ending, {
      turns: record.totals.turns,
      gate: null,
      limits,
      entry: 'action',
    });
    const trace = await readFile(path.join(workspace, 'trace.txt'), 'utf8').catch(() => '');
    const executed: Record<string, number> = {};
    for (const name of trace.split('\n').filter(Boolean)) executed[name] = (executed[name] ?? 0) + 1;
    return { ending, reason, exitCode, record, executed, requests: server.requests, notices };
  } finally {
    await server.close();
    await sandbox.close();
    await rm(base, { recursive: true, force: true });
  }
}
