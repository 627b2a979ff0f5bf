import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import type { InputName } from '../src/config/inputs.ts';
import { InputError, ReportError } from '../src/errors.ts';
import { run } from '../src/run.ts';
import type { World } from '../src/run-state.ts';
import { createSecrets } from '../src/secrets.ts';
import type { Report, Reporter } from '../src/types.ts';
import { type ScriptedModel, startModel } from './support/model-server.ts';

let base = '';
let model: ScriptedModel;

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'run-')));
  for (const name of ['workspace', 'temp', 'temp/run']) await mkdir(path.join(base, name));
  model = await startModel(() => ({
    calls: [{ name: 'structured_output', arguments: '{"passed":true,"summary":"fine"}' }],
  }));
});

afterEach(async () => {
  await model.close();
  await rm(base, { recursive: true, force: true });
});

interface Told {
  readonly reports: Report[];
  readonly published: Report[];
  readonly warnings: string[];
}

function world(told: Told, more: Partial<World> = {}): World {
  return {
    environment: { PATH: process.env['PATH'] },
    version: '0.0.0',
    secrets: createSecrets(),
    subject: null,
    workspace: path.join(base, 'workspace'),
    home: base,
    temp: path.join(base, 'temp'),
    runFolder: path.join(base, 'temp', 'run'),
    resultFile: null,
    transcriptFile: null,
    writePatch: () => 'changes.patch',
    restoreRunnerFiles: () => undefined,
    spareResultFile: null,
    guarded: [],
    privileged: false,
    readFile: async (file) => ({ ok: true, text: await readFile(file, 'utf8') }),
    resolveFolder: async () => path.join(base, 'workspace'),
    requireReadable: async () => undefined,
    now: () => performance.now(),
    listen: () => undefined,
    reporters: [{ name: 'probe', report: async (report) => void told.reports.push(report) }],
    writeEnvelope: () => undefined,
    writeOutputs: (report) => void told.published.push(report),
    warn: (text) => told.warnings.push(text),
    ...more,
  };
}

function config(more: Partial<Record<InputName, string>> = {}) {
  const inputs: Partial<Record<InputName, string>> = {
    prompt: 'Judge.',
    model: 'scripted-1',
    'base-url': `${model.url}/v1`,
    sandbox: 'off',
    ...more,
  };
  const raw = new Map<InputName, string>();
  for (const [name, value] of Object.entries(inputs)) raw.set(name as InputName, value);
  return () => parseConfig(raw, { environment: {} });
}

const nothing = (): Told => ({ reports: [], published: [], warnings: [] });

describe('a run', () => {
  it('E19 an exception inside us is internal: exit 1, told and published like any ending, its stack warned', async () => {
    const told = nothing();
    const report = await run(
      config(),
      world(told, { requireReadable: () => Promise.reject(new TypeError('x is not a function')) }),
    );
    expect(report.verdict).toMatchObject({
      conclusion: 'inconclusive',
      reason: 'internal',
      exitCode: 1,
      published: false,
    });
    expect(report.verdict.error).toContain('x is not a function');
    expect(told.published).toEqual([report]);
    expect(told.reports).toHaveLength(1);
    expect(told.warnings.join('\n')).toMatch(/TypeError: x is not a function\n\s+at /u);
  });

  it('E19 an error that nothing caught is internal as well', async () => {
    const told = nothing();
    await model.close();
    model = await startModel(() => new Promise<never>(() => undefined));
    const listen: World['listen'] = (listener) => {
      setTimeout(() => listener.crash(new RangeError('from nowhere')), 300);
    };
    const report = await run(config({ 'base-url': `${model.url}/v1` }), world(told, { listen }));
    expect(report.verdict).toMatchObject({ reason: 'internal', exitCode: 1 });
    expect(report.verdict.error).toContain('from nowhere');
  });

  it('a reporter that fails is a warning, the others are still told, and the verdict stands', async () => {
    const told = nothing();
    const failing: Reporter = {
      name: 'failing',
      event: () => {
        throw new Error('deaf');
      },
      report: () => Promise.reject(new ReportError('the disk is full')),
    };
    const plain = world(told);
    const report = await run(config(), { ...plain, reporters: [failing, ...plain.reporters] });
    expect(report.verdict).toMatchObject({ conclusion: 'success', exitCode: 0 });
    expect(told.reports).toHaveLength(1);
    expect(told.warnings).toContain('failing: the disk is full');
    expect(told.warnings).toContain('failing: deaf');
  });

  it('outputs that cannot be written turn a success into exit 52, told once more and in the envelope', async () => {
    const told = nothing();
    const envelopes: Report[] = [];
    const probe: Reporter = {
      name: 'log',
      retold: true,
      report: async (report) => void told.reports.push(report),
    };
    const report = await run(
      config(),
      world(told, {
        reporters: [probe],
        writeEnvelope: (each) => void envelopes.push(each),
        writeOutputs: () => {
          throw new InputError(null, 'the outputs cannot be written');
        },
      }),
    );
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52, published: false });
    expect(report.payload).toBeNull();
    expect(told.reports.map((each) => each.verdict.exitCode)).toEqual([0, 52]);
    expect(envelopes.map((each) => each.verdict.exitCode)).toEqual([0, 52]);
  });

  it('an envelope that cannot be written goes to its spare place, and the outputs are written all the same', async () => {
    const told = nothing();
    const envelopes: (string | null)[] = [];
    const report = await run(
      config(),
      world(told, {
        resultFile: '/wanted.json',
        spareResultFile: '/spare.json',
        writeEnvelope: (each) => {
          if (each.resultFile === '/wanted.json') throw new InputError('result-file', 'it cannot be written');
          envelopes.push(each.resultFile);
        },
      }),
    );
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(envelopes).toEqual(['/spare.json']);
    expect(told.published.map((each) => [each.verdict.exitCode, each.resultFile])).toEqual([
      [52, '/spare.json'],
    ]);
  });

  it('a tampered guarded file ends without a payload and names the file', async () => {
    const told = nothing();
    const guarded = path.join(base, 'guarded.js');
    const { writeFile } = await import('node:fs/promises');
    await writeFile(guarded, 'before');
    await model.close();
    model = await startModel(async (_request, index) => {
      if (index === 0) return { calls: [{ name: 'read_file', arguments: '{"path":"."}' }] };
      await writeFile(guarded, 'after');
      return { calls: [{ name: 'structured_output', arguments: '{"passed":true,"summary":"fine"}' }] };
    });
    const report = await run(config({ 'base-url': `${model.url}/v1` }), world(told, { guarded: [guarded] }));
    expect(report.verdict).toMatchObject({ conclusion: 'inconclusive', reason: 'tampered', exitCode: 1 });
    expect(report.verdict.error).toContain('guarded.js');
    expect(report.payload).toBeNull();
  });
});
