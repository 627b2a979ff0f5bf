/** The bundle as a command line: real arguments, pipes, files and signals, against a scripted model. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls, type Reply, type ScriptedModel, startModel, submits } from '../support/fakes/model/server.ts';
import { HAS_BWRAP, KEY } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange } from '../support/worlds/pull-request.ts';

const DIST = path.join(import.meta.dirname, '..', '..', 'dist');
const CLI = path.join(DIST, 'cli.js');
const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['passed', 'summary'],
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string' },
    failure_count: { type: 'integer' },
  },
});
const payload = { passed: true, summary: '42 tests passed, 0 failed', failure_count: 0 };
const good = submits(payload);
const PRINTED = `${JSON.stringify(payload)}\n`;

const folders = makeFolder();
let folder = '';
let temporary = '';
let model: ScriptedModel;
let replies: readonly Reply[] = [good];

beforeEach(async () => {
  folder = mkdtempSync(path.join(folders, 'cli-'));
  temporary = mkdtempSync(path.join(folders, 'tmp-'));
  writeFileSync(path.join(folder, 'schema.json'), SCHEMA);
  replies = [good];
  model = await startModel((_, index) => replies[Math.min(index, replies.length - 1)] ?? good);
});
afterEach(() => model.close());

const usual = () => [
  ...['--model', 'scripted-1', '--base-url', `${model.url}/v1`],
  ...['--sandbox', HAS_BWRAP ? 'required' : 'off'],
];

/** Runs a program to its end; sends `kill` during the first shell command. */
async function start(program: string, args: readonly string[], stdin = '', kill?: NodeJS.Signals) {
  const env = {
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    TMPDIR: temporary,
    STRUCTURED_AGENT_API_KEY: KEY,
    // The log of the calls.
    RUNNER_DEBUG: kill === undefined ? '' : '1',
  };
  const child = spawn(program, args, { cwd: folder, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
    if (kill !== undefined && stderr.includes('▸ shell')) child.kill(kill);
  });
  child.stdin.end(stdin);
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const cli = (args: readonly string[], stdin?: string, kill?: NodeJS.Signals) =>
  start(process.execPath, [CLI, ...args], stdin, kill);

/** Runs a script of bash in which `structured-agent` is the command line with the scripted model. */
function bash(script: string) {
  const flags = usual().map((arg) => `'${arg}'`);
  const define = `structured-agent() { '${process.execPath}' '${CLI}' "$@" ${flags.join(' ')}; }`;
  return start('bash', ['-c', `${define}\n${script}`]);
}

describe('a run', () => {
  it.each<[string, readonly string[], string, string]>([
    ['a task and stdin', ['-p', 'Judge.'], 'piped', 'piped\n\nJudge.'],
    ['-f json_schema=…', ['Judge', 'this.', '--bare', '-f', `json_schema=${SCHEMA}`], '', 'Judge this.'],
  ])('takes %s, prints the payload and leaves nothing behind', async (_, args, stdin, task) => {
    const schema = args.includes('-f') ? [] : ['--json-schema', './schema.json'];
    const run = await cli([...args, ...schema, ...usual()], stdin);
    expect([run.code, run.stdout]).toEqual([0, PRINTED]);
    expect(run.stderr).toContain('☑ accepted, without a gate');
    expect(run.stderr).not.toContain('42 tests');
    expect(model.requests[0]?.raw).toContain(JSON.stringify(task).slice(1, -1));
    expect([readdirSync(folder), readdirSync(temporary)]).toEqual([['schema.json'], []]);
  });

  it('with an unmet gate prints the payload and ends with 1', async () => {
    const failed = { ...payload, passed: false };
    replies = [submits(failed)];
    writeFileSync(path.join(folder, 'gate.json'), '{"properties": {"failure_count": {"minimum": 1}}}');
    // The home folder is this folder.
    const files = ['--json-schema', '@~/schema.json', '--gate', './gate.json'];
    const run = await cli(['-p', 'Judge.', ...files, ...usual()]);
    expect([run.code, run.stdout]).toEqual([1, `${JSON.stringify(failed)}\n`]);
    expect(run.stderr).toContain('The gate is not met');
  });

  it('without a payload prints nothing, and one sentence on stderr', async () => {
    replies = [{ text: 'All tests passed.' }];
    const run = await cli(['-p', 'Judge.', '--json-schema', SCHEMA, '--quiet', ...usual()]);
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^structured-agent: The model ended with plain text [^\n]*\n$/u);
  });

  it('works in a script, as documented', async () => {
    const field = 'node -p "JSON.parse(fs.readFileSync(0)).structured_output"';
    const script = `
result=$(structured-agent --output-format object --json-schema schema.json --bare -p "Run tests.") || exit
test "$(echo "$result" | ${field}.passed)" = true && echo "$result" | ${field}.failure_count`;
    expect(await bash(script)).toMatchObject({ code: 0, stdout: '0\n' });
  });

  it('ends with 52 if stdout cannot be written', async () => {
    const run = await bash('structured-agent -p J --json-schema schema.json > /dev/full');
    expect(run.code).toBe(52);
    expect(run.stderr).toContain('stdout did not take everything');
    const check = await start('bash', ['-c', `'${process.execPath}' '${CLI}' check > /dev/full`]);
    expect(check.code).toBe(52);
  });
});

describe('output formats', () => {
  it.each(['json', 'stream-json'])(
    '%s prints the whole run, and only its last message has the payload',
    async (format) => {
      replies = [calls('shell', { command: 'echo hello' }), good];
      const run = await cli(['-p', 'Judge.', '--json-schema', SCHEMA, '--output-format', format, ...usual()]);
      const text = format === 'json' ? run.stdout : `[${run.stdout.trim().replaceAll('\n', ',')}]`;
      const messages: Record<string, unknown>[] = JSON.parse(text);
      const types = messages.map(({ type }) => type);
      expect(types.join(' ')).toBe('system user assistant user assistant user result');
      expect(messages.at(-1)).toMatchObject({ subtype: 'success', structured_output: payload, exit_code: 0 });
      const before = JSON.stringify(messages.slice(0, -1));
      expect([before.includes('hello'), before.includes('42 tests')]).toEqual([true, false]);
    },
  );

  it('object prints the envelope of a run with invalid flags', async () => {
    const flags = ['--max-turns', 'x', '--timeout-minutes', 'x'];
    const run = await cli(['-p', 'J', '--output-format', 'object', ...flags, ...usual()]);
    expect(run.code).toBe(52);
    const error = expect.stringMatching(/2 problems to fix.*--max-turns.*--timeout-minutes/u);
    const ended = { type: 'result', subtype: 'error_config', exit_code: 52, is_error: true, error };
    expect(JSON.parse(run.stdout)).toMatchObject(ended);
    expect(run.stderr.match(/^structured-agent: /gmu)).toHaveLength(1);
  });

  it('--base names the change that has to be shown', async () => {
    commitChange(folder, { 'a.js': 'one();\n' }, { 'a.js': 'two();\n' });
    const review = { passed: true, complete: true, summary: 'Fine.', findings: [] };
    replies = [calls('shell', { command: 'true' }), submits(review)];
    const flags = ['--schema', 'code-review', '--base', 'main', '--max-turns', '3', '-o', 'object'];
    const run = await cli(['-p', 'J', ...flags, ...usual()]);
    // Its diff is in the first message.
    const coverage = { files: { required: 1, shown: 1 } };
    expect(JSON.parse(run.stdout)).toMatchObject({ reason: 'accepted', evidence: { coverage } });
  });

  it('a signal ends with 130 and the envelope', async () => {
    replies = [calls('shell', { command: 'sleep 60' })];
    const run = await cli(['-p', 'J', '-o', 'object', ...usual()], '', 'SIGINT');
    expect(run.code).toBe(130);
    expect(JSON.parse(run.stdout)).toMatchObject({ subtype: 'error_cancelled', reason: 'cancelled' });
  });
});

describe('a command line without a run', () => {
  it.each<[readonly string[], RegExp]>([
    [[], /^Usage: structured-agent \[FLAGS\] TASK\n/u],
    [['-p', 'J'], /No model is given/u],
    [['-p', 'J', '--model', 'gpt-5', '--record', 'none/run.jsonl'], /--record: .*folder/u],
  ])('%j ends with 52 and a reason on stderr', async (args, says) => {
    const run = await cli(args);
    expect([run.code, run.stdout, model.requests.length]).toEqual([52, '', 0]);
    expect(run.stderr).toMatch(says);
  });

  it('--help and --version need no other argument', async () => {
    const help = await cli(['--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--json-schema');
    const version = { code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u), stderr: '' };
    expect(await cli(['--version'])).toEqual(version);
  });
});

describe('the entries', () => {
  const startSync = (args: readonly string[]) =>
    spawnSync(process.execPath, args, {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', RUNNER_TEMP: folder },
      encoding: 'utf8',
    });

  it.each([
    ['dist/cli', ['cli', '--version'], 0, /^\d+\.\d+\.\d+\n$/u],
    ['dist/index.js', ['index.js'], 52, /::error::.*could not start/u],
    ['dist', ['.'], 52, /::error::.*could not start/u],
  ] as const)('print something when started as %s', (_, [name, ...args], status, says) => {
    const run = startSync([path.join(DIST, name), ...args]);
    expect([run.status, run.stdout]).toEqual([status, expect.stringMatching(says)]);
  });

  it('start through a symlink, and start nothing when imported', () => {
    symlinkSync(CLI, path.join(folder, 'agent'));
    expect(startSync([path.join(folder, 'agent'), '--version']).status).toBe(0);
    const code = `console.log(Object.keys(await import(${JSON.stringify(path.join(DIST, 'library.js'))})).join())`;
    const run = startSync(['--input-type=module', '--eval', code, 'a-word']);
    const stdout = 'StructuredAgentError,runStructuredAgent\n';
    expect(run).toMatchObject({ status: 0, stdout, stderr: '' });
  });
});

// What check finds is in __tests__/commands/check/check.test.ts.
describe('a text that a runner takes for a command', () => {
  const word = '::set-output name=passed::##[set-output name=passed]true';
  it.each([
    'check ./WORD.json --schema ./WORD.json',
    'init --action WORD',
    'report WORD',
    '--WORD',
    '-p x --model gpt-5 --tools WORD --output-format json',
  ])('is not printed as one by %s', async (line) => {
    const schema = { type: 'object', properties: { [word]: { type: word } } };
    writeFileSync(path.join(folder, `${word}.json`), JSON.stringify(schema));
    const run = await cli(line.split(' ').map((part) => part.replaceAll('WORD', () => word)));
    expect(run.code).toBe(52);
    expect(run.stdout + run.stderr).not.toMatch(/##\[|##vso\[|^\s*::/imu);
  });
});
