/**
 * Records what examples/replay.yml replays: `node examples/demo/record.ts`. The demo's scripted model answers the command line
 * of the committed bundle, in a copy of the demo repository without its bug.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startModel } from '../../__tests__/support/fakes/model/server.ts';
import { createRepository, MEND } from './demo.ts';
import { answer } from './model.ts';

const examples = path.join(import.meta.dirname, '..');
const workflow = readFileSync(path.join(examples, 'replay.yml'), 'utf8');
/** The flag of an input as the workflow has it. */
const flag = (name: string): readonly string[] => [
  `--${name}`,
  new RegExp(`^ {10}${name}: "?(.+?)"?$`, 'mu').exec(workflow)?.[1] ?? '',
];
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-record-')));
const model = await startModel(answer);
try {
  const workspace = path.join(folder, 'cart');
  createRepository(workspace, [MEND]);
  const args = [
    path.join(examples, '../dist/cli.js'),
    ...[...flag('prompt'), ...flag('schema'), ...flag('gate')],
    ...['--model', 'claude-sonnet-4-5', '--base-url', model.url],
    ...['--record', path.join(examples, 'demo/repository/recordings/released.jsonl')],
  ];
  const env = { PATH: process.env['PATH'], HOME: folder, ANTHROPIC_API_KEY: 'emulator-needs-no-key' };
  const child = spawn(process.execPath, args, {
    cwd: workspace,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  [process.exitCode] = await once(child, 'close');
} finally {
  await model.close();
  rmSync(folder, { recursive: true, force: true });
}
