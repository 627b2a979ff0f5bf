/** A run against a scripted model that is recorded, and the same run replayed from the recording. */
import path from 'node:path';
import { readTrustedFile } from '../../../src/config/paths.ts';
import type { Report } from '../../../src/reporters/report-types.ts';
import type { World } from '../../../src/run/world.ts';
import type { Script } from '../fakes/model/server.ts';
import { parseInputs } from '../fakes/runner/inputs.ts';
import { localFiles } from './quiet.ts';
import { base, config, type Inputs, serve, start } from './run.ts';

export const file = (): string => path.join(base, 'recording.jsonl');

/** A real run against a scripted model, recorded. */
export async function record(script: Script, inputs: Inputs = {}, more: Partial<World> = {}) {
  await serve(script);
  return start(config(inputs), { recording: file(), ...more });
}

/** Replays the recording without a model, a key or a network. */
export function replay(inputs: Inputs = {}, more: Partial<World> = {}) {
  return start(
    parseInputs({ prompt: 'Judge.', sandbox: 'off', 'min-coverage': 'off', replay: file(), ...inputs }),
    {
      fetch: () => Promise.reject(new Error('a replay went to the network')),
      files: localFiles((name) => readTrustedFile(name, { root: '/', outside: 'allowed' })),
      ...more,
    },
  );
}

/** The parts of the ending that must be equal in a replay. */
export function ending({ report }: { readonly report: Report }) {
  const { verdict, payload, gate, turnCount, rejections, repaired, usage, lastAssistantText, policy } =
    report;
  return { verdict, payload, gate, turnCount, rejections, repaired, usage, lastAssistantText, policy };
}
