import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type AgentOptions, createRecord, runAgent } from '../../../src/agent/agent.ts';
import { createContract } from '../../../src/contract/contract.ts';
import type { RunEvent } from '../../../src/reporters/report-types.ts';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { structuredOutputSpec } from '../../../src/tools/structured-output.ts';
import { createToolbox } from '../../../src/tools/toolbox.ts';
import type { Json } from '../../../src/types.ts';
import { CLOSED, NO_SANDBOX } from '../../sandbox/world.ts';
import { type Script, scriptedProvider } from '../fakes/model/scripted-provider.ts';
import { putFiles } from '../local.ts';

export const VERDICT_SCHEMA = {
  type: 'object',
  required: ['passed', 'summary'],
  properties: { passed: { type: 'boolean' }, summary: { type: 'string' } },
  additionalProperties: false,
} as const;

export interface AgentRunOptions extends Partial<Omit<AgentOptions, 'provider'>> {
  readonly schema?: Json;
  readonly exclude?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly keep?: (workspace: string) => Promise<void>;
}

/** Runs the real loop with a scripted model, the real contract and the real tools over a temporary workspace. */
export async function runScripted(script: Script, options: AgentRunOptions = {}) {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'agent-')));
  const workspace = path.join(base, 'workspace');
  const runFolder = path.join(base, 'run');
  await mkdir(workspace);
  await mkdir(runFolder, { mode: 0o700 });
  putFiles(workspace, options.files ?? {});
  const sandbox = openSandbox(
    {
      ...{ ...CLOSED, workspace, workingDirectory: workspace, mode: 'off', runFolder },
      ...{ environment: { PATH: process.env['PATH'] }, home: base, runnerTemp: base },
    },
    NO_SANDBOX,
  );
  const contract = await createContract(options.schema ?? VERDICT_SCHEMA);
  const toolbox = createToolbox({
    sandbox,
    shellOffered: true,
    tools: ['read_file', 'edit', 'shell'],
    exclude: options.exclude ?? [],
    structuredOutput: structuredOutputSpec(contract.schema),
  });
  const provider = scriptedProvider(script);
  const events: RunEvent[] = [];
  const record = createRecord();
  try {
    const outcome = await runAgent(
      {
        sessionId: 'session',
        toolbox,
        contract,
        limits: { maxTurns: 30, maxTotalTokens: null, maxCostUsd: null },
        price: async () => null,
        system: 'system',
        prompt: 'Judge.',
        forceOutput: true,
        ready: () => sandbox.ready(),
        signal: new AbortController().signal,
        interrupt: new AbortController().signal,
        now: () => performance.now(),
        emit: (event) => events.push(event),
        ...options,
        provider,
      },
      record,
    );
    await options.keep?.(workspace);
    return { outcome, record, provider, events };
  } finally {
    await sandbox.close();
    await rm(base, { recursive: true, force: true });
  }
}
