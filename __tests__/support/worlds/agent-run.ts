import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type AgentOptions, createRecord, runAgent } from '../../../src/agent/loop.ts';
import { createContract } from '../../../src/contract/contract.ts';
import type { RunEvent } from '../../../src/reporters/report-types.ts';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { structuredOutputSpec } from '../../../src/tools/tool.ts';
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
}

/** Runs the real loop with a scripted model, the real contract and the real tools over a temporary workspace. */
export async function runScripted(script: Script, options: AgentRunOptions = {}) {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'agent-')));
  const workspace = path.join(base, 'workspace');
  mkdirSync(workspace);
  putFiles(workspace, options.files ?? {});
  const sandbox = openSandbox(
    {
      ...{ ...CLOSED, workspace, workingDirectory: workspace, mode: 'off' },
      ...{ environment: { PATH: process.env['PATH'] }, home: base, runnerTemp: base },
      runFolder: mkdtempSync(path.join(base, 'run-')),
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
    return { outcome, record, provider, events };
  } finally {
    await sandbox.close();
    rmSync(base, { recursive: true, force: true });
  }
}
