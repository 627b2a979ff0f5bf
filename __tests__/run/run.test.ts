import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { ReportError } from '../../src/errors.ts';
import type { Reporter, RunEvent } from '../../src/reporters/report-types.ts';
import { run } from '../../src/run/run.ts';
import type { World } from '../../src/run/world.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { localFiles } from '../support/worlds/quiet.ts';
import {
  base,
  command,
  config,
  converse,
  good,
  model,
  nothing,
  serve,
  world,
} from '../support/worlds/run.ts';

describe('a run', () => {
  it('E19 ends an internal error with exit code 1, reports it and warns with the stack', async () => {
    const observed = nothing();
    const report = await run(
      config({ 'prompt-file': 'p' }),
      world(observed, { files: localFiles(() => Promise.reject(new TypeError('x is not a function'))) }),
    );
    const internal = { conclusion: 'inconclusive', reason: 'internal', exitCode: 1, published: false };
    expect(report.verdict).toMatchObject(internal);
    expect(report.verdict.error).toContain('x is not a function');
    expect(observed.published).toEqual([report]);
    expect(observed.reports).toHaveLength(1);
    expect(observed.warnings.join('\n')).toMatch(/TypeError: x is not a function\n\s+at /u);
  });

  it('warns about a failing reporter, calls the others and keeps the verdict', async () => {
    const observed = nothing();
    const failing: Reporter = {
      name: 'failing',
      event: () => {
        throw new Error('deaf');
      },
      report: () => Promise.reject(new ReportError('the disk is full')),
    };
    const plain = world(observed);
    const openReporters = async () => [failing, ...(await plain.openReporters())];
    const report = await run(config(), { ...plain, openReporters });
    expect(report.verdict).toMatchObject({ conclusion: 'success', exitCode: 0 });
    expect(observed.reports).toHaveLength(1);
    expect(observed.warnings).toContain('failing: the disk is full');
    expect(observed.warnings).toContain('failing: deaf');
  });
});

it('reports the name by which the price list knows the model', async () => {
  const inputs = { model: 'claude-sonnet-5-5', 'api-key': 'k', provider: 'anthropic' };
  const { report } = await converse([good], inputs);
  expect(report).toMatchObject({ pricedAs: 'claude-sonnet-5', costUsd: expect.any(Number) });
  expect((await converse([good])).report).toMatchObject({ pricedAs: null, costUsd: null });
});

describe('the configuration', () => {
  it('decides which tools are offered', async () => {
    const names = async (inputs: Partial<Record<InputName, string>>) =>
      (await converse([good], inputs)).asked[0]?.tools.map((tool) => tool.name);
    expect(await names({})).toEqual(['read_file', 'edit', 'shell', 'structured_output']);
    expect(await names({ tools: 'shell' })).toEqual(['shell', 'structured_output']);
    expect(await names({ 'exclude-tools': 'shell structured_output' })).toEqual(['read_file', 'edit']);
  });

  it('without structured_output causes a warning before the model is asked, and the ending names it', async () => {
    const { report, events } = await converse([{ text: 'All good.' }], {
      'exclude-tools': 'structured_output',
    });
    expect(report.verdict).toMatchObject({ reason: 'plain_text', exitCode: 1 });
    expect(report.verdict.error).toMatch(/structured_output is excluded \(exclude-tools\).*"All good\."/u);
    const isWarning = (event: RunEvent) =>
      event.type === 'notice' && event.level === 'warning' && event.text.includes('structured_output');
    const begins = events.findIndex(({ type }) => type === 'turn_started');
    expect([events.slice(0, begins), events.slice(begins)].map((some) => some.some(isWarning))).toEqual([
      true,
      false,
    ]);
    const busy = await converse([command('true'), command('pwd')], {
      'exclude-tools': 'structured_output',
      'max-turns': '2',
    });
    expect(busy.report.verdict).toMatchObject({ reason: 'max_turns', exitCode: 53 });
    const other = await converse([good], { 'exclude-tools': 'shell' });
    expect(other.events.some(isWarning)).toBe(false);
  });

  it('applies to the shell: working directory, variables without secrets, limits', async () => {
    await mkdir(path.join(base, 'workspace', 'sub'));
    const secrets = createSecrets();
    secrets.add('hidden-value');
    const warnings: string[] = [];
    const { asked } = await converse(
      [command('pwd; echo "[$SHOWN][$HIDDEN$HOLDING][$OTHER]"; seq 1 20000'), good],
      {
        'pass-env': 'SHOWN HIDDEN HOLDING',
        'working-directory': 'sub',
      },
      {
        secrets,
        environment: {
          PATH: process.env['PATH'],
          SHOWN: 'shown',
          HIDDEN: 'hidden-value',
          HOLDING: `basic ${Buffer.from('user:hidden-value').toString('base64')}`,
          OTHER: 'other',
        },
        warn: (text) => warnings.push(text),
      },
    );
    const text = asked[1]?.toolResults[0]?.text ?? '';
    expect(text).toContain('/sub\n[shown][][]\n1\n2\n');
    expect(warnings.filter((each) => each.startsWith('pass-env: '))).toEqual(
      ['HIDDEN', 'HOLDING'].map((name) => expect.stringContaining(`${name} is not passed`)),
    );
    expect(Buffer.byteLength(text)).toBeLessThan(26 * 1024);
    expect(asked[0]?.tools.find((tool) => tool.name === 'shell')?.description).toContain('120 s');
  });

  it.runIf(HAS_BWRAP)('applies to the sandbox: network', async () => {
    const look = command('readlink /proc/self/ns/net; true');
    const closed = await converse([look, good], { sandbox: 'required' });
    const ours = readlinkSync('/proc/self/ns/net');
    const seen = closed.asked[1]?.toolResults[0]?.text ?? '';
    expect(seen).toMatch(/^net:/u);
    expect(seen).not.toContain(ours);
    const open = await converse([look, good], { sandbox: 'required', 'shell-network': 'on' });
    expect(open.asked[1]?.toolResults[0]?.text).toContain(ours);
  });

  it.each([
    [{ safe: { type: 'boolean' } }, 'auto', 'For example gate: safe (or gate: off if that is intended).'],
    [{ grade: { type: 'string' } }, 'auto', 'Set gate to a JSON Schema of what must hold'],
    [{ passed: { type: 'boolean' } }, 'auto', null],
    [{ safe: { type: 'boolean' } }, 'off', null],
  ])('without a gate causes a notice for the properties %j and gate: %s', async (properties, gate, fix) => {
    const schema = { type: 'object', properties, required: Object.keys(properties) };
    const { notices } = await converse([good], { schema: JSON.stringify(schema), gate });
    const warned = notices.filter((each) => each.startsWith('The schema is your own and there is no gate'));
    expect(warned).toEqual(fix === null ? [] : [expect.stringContaining(fix)]);
  });

  it('causes notices about weak settings and about unchecked keywords in schema and gate', async () => {
    const odd = (name: string) =>
      JSON.stringify({ properties: { [name]: { type: 'string', format: name } } });
    const { notices, report } = await converse([good], { schema: odd('summary'), gate: odd('passed') });
    expect(notices).toContainEqual(expect.stringMatching(/^sandbox: off\./u));
    expect(notices).toContainEqual(expect.stringContaining('The format "summary" in the schema'));
    expect(notices).toContainEqual(expect.stringContaining('The format "passed" in the gate'));
    expect(report.weaknesses).toContainEqual(expect.stringMatching(/^sandbox: off\./u));
  });

  it('is recorded as hashes of the policy: task, schema, gate', async () => {
    const digestPolicy = async (inputs: Partial<Record<InputName, string>>) =>
      (await converse([good], inputs)).report.policy;
    const plain = await digestPolicy({});
    expect(plain).toEqual({
      schema_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u),
      gate_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u),
      prompt_sha256: expect.stringMatching(/^[0-9a-f]{64}$/u),
      version: '0.0.0',
    });
    expect(await digestPolicy({})).toEqual(plain);
    expect((await digestPolicy({ prompt: 'Judge!' })).prompt_sha256).not.toBe(plain.prompt_sha256);
    expect((await digestPolicy({ gate: 'off' })).gate_sha256).toBeNull();
  });

  const blank = localFiles(async () => ({ ok: true, text: ' \n' }));
  it.each<[string, Partial<Record<InputName, string>>, Partial<World>, RegExp]>([
    ['a blank prompt file', { 'prompt-file': 'p' }, { files: blank }, /prompt-file: It is empty/u],
    ['a missing folder', { 'sandbox-read': '/nowhere' }, {}, /sandbox-read: "\/nowhere" is not a folder/u],
    ['sandbox: off on a privileged trigger', {}, { privileged: true }, /sandbox: The value off is refused/u],
    ['a cost limit without a price', { 'max-cost-usd': '1' }, {}, /max-cost-usd: No price is known/u],
  ])('with %s ends with 52 before any model call', async (_, inputs, more, says) => {
    const { report, asked } = await converse([good], inputs, more);
    expect([report.verdict.exitCode, report.verdict.error]).toEqual([52, expect.stringMatching(says)]);
    expect(asked).toEqual([]);
  });

  it('with sandbox: off and an action that is in the workspace ends with 52, and only the action', async () => {
    const guarded = [path.join(base, 'workspace/action/dist')];
    const action = await converse([good], {}, { guarded });
    expect(action.report.verdict).toMatchObject({
      exitCode: 52,
      error: expect.stringMatching(/sandbox: The value off is refused.*action\/dist is in the workspace/u),
    });
    const { report } = await converse([good], {}, { guarded, entry: 'command-line' });
    expect(report.verdict.exitCode).toBe(0);
  });
});

describe('the policy', () => {
  it('that the pull request changes is reported under the names that the user wrote', async () => {
    const asked: unknown[] = [];
    await writeFile(path.join(base, 'workspace', 'task.md'), 'Judge.');
    const inputs = { 'prompt-file': path.join(base, 'workspace', 'task.md'), gate: '@gate.json' };
    const gate = '{"properties":{"passed":{"const":true}}}';
    const { report } = await converse([good], inputs, {
      files: localFiles(async (file) => ({ ok: true, text: file === 'gate.json' ? gate : 'Judge.' })),
      findPolicyChanges: async (files) => {
        asked.push(...files);
        return [{ what: 'gate', path: 'gate.json', applied: true }];
      },
    });
    expect(asked).toEqual([
      { what: 'gate', path: 'gate.json' },
      { what: 'prompt-file', path: inputs['prompt-file'] },
    ]);
    expect(report.policyChanges).toEqual([{ what: 'gate', path: 'gate.json', applied: true }]);
  });
});

/** Creates a directory of helper programs that contains only this bwrap, if any. */
async function helpersWith(bwrap: string | null): Promise<string> {
  const helpers = path.join(base, 'helpers');
  await mkdir(helpers);
  if (bwrap !== null)
    await writeFile(path.join(helpers, 'bwrap'), `#!/bin/bash\n${bwrap}\n`, { mode: 0o755 });
  return helpers;
}

describe('the sandbox', () => {
  // bubblewrap and sudo are only looked for by an ordinary user.
  beforeEach(() => void vi.spyOn(process, 'getuid').mockReturnValue(1_000));
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ['is not installed', null, 0, /needs bubblewrap/u],
    [
      'cannot start',
      'echo "bwrap: no permissions" >&2; exit 1',
      1,
      /does not start here: bwrap: no permissions\. (?:If|This).*set sandbox to `off`/u,
    ],
  ])('that %s ends the run with 44, whatever the tools are', async (_, bwrap, requests, why) => {
    const helpers = await helpersWith(bwrap);
    for (const tools of ['read_file, edit, shell', 'read_file']) {
      const inputs = { sandbox: 'required', tools };
      const { report, asked } = await converse([good], inputs, { programFolders: [helpers] });
      expect(report).toMatchObject({ verdict: { reason: 'sandbox', exitCode: 44 }, isolation: 'none' });
      expect([report.payload, report.verdict.error]).toEqual([null, expect.stringMatching(why)]);
      expect(asked.length).toBeLessThanOrEqual(requests);
    }
  });

  it.each<[string, Reply | Promise<Reply>]>([
    ['never answers', new Promise<never>(() => undefined)],
    ['submits', good],
    ['talks', { text: 'All good.' }],
  ])('that isolates nothing ends the run with 44 although the model %s', async (_, reply) => {
    const observed = nothing();
    await serve(() => reply);
    // It starts and isolates nothing, which the self-test detects.
    const helpers = await helpersWith('while [ $# -gt 1 ] && [ "$1" != /bin/sh ]; do shift; done; exec "$@"');
    const inputs = { sandbox: 'required' };
    const report = await run(
      config({ 'base-url': `${model.url}/v1`, ...inputs }),
      world(observed, { programFolders: [helpers] }),
    );
    expect(report).toMatchObject({ verdict: { reason: 'sandbox', exitCode: 44 }, isolation: 'none' });
    expect(observed.published.map((each) => each.payload)).toEqual([null]);
  });

  it('that is still being detected does not delay the end after a signal', async () => {
    const observed = nothing();
    const helpers = await helpersWith(null);
    const started = path.join(base, 'sudo-started');
    const sudo = `#!/bin/sh\necho $$ > '${started}.new' && mv '${started}.new' '${started}'\nexec sleep 60\n`;
    await writeFile(path.join(helpers, 'sudo'), sudo, { mode: 0o755 });
    for (const name of ['unshare', 'nsenter', 'setpriv'])
      await symlink('/bin/true', path.join(helpers, name));
    const pid = () => Number(readFileSync(started, 'utf8'));
    try {
      const listen: World['listen'] = (listener) => {
        void vi.waitFor(pid, { timeout: 10_000 }).then(() => listener.signal('SIGTERM'));
      };
      const report = await run(
        config({ sandbox: 'required' }),
        world(observed, { listen, programFolders: [helpers] }),
      );
      expect(report.verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
      expect(() => process.kill(pid(), 0)).not.toThrow();
    } finally {
      process.kill(pid(), 'SIGKILL');
    }
  });
});
