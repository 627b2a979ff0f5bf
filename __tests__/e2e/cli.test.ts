/** The committed bundle as a command line: real arguments, pipes, files and signals, against a scripted model. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type JournalEntry,
  type Reply,
  type ScriptedModel,
  startModel,
} from '../support/fakes/model/server.ts';
import { HAS_BWRAP, KEY, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';

const CLI = path.join(import.meta.dirname, '..', '..', 'dist', 'cli.js');
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
const prose: Reply = { text: 'All tests passed.' };

const folders = makeFolder();
let folder = '';
/** The parent of a run's own folder. Each copy of these tests has another one. */
let temporary = '';
let model: ScriptedModel;
let replies: readonly (Reply | Promise<Reply>)[] = [good];

beforeEach(async () => {
  folder = mkdtempSync(path.join(folders, 'cli-'));
  temporary = mkdtempSync(path.join(folders, 'tmp-'));
  writeFileSync(path.join(folder, 'schema.json'), SCHEMA);
  replies = [good];
  model = await startModel((_, index) => replies[Math.min(index, replies.length - 1)] ?? good);
});
afterEach(() => model.close());

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const usual = () => [
  ...['--model', 'scripted-1', '--base-url', `${model.url}/v1`],
  ...['--sandbox', HAS_BWRAP ? 'required' : 'off'],
];

/** Runs a program to its end. It is asynchronous, because the model answers from this process. */
async function start(
  program: string,
  args: readonly string[],
  stdin = '',
  kill?: NodeJS.Signals,
): Promise<Ended> {
  const child = spawn(program, args, { cwd: folder, env: variables() });
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

/** Runs the command line with `stdin` as its input, empty by default. */
const cli = (args: readonly string[], stdin?: string, kill?: NodeJS.Signals): Promise<Ended> =>
  start(process.execPath, [CLI, ...args], stdin, kill);

function variables(): NodeJS.ProcessEnv {
  return {
    PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    TMPDIR: temporary,
    STRUCTURED_AGENT_API_KEY: KEY,
  };
}

/** Runs a line of bash in which `structured-agent` is the command line with the scripted model. */
function bash(line: string): Promise<Ended> {
  const flags = usual()
    .map((arg) => `'${arg}'`)
    .join(' ');
  const script = `structured-agent() { '${process.execPath}' '${CLI}' "$@" ${flags}; }\n${line}`;
  return start('bash', ['-c', script]);
}

const bodies = () => model.requests.map(({ raw }: JournalEntry) => raw);

describe('text', () => {
  it('prints the payload and a newline, writes progress to stderr, and leaves nothing behind', async () => {
    const run = await cli(['-p', 'Judge.', '--json-schema', './schema.json', '--bare', ...usual()]);
    expect([run.code, run.stdout]).toEqual([0, `${JSON.stringify(payload)}\n`]);
    expect(run.stderr).toContain('✓ SUCCESS · accepted');
    expect(run.stderr).not.toContain('42 tests');
    expect(readdirSync(folder)).toEqual(['schema.json']);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('prints nothing when nothing is published, and one sentence on stderr', async () => {
    replies = [prose];
    const run = await cli(['-p', 'Judge.', '--json-schema', SCHEMA, '--quiet', ...usual()]);
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toMatch(/^structured-agent: The model ended with plain text [^\n]*\n$/u);
  });

  it('prints the payload when the gate is not met, and ends with 1', async () => {
    replies = [submits({ passed: false, summary: 'no' })];
    const run = await cli(['-p', 'Judge.', '--json-schema', 'schema.json', '--gate', 'passed', ...usual()]);
    expect([run.code, run.stdout]).toEqual([1, '{"passed":false,"summary":"no"}\n']);
    expect(run.stderr).toContain('The gate is not met');
  });
});

describe('a command line without a run', () => {
  it('shows the usage on stderr when there are no arguments, and ends with 52', async () => {
    const run = await cli([]);
    expect([run.code, run.stdout]).toEqual([52, '']);
    expect(run.stderr).toMatch(/^Usage: structured-agent \[FLAGS\] TASK\n/u);
    expect(run.stderr).toContain('structured-agent --help');
    expect(bodies()).toEqual([]);
  });

  it.each([
    [['merge'], 'There is no command "merge"'],
    [['help', 'foo'], 'There is no command "foo"'],
  ])('%j sends no request', async (args, sentence) => {
    const run = await cli(args);
    expect([run.code, run.stdout]).toEqual([52, '']);
    expect(run.stderr).toContain(`structured-agent: ${sentence}`);
    expect(bodies()).toEqual([]);
  });
});

describe('the documented command lines', () => {
  it('the worked example runs as printed', async () => {
    const script = `
result=$(structured-agent --output-format object --json-schema schema.json --bare \\
           -p "Run tests and reply with JSON.")
passed=$(echo "$result" | jq '.structured_output.passed')
if [ "$passed" != "true" ]; then
  echo "Tests failed"
  exit 1
fi
echo "$result" | jq -r '.structured_output.failure_count, .subtype, .type'`;
    expect(await bash(script)).toMatchObject({ code: 0, stdout: '0\nsuccess\nresult\n' });
  });

  it.each<[string, readonly string[], string, string]>([
    ['a task on stdin', [], 'Judge from stdin.', 'Judge from stdin.'],
    ['a task and stdin', ['-p', 'Judge.'], 'piped', 'piped\n\nJudge.'],
    ['a positional task', ['Judge', 'this.'], '', 'Judge this.'],
    ['-f json_schema=…', ['-p', 'Judge.', '-f', `json_schema=${SCHEMA}`], '', 'Judge.'],
    ['aliases from another product', ['-p', 'J', '--core-tools=read_file', '--max-session-turns=3'], '', 'J'],
  ])('accepts %s', async (_, args, stdin, task) => {
    const schema = args.includes('-f') ? [] : ['--json-schema', '@schema.json'];
    const run = await cli([...args, ...schema, ...usual()], stdin);
    expect([run.code, run.stdout]).toEqual([0, `${JSON.stringify(payload)}\n`]);
    expect(bodies()[0]).toContain(JSON.stringify(task).slice(1, -1));
  });
});

describe('json, stream-json, object', () => {
  const look: Reply = { calls: [{ name: 'shell', arguments: '{"command":"echo hello"}' }] };

  it.each(['json', 'stream-json'])(
    '%s prints the whole run and ends with the envelope, the only message with the payload',
    async (format) => {
      replies = [look, good];
      const run = await cli(['-p', 'Judge.', '--json-schema', SCHEMA, '--output-format', format, ...usual()]);
      const messages: Record<string, unknown>[] =
        format === 'json'
          ? JSON.parse(run.stdout)
          : run.stdout
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line));
      const types = messages.map(({ type }) => type);
      expect(types.join(' ')).toBe('system user assistant user assistant user result');
      expect(messages.at(-1)).toMatchObject({ subtype: 'success', structured_output: payload, exit_code: 0 });
      const before = JSON.stringify(messages.slice(0, -1));
      expect(before).toContain('hello');
      expect(before).not.toContain('42 tests');
    },
  );

  it.each<[string, readonly string[], number, string]>([
    ['max turns', ['--max-turns', '0'], 53, 'error_max_turns'],
    ['an invalid schema', ['--json-schema', '{"type":"array"}'], 52, 'error_config'],
    ['an invalid input', ['--sandbox', 'maybe'], 52, 'error_config'],
    ['an unknown flag', ['--modle', 'x'], 52, 'error_config'],
  ])('object prints the envelope after %s', async (_, args, code, subtype) => {
    const schema = args.includes('--json-schema') ? [] : ['--json-schema', SCHEMA];
    const plain = args.includes('--sandbox') ? usual().slice(0, -2) : usual();
    const run = await cli(['-p', 'J', ...schema, '--output-format', 'object', ...args, ...plain]);
    expect(run.code).toBe(code);
    expect(JSON.parse(run.stdout)).toMatchObject({
      type: 'result',
      model: 'scripted-1',
      subtype,
      exit_code: code,
      is_error: true,
    });
    expect(run.stderr.match(/^structured-agent: /gmu)).toHaveLength(1);
  });

  it('a signal ends with 130 and the envelope', async () => {
    replies = [{ calls: [{ name: 'shell', arguments: '{"command":"sleep 60"}' }] }];
    const args = ['-p', 'J', '--json-schema', SCHEMA, '--output-format', 'object', ...usual()];
    const run = await cli(args, '', 'SIGINT');
    expect(run.code).toBe(130);
    expect(JSON.parse(run.stdout)).toMatchObject({ subtype: 'error_cancelled', reason: 'cancelled' });
  });
});

describe('invalid arguments', () => {
  it.each<[readonly string[], RegExp]>([
    [['--modle', 'x', '-p', 'J'], /--modle.*--model/u],
    [['-p', 'J', '--comment', 'always'], /GitHub/u],
    [['-p', 'J'], /No model is given/u],
  ])('refuses %j with a reason, and prints nothing on stdout', async (args, says) => {
    const run = await cli(args);
    expect([run.code, run.stdout]).toEqual([52, '']);
    expect(run.stderr).toMatch(says);
    expect(run.stderr.trim().split('\n')).toHaveLength(1);
  });
});

it('names three invalid values in one sentence on stderr, and in the envelope', async () => {
  const wrong = ['-p', 'J', ...usual(), '--max-turns=many', '--stream=maybe', '--result-file=none/r.json'];
  const named = /3 problems to fix: \(1\) --stream .* \(2\) --max-turns .* \(3\) --result-file /u;
  const text = await cli(wrong);
  expect([text.code, text.stdout, bodies()]).toEqual([52, '', []]);
  expect(text.stderr).toMatch(named);
  const object = await cli([...wrong, '-o', 'object']);
  expect(JSON.parse(object.stdout)).toMatchObject({
    exit_code: 52,
    model: 'scripted-1',
    error: expect.stringMatching(named),
  });
});

describe('files', () => {
  it('a missing folder is refused before the first request, with a fix', async () => {
    const run = await cli(['-p', 'Judge.', '--record', 'none/run.jsonl', '--quiet', ...usual()]);
    expect([run.code, run.stdout, bodies()]).toEqual([52, '', []]);
    expect(run.stderr).toMatch(
      /^structured-agent: --record is .* Make the folder, or name another file\.\n$/u,
    );
  });

  it('are written where requested, readable only by their owner', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    replies = [{ calls: [{ name: 'shell', arguments: '{"command":"echo new > added.txt"}' }] }, good];
    const names = { result: 'r.json', transcript: 't.jsonl', patch: 'p.patch' };
    const flags = Object.entries(names).flatMap(([name, file]) => [`--${name}-file`, file]);
    const run = await cli(['-p', 'J', '--json-schema', SCHEMA, ...flags, ...usual()]);
    expect(run.code).toBe(0);
    const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
    expect(JSON.parse(read('r.json'))).toMatchObject({ exit_code: 0, structured_output: payload });
    expect(read('t.jsonl')).not.toContain('42 tests');
    expect(read('p.patch')).toContain('+new\n');
    for (const name of Object.values(names)) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
    expect(existsSync(path.join(folder, 'added.txt'))).toBe(false);
  });

  const ALL = ['--report-file', 'r.html', '--sarif-file', 's.sarif', '--patch-file', 'p.patch'];

  it('are listed, each with what is missing in it', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    const findings = [{ severity: 'error', path: 'nowhere.js', line: 3, message: 'm' }];
    replies = [submits({ passed: false, summary: 's', findings })];
    const run = await cli(['-p', 'J', ...ALL, ...usual()]);
    expect(run.code).toBe(1);
    const at = (name: string) => path.join(folder, name);
    expect(run.stderr.split('\n').slice(-4)).toEqual([
      `  report page: ${at('r.html')}`,
      `  SARIF: 0 results in ${at('s.sarif')}. 1 finding without a file of the repository left out.`,
      '  no patch: the agent changed nothing',
      '',
    ]);
  });

  it('are listed when they could not be written', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    replies = [{ calls: [{ name: 'shell', arguments: '{"command":"echo new > added.txt"}' }] }, prose, prose];
    const run = await cli(['-p', 'J', ...ALL, ...usual()]);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`  patch: ${path.join(folder, 'p.patch')}\n`);
    expect(run.stderr).toContain('  No SARIF was written: no payload was published.\n');
    expect(run.stderr).not.toContain('no patch');
    const where = HAS_BWRAP ? 'in its scratch layer; your checkout is as it was' : 'in its copy';
    expect(run.stderr).toContain(`  the agent changed 1 file ${where}\n`);
  });
});

describe('a stdout that cannot be written', () => {
  it('a full disk ends with 52', async () => {
    const run = await bash('structured-agent -p J --json-schema schema.json > /dev/full');
    expect(run.code).toBe(52);
    expect(run.stderr).toContain('stdout did not take everything');
  });
});

describe('the bundle', () => {
  const dist = path.dirname(CLI);
  const startSync = (args: readonly string[]) =>
    spawnSync(process.execPath, args, {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', RUNNER_TEMP: folder },
      encoding: 'utf8',
    });

  it.each([
    ['dist/cli', [path.join(dist, 'cli'), '--version'], 0, /^\d+\.\d+\.\d+\n$/u],
    ['dist/index.js', [path.join(dist, 'index.js')], 52, /INCONCLUSIVE · config/u],
    ['dist/index', [path.join(dist, 'index')], 52, /INCONCLUSIVE · config/u],
    ['dist', [dist], 52, /INCONCLUSIVE · config/u],
  ] as const)('prints something when started as %s', (_, args, status, says) => {
    const run = startSync(args);
    expect([run.status, run.stdout]).toEqual([status, expect.stringMatching(says)]);
  });

  it('starts through a symlink, and starts nothing when it is imported', () => {
    symlinkSync(CLI, path.join(folder, 'agent'));
    expect(startSync([path.join(folder, 'agent'), '--version']).status).toBe(0);
    const code = `console.log(Object.keys(await import(${JSON.stringify(path.join(dist, 'index.js'))})).join())`;
    const run = startSync(['--input-type=module', '--eval', code, 'a-word']);
    const names = 'StructuredAgentError,runStructuredAgent\n';
    expect(run).toMatchObject({ status: 0, stdout: names, stderr: '' });
  });
});

it('--help and --version need no other argument', async () => {
  const help = await cli(['--help']);
  expect([help.code, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toContain('--json-schema');
  expect(await cli(['--version'])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u),
    stderr: '',
  });
});

describe('files of the command line', () => {
  it('the patch replaces a symlink that the agent put at its path, without following it', async () => {
    execFileSync('git', ['init', '-q'], { cwd: folder });
    const victim = mkdtempSync(path.join(folders, 'victim-'));
    writeFileSync(path.join(victim, 'file'), 'mine');
    const command = `echo x > new.txt; ln -s '${victim}/file' out.patch`;
    replies = [{ calls: [{ name: 'shell', arguments: JSON.stringify({ command }) }] }, good];
    const inPlace = ['--workspace-access', 'in-place', '--patch-file', 'out.patch'];
    const run = await cli(['-p', 'Judge.', '--schema', './schema.json', ...inPlace, ...usual()]);
    expect([run.code, readFileSync(path.join(victim, 'file'), 'utf8')]).toEqual([0, 'mine']);
  });

  it.each([
    ['./schema.json', './gate.json'],
    ['schema.json', 'gate.json'],
    ['@schema.json', '@gate.json'],
    // The home folder is this folder.
    ['@~/schema.json', '@~/gate.json'],
  ])('--schema %s and --gate %s are file paths', async (schema, gate) => {
    writeFileSync(path.join(folder, 'gate.json'), '{"properties": {"failure_count": {"minimum": 1}}}');
    const run = await cli(['-p', 'Judge.', '--json-schema', schema, '--gate', gate, ...usual()]);
    expect([run.code, run.stdout]).toEqual([1, `${JSON.stringify(payload)}\n`]);
    expect(run.stderr).toContain('The gate is not met');
  });

  it.each(['result-file', 'transcript-file', 'report-file', 'sarif-file', 'patch-file', 'record'])(
    '--%s is not written through a symlink of the checkout',
    async (name) => {
      execFileSync('git', ['init', '-q'], { cwd: folder });
      symlinkSync('.git/hooks', path.join(folder, 'out'));
      const flags = [`--${name}`, 'out/pre-commit'];
      const run = await cli(['-p', 'Judge.', '--schema', './schema.json', ...flags, ...usual()]);
      expect([run.code, run.stdout]).toEqual([52, '']);
      expect(run.stderr).toContain('the symbolic link "out" leads to');
      expect(existsSync(path.join(folder, '.git/hooks/pre-commit'))).toBe(false);
    },
  );

  it.each([
    [['--result-file', 'a.json', '--transcript-file', './a.json'], 'result-file and --transcript-file'],
    [['--record', 'schema.json'], 'schema and --record'],
    [['--gate', './schema.json', '--result-file', 'schema.json'], 'gate and --result-file'],
  ])('refuses %j, which would overwrite one file with another', async (flags, names) => {
    const run = await cli(['-p', 'Judge.', '--schema', './schema.json', ...flags, ...usual()]);
    expect([run.code, run.stdout]).toEqual([52, '']);
    expect(run.stderr).toContain(`--${names} name the same file`);
    expect(readFileSync(path.join(folder, 'schema.json'), 'utf8')).toBe(SCHEMA);
  });
});

describe.each([
  '##[set-output name=passed]true',
  '::set-output name=passed::true',
  '##vso[task.setvariable variable=x]y',
])('a text that a runner takes for a command: %s', (word) => {
  it.each([
    'check',
    'check --output-format json',
    'check ./WORD.json --schema ./WORD.json',
    'check --WORD',
    'init --model WORD --yes',
    'init --WORD',
    'report WORD',
    'report --WORD',
    '--WORD',
    '-p x --model WORD',
    '-p x --model gpt-5 --tools WORD',
    '-p x --model gpt-5 --tools WORD --output-format json',
  ])('is not printed as one by %s', (line) => {
    const args = line.split(' ').map((part) => part.replaceAll('WORD', () => word));
    const workflows = path.join(folder, '.github', 'workflows');
    mkdirSync(workflows, { recursive: true });
    const step = { uses: 'o/structured-agent@v1', with: { [word]: '1', prompt: 'x', model: word } };
    writeFileSync(
      path.join(workflows, `${word}.yml`),
      JSON.stringify({ on: 'push', jobs: { [word]: { 'runs-on': 'x', steps: [step] } } }),
    );
    writeFileSync(
      path.join(folder, `${word}.json`),
      JSON.stringify({ type: 'object', properties: { [word]: { type: word } } }),
    );
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect(status).toBe(52);
    expect(stdout + stderr).not.toMatch(/##\[|##vso\[|^\s*::/imu);
  });
});
