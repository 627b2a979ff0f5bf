/**
 * `npm run demo`: the committed bundle, run twice as the runner would, on a small repository with a failing test.
 * Needs no key and no network: a provider emulator with a scripted model answers. Ends 0 when both runs went as
 * expected. With `--provider` and a key in the environment a real model answers instead.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createConsole } from './console.ts';
import {
  type DemoResult,
  type Edit,
  hasBubblewrap,
  MEND,
  type ModelInputs,
  runDemo,
  startEmulator,
  TASK,
} from './demo.ts';
import { BUNDLE } from './runner.ts';

const USAGE = `npm run demo                                    a scripted model behind an emulator, no key
npm run demo -- --emulate anthropic             the same, in Anthropic's wire format
npm run demo -- --provider anthropic            a real model; the key from ANTHROPIC_API_KEY
npm run demo -- --provider openai               the key from OPENAI_API_KEY
npm run demo -- --provider openai-compatible --base-url URL --model NAME
                                                the key, where one is needed, from MODEL_API_KEY
Also: --model NAME, --base-url URL`;

/** Where a real provider's key is looked for, and which model is asked unless another is named. */
const REAL: Readonly<Record<string, { readonly key: string; readonly model: string | null }>> = {
  anthropic: { key: 'ANTHROPIC_API_KEY', model: 'claude-sonnet-4-5' },
  openai: { key: 'OPENAI_API_KEY', model: 'gpt-5' },
  'openai-compatible': { key: 'MODEL_API_KEY', model: null },
};

/** One of the two runs. */
interface Scene {
  readonly title: string;
  readonly edits: readonly Edit[];
  readonly exitCode: 0 | 1;
  readonly reason: 'gate_not_met' | 'accepted';
  readonly meaning: string;
}

const SCENES: readonly Scene[] = [
  {
    title: 'The repository as it is: one test fails',
    edits: [],
    exitCode: 1,
    reason: 'gate_not_met',
    meaning: 'the gate is not met, the step is red',
  },
  {
    title: 'The same repository with the bug mended',
    edits: [MEND],
    exitCode: 0,
    reason: 'accepted',
    meaning: 'the gate is met, the step is green',
  },
];

/** A model to ask, ready to be asked. */
interface Source {
  readonly inputs: ModelInputs;
  readonly description: string;
  close(): Promise<void>;
}

// A reader that leaves early (`| head`) must not keep the demo from cleaning up.
process.stdout.on('error', () => undefined);
process.exitCode = await main();

async function main(): Promise<number> {
  if (['--help', '-h'].some((flag) => process.argv.includes(flag))) {
    say(USAGE);
    return 0;
  }
  if (!existsSync(BUNDLE)) return complain('dist/index.js is not there. Run: npm run build');
  const source = await openSource();
  if (typeof source === 'string') return complain(source);
  const sandbox = hasBubblewrap() ? 'required' : 'off';
  say(
    `structured-agent demo: an agent judges a small repository in examples/demo/repository, and a gate decides\n`,
  );
  say(
    `task     ${TASK.prompt}\nanswer   a JSON object that satisfies ${TASK.schema.slice(1)}, nothing else counts`,
  );
  say(`gate     ${TASK.gate} must be true, or the step is red\nmodel    ${source.description}`);
  say(
    sandbox === 'required'
      ? 'sandbox  bubblewrap: the shell has no network, no key and no way to the rest of this machine'
      : 'sandbox  off: bubblewrap does not work here, so this trusted demo repository runs without (sandbox: off).\n' +
          '         With it (on Debian and Ubuntu: apt-get install bubblewrap) the demo runs with sandbox: required.',
  );
  try {
    let asExpected = true;
    for (const [index, scene] of SCENES.entries()) {
      heading(`${index + 1} of ${SCENES.length}: ${scene.title}`);
      asExpected = (await play(scene, source, sandbox)) && asExpected;
    }
    say(asExpected ? '\nBoth runs went as expected.' : '\nThe demo did not go as expected.');
    say(
      'Each run had a folder of its own under the temporary files; they are removed, result files included.',
    );
    return asExpected ? 0 : 1;
  } finally {
    await source.close();
  }
}

async function play(scene: Scene, source: Source, sandbox: 'required' | 'off'): Promise<boolean> {
  part('live log');
  const render = createConsole();
  const onLine = (line: string) => {
    const shown = render(line);
    if (shown !== null) say(shown);
  };
  const started = performance.now();
  const result = await runDemo({
    edits: scene.edits,
    model: source.inputs,
    sandbox,
    environment: process.env,
    onLine,
  });
  const seconds = (performance.now() - started) / 1_000;
  showResult(result);
  part('verdict');
  const reason = result.outputs.get('run-reason') ?? 'none';
  const expected = result.exitCode === scene.exitCode && reason === scene.reason;
  if (expected) say(`exit code ${scene.exitCode}: ${scene.meaning}, as expected.`);
  else say(`exit code ${result.exitCode} (${reason}): expected was ${scene.exitCode} (${scene.reason}).`);
  say(result.clean ? 'The checkout is clean: not one file of it changed.' : 'The checkout was changed.');
  say(`${seconds.toFixed(1)} s`);
  return expected && result.clean;
}

function showResult(result: DemoResult): void {
  part('step outputs');
  const width = Math.max(0, ...[...result.outputs.keys()].map((name) => name.length));
  for (const [name, value] of result.outputs) say(`${name.padEnd(width)}  ${value}`);
  part('job summary (the Markdown that GitHub renders)');
  say(result.summary.trimEnd());
}

/** The model that the command line asks for; a sentence when it cannot be asked. */
async function openSource(): Promise<Source | string> {
  const options = readOptions();
  if (typeof options === 'string') return `${options}\n\n${USAGE}`;
  if (options.provider !== undefined) return realSource(options.provider, options.model, options['base-url']);
  if (options.model !== undefined || options['base-url'] !== undefined)
    return `--model and --base-url need --provider: without it the scripted model answers.\n\n${USAGE}`;
  if (options.emulate !== 'openai-compatible' && options.emulate !== 'anthropic')
    return `--emulate is openai-compatible or anthropic.\n\n${USAGE}`;
  const emulator = await startEmulator(options.emulate);
  const where = emulator.inputs['base-url'] ?? '';
  return {
    inputs: emulator.inputs,
    description: `a scripted model behind a provider emulator at ${where} (${options.emulate}): no key, no network`,
    close: emulator.close,
  };
}

/** The command line; a sentence when it cannot be read. */
function readOptions() {
  try {
    return parseArgs({
      options: {
        provider: { type: 'string' },
        emulate: { type: 'string', default: 'openai-compatible' },
        model: { type: 'string' },
        'base-url': { type: 'string' },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function realSource(
  provider: string,
  named: string | undefined,
  baseUrl: string | undefined,
): Source | string {
  const known = REAL[provider];
  if (known === undefined) return `--provider is one of ${Object.keys(REAL).join(', ')}.\n\n${USAGE}`;
  const model = named ?? known.model;
  const key = process.env[known.key] || undefined;
  if (model === null || (provider === 'openai-compatible' && baseUrl === undefined))
    return `--provider ${provider} needs --model and --base-url.\n\n${USAGE}`;
  if (key === undefined && provider !== 'openai-compatible')
    return `--provider ${provider} needs a key in ${known.key}. Without a key: npm run demo.`;
  return {
    inputs: {
      provider,
      model,
      ...(key === undefined ? {} : { 'api-key': key }),
      ...(baseUrl === undefined ? {} : { 'base-url': baseUrl }),
    },
    description: `${model} of ${provider}${baseUrl === undefined ? '' : ` at ${baseUrl}`}; this costs tokens`,
    close: async () => undefined,
  };
}

function heading(text: string): void {
  say(`\n${'━'.repeat(100)}\n${text}\n${'━'.repeat(100)}`);
}

function part(text: string): void {
  say(`\n── ${text} ${'─'.repeat(Math.max(0, 96 - text.length))}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 2;
}
