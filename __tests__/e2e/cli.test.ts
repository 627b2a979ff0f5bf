/** The bundle as a command line: real arguments, pipes, files and signals, against a scripted model. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import { calls, type Reply, type ScriptedModel, startModel, submits } from '../support/fakes/model/server.ts';
import { KEY } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange } from '../support/worlds/pull-request.ts';

const DIST = path.join(import.meta.dirname, '..', '..', 'dist');
const CLI = path.join(DIST, 'cli.js');
const SCHEMA = JSON.stringify({
  ...{ type: 'object', required: ['passed', 'summary'] },
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string' },
    failure_count: { type: 'integer' },
  },
});
const payload = { passed: true, summary: '42 tests passed, 0 failed', failure_count: 0 };
const good = submits(payload);
const red = submits({ ...payload, passed: false });

const folders = makeFolder();
let [folder, temporary] = ['', ''];
let model: ScriptedModel;
let replies: readonly Reply[] = [good];

beforeEach(async () => {
  folder = mkdtempSync(path.join(folders, 'cli-'));
  temporary = mkdtempSync(path.join(folders, 'tmp-'));
  writeFileSync(path.join(folder, 'schema.json'), SCHEMA);
  writeFileSync(path.join(folder, 'gate.json'), '{"properties": {"failure_count": {"minimum": 1}}}');
  replies = [good];
  model = await startModel((_, index) => replies[Math.min(index, replies.length - 1)] ?? good);
});
afterEach(() => model.close());

const usual = () => [
  ...['--model', 'scripted-1', '--base-url', `${model.url}/v1`],
  ...['--sandbox', hasSandbox ? 'required' : 'off'],
];

/** Runs a program to its end; sends SIGINT during the first shell command if it has `isKilled`. */
async function start(program: string, args: readonly string[], stdin = '', isKilled = false) {
  const env = {
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    TMPDIR: temporary,
    STRUCTURED_AGENT_API_KEY: KEY,
    // The log of the calls.
    RUNNER_DEBUG: isKilled ? '1' : '',
  };
  const child = spawn(program, args, { cwd: folder, env });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    if (isKilled && stderr.includes('▸ shell')) child.kill('SIGINT');
  });
  child.stdin.end(stdin);
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  return { code, stdout, stderr };
}

const cli = (args: readonly string[], stdin?: string, isKilled?: boolean) =>
  start(process.execPath, [CLI, ...args], stdin, isKilled);

describe('a run', () => {
  const task = ['-p', 'Judge.'];
  const accepted = /☑ accepted, without a gate/u;
  const prose = { text: 'All tests passed.' };
  it.each<[string, readonly string[], Reply, number, RegExp]>([
    ['a task and stdin', [...task, '--json-schema', './schema.json'], good, 0, accepted],
    ['words and a format', ['Judge.', '--bare', '-f', `json_schema=${SCHEMA}`], good, 0, accepted],
    // The home folder is this folder.
    ['an unmet gate', [...task, '--schema', '@~/schema.json', '--gate', './gate.json'], red, 1, /not met/u],
    ['--quiet and prose', [...task, '--quiet'], prose, 1, /^structured-agent: .* plain text [^\n]*\n$/u],
  ])('with %s prints the payload alone, and leaves nothing behind', async (_, args, reply, code, says) => {
    replies = [reply];
    const run = await cli([...args, ...usual()], 'piped');
    const stdout = (reply.calls ?? []).map((call) => `${call.arguments}\n`).join('');
    expect(run).toEqual({ code, stdout, stderr: expect.stringMatching(says) });
    expect(run.stderr).not.toContain('42 tests');
    expect(model.requests[0]?.raw).toContain('piped\\n\\nJudge.');
    expect([readdirSync(folder), readdirSync(temporary)]).toEqual([['gate.json', 'schema.json'], []]);
  });

  it('ends with 52 if stdout cannot be written', async () => {
    const toFull = (...args: readonly string[]) =>
      start('sh', ['-c', '"$0" "$@" > /dev/full', process.execPath, CLI, ...args]);
    const run = await toFull('-p', 'J', '--json-schema', SCHEMA, ...usual());
    expect([run.code, run.stderr]).toEqual([52, expect.stringContaining('stdout did not take everything')]);
    expect((await toFull('check')).code).toBe(52);
  });

  it('with the format stream-json prints all of it, and only the last message has the payload', async () => {
    replies = [calls('shell', { command: 'echo hello' }), good];
    const run = await cli([...task, '--json-schema', SCHEMA, '--output-format', 'stream-json', ...usual()]);
    const messages = run.stdout.trim().split('\n');
    const names = messages.map((line) => JSON.parse(line).type).join(' ');
    expect(names).toBe('system user assistant user assistant user result');
    const ended = { subtype: 'success', structured_output: payload, exit_code: 0 };
    expect(JSON.parse(messages.pop() ?? '')).toMatchObject(ended);
    expect(messages.join()).toContain('hello');
    expect(messages.join()).not.toContain('42 tests');
  });

  it('with the format object and invalid flags prints the envelope', async () => {
    const flags = ['--max-turns', 'x', '--timeout-minutes', 'x'];
    const run = await cli(['-p', 'J', '--output-format', 'object', ...flags, ...usual()]);
    expect(run.code).toBe(52);
    const error = expect.stringMatching(/2 problems to fix.*--max-turns.*--timeout-minutes/u);
    const ended = { type: 'result', subtype: 'error_config', exit_code: 52, is_error: true, error };
    expect(JSON.parse(run.stdout)).toMatchObject(ended);
    expect(run.stderr.match(/^structured-agent: /gmu)).toHaveLength(1);
  });

  it('with --base names the change that has to be shown', async () => {
    commitChange(folder, { 'a.js': 'one();\n' }, { 'a.js': 'two();\n' });
    replies = [submits({ passed: true, complete: true, summary: 'Fine.', findings: [] })];
    const line = '-p J --schema code-review --base main -o object';
    const run = await cli([...line.split(' '), ...usual()]);
    // Its diff is in the first message.
    const coverage = { files: { required: 1, shown: 1 } };
    expect(JSON.parse(run.stdout)).toMatchObject({ reason: 'accepted', evidence: { coverage } });
  });

  it('that gets a signal ends with 130 and the envelope', async () => {
    replies = [calls('shell', { command: 'sleep 60' })];
    const run = await cli(['-p', 'J', '-o', 'object', ...usual()], '', true);
    expect(run.code).toBe(130);
    expect(JSON.parse(run.stdout)).toMatchObject({ subtype: 'error_cancelled', reason: 'cancelled' });
  });
});

it.each([
  ['cli.js', 52, /^$/u, /^Usage: structured-agent \[FLAGS\] TASK\n/u],
  ['cli.js -p J', 52, /^$/u, /No model is given/u],
  ['cli.js -p J --model gpt-5 --record none/run.jsonl', 52, /^$/u, /--record: .*folder/u],
  ['cli.js --help', 0, /--json-schema/u, /^$/u],
  ['cli --version', 0, /^\d+\.\d+\.\d+\n$/u, /^$/u],
  ['index.js', 52, /::error::.*could not start/u, /^/u],
  ['.', 52, /::error::.*could not start/u, /^/u],
])('without a run, "%s" ends with %i', async (line, code, stdout, stderr) => {
  const [name = '', ...args] = line.split(' ');
  const matching = { stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) };
  expect(await start(process.execPath, [path.join(DIST, name), ...args])).toEqual({ code, ...matching });
});

it('starts through a symlink, and nothing starts when it is imported', async () => {
  symlinkSync(CLI, path.join(folder, 'agent'));
  expect((await start(process.execPath, [path.join(folder, 'agent'), '--version'])).code).toBe(0);
  const code = `console.log(Object.keys(await import(${JSON.stringify(path.join(DIST, 'library.js'))})).join())`;
  const run = await start(process.execPath, ['--input-type=module', '--eval', code, 'a-word']);
  expect(run).toEqual({ code: 0, stdout: 'StructuredAgentError,runStructuredAgent\n', stderr: '' });
});

it.each([
  'check ./WORD.json --schema ./WORD.json',
  'init --action WORD',
  'report WORD',
  '--WORD',
  '-p x --model gpt-5 --tools WORD --output-format json',
])('%s prints nothing that a runner takes for a command', async (line) => {
  const word = '::set-output name=passed::##[set-output name=passed]true';
  const schema = { type: 'object', properties: { [word]: { type: word } } };
  writeFileSync(path.join(folder, `${word}.json`), JSON.stringify(schema));
  const run = await cli(line.split(' ').map((part) => part.replaceAll('WORD', () => word)));
  expect(run.code).toBe(52);
  expect(run.stdout + run.stderr).not.toMatch(/##\[|##vso\[|^\s*::/imu);
});
