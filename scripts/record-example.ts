/**
 * Records what examples/replay.yml replays: `node scripts/record-example.ts`. The demo's scripted model answers, on a
 * mended copy of the demo repository.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from '../__tests__/support/fakes/model/server.ts';
import { createRepository, MEND } from '../examples/demo/demo.ts';
import { answer } from '../examples/demo/model.ts';
import { createLocalWorld, localSecrets } from '../src/cli/world.ts';
import { parseConfig } from '../src/config/config.ts';
import type { InputName } from '../src/config/inputs.ts';
import { createRecordingFile } from '../src/replay/recording-file.ts';
import { run } from '../src/run/run.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = path.join(ROOT, 'examples/demo/repository/recordings/released.jsonl');

const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-record-')));
const model = await startModel(answer);
try {
  const workspace = path.join(folder, 'cart');
  createRepository(workspace, [MEND]);
  const example = readFileSync(path.join(ROOT, 'examples/replay.yml'), 'utf8');
  const input = (name: InputName) => new RegExp(`^ {10}${name}: "?(.+?)"?$`, 'mu').exec(example)?.[1] ?? '';
  const raw = new Map<InputName, string>([
    ['prompt', input('prompt')],
    ['schema', input('schema')],
    ['gate', input('gate')],
    ['model', 'claude-sonnet-4-5'],
    ['base-url', model.url],
    ['api-key', 'emulator-needs-no-key'],
    ['sandbox', 'auto'],
  ]);
  const environment = { PATH: process.env['PATH'], HOME: folder };
  const world = await createLocalWorld({
    door: 'library',
    environment,
    workspace,
    secrets: localSecrets(environment),
    resultFile: null,
    transcriptFile: null,
    writePatch: () => null,
    listen: () => undefined,
    reporters: [],
    writeEnvelope: () => undefined,
    writeOutputs: () => undefined,
    warn: (text) => console.warn(text),
  });
  const report = await run(parseConfig(raw, { environment }), {
    ...world,
    recording: createRecordingFile(FILE),
  });
  console.log(report.verdict);
  process.exitCode = report.verdict.exitCode;
} finally {
  await model.close();
  rmSync(folder, { recursive: true, force: true });
}
