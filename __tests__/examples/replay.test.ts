import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createRepository } from '../../examples/demo/demo.ts';
import { createLocalWorld, localSecrets } from '../../src/cli/world.ts';
import { run } from '../../src/run/run.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { parseInputs } from '../support/fakes/runner/inputs.ts';
import { makeFolder } from '../support/surroundings.ts';

const folder = makeFolder();

/** The inputs of the example's step. */
function inputs(): Readonly<Record<string, string>> {
  const text = readFileSync(path.join(import.meta.dirname, '../../examples/replay.yml'), 'utf8');
  const workflow: { jobs: { wiring: { steps: { id?: string; with: Record<string, string> }[] } } } =
    parse(text);
  return workflow.jobs.wiring.steps.find(({ id }) => id === 'review')?.with ?? {};
}

it('the recording of examples/replay.yml fits its task; otherwise run npx node examples/demo/record.ts', async () => {
  const workspace = path.join(folder, 'cart');
  createRepository(workspace, []);
  const environment = { PATH: process.env['PATH'], HOME: folder };
  const given = { ...inputs(), sandbox: HAS_BWRAP ? 'required' : 'off' };
  const world = await createLocalWorld({
    entry: 'library',
    environment,
    workspace,
    secrets: localSecrets(environment),
    results: null,
    writePatch: () => null,
    listen: () => undefined,
    reporters: [],
    writeEnvelope: () => undefined,
    writeOutputs: () => undefined,
    warn: () => undefined,
  });
  const report = await run(parseInputs(given), {
    ...world,
    fetch: () => Promise.reject(new Error('no network')),
  });
  expect(report.verdict.error).toBeNull();
  expect(report).toMatchObject({
    // The repository fails a test, but a replay judges nothing.
    payload: { passed: true, failure_count: 0 },
    model: 'replay of claude-sonnet-4-5',
    replayed: true,
    costUsd: 0,
  });
});
