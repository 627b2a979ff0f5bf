import { rm } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readTrustedFile } from '../../src/config/workspace-file.ts';
import { signEnvelope } from '../../src/envelope/signature.ts';
import { createRecordingFile } from '../../src/replay/recording-file.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { World } from '../../src/run/world.ts';
import { coverageJson } from '../../src/text/coverage.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { unseenCoverage } from '../reporters/sample-coverage.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { localFiles } from '../support/worlds/quiet.ts';
import { type Inputs, makeReuseWorld, PAYLOAD, type ReuseWorld, subject } from '../support/worlds/reuse.ts';

const KEY = 'k'.repeat(32);

/** The fields of an envelope that contain the payload. */
const saying = (summary: string): JsonObject => {
  const payload = { ...PAYLOAD, summary };
  return { structured_output: payload, structured_result: payload, result: JSON.stringify(payload) };
};

describe.runIf(HAS_BWRAP)('a run with a reusable verdict', () => {
  let world: ReuseWorld;
  let verdicts = '';
  let notices: readonly string[] = [];
  beforeAll(async () => {
    world = await makeReuseWorld();
    ({ verdicts, notices } = world);
    await world.first();
  });
  beforeEach(() => world.reset());
  afterAll(() => world.close());

  const startRun = (inputs: Inputs = {}, more: Partial<World> = {}) => world.startRun(inputs, more);
  const toEnvelope = (report: Report) => world.toEnvelope(report);
  const keep = (name: string, file: JsonObject | string) => world.keep(name, file);
  const first = () => world.first();
  const wasAsked = () => world.wasAsked();

  it('ends at once with the earlier payload and sends nothing to a model', async () => {
    const before = toEnvelope(await startRun());
    expect(wasAsked()).toBe(true);
    await keep('a', before);
    world.git('commit', '-qm', 'merge', '--allow-empty');
    const group = { ref: 'refs/heads/gh-readonly-queue/main/pr-7', event: 'merge_group', pull_request: null };
    const queue: Subject = { ...subject, ...group, sha: 'b'.repeat(40), run_id: '200' };
    const report = await startRun({}, { subject: queue });
    expect(wasAsked()).toBe(false);
    expect(report).toMatchObject({
      verdict: { conclusion: 'success', reason: 'accepted', exitCode: 0 },
      payload: PAYLOAD,
      gate: { status: 'met' },
      turnCount: 0,
      turns: [],
      costUsd: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
      model: 'scripted-1',
      changedFiles: 0,
      reuse: { from: { run_id: '100', run_attempt: 1, session_id: before['session_id'] } },
    });
    expect(notices).toContain(
      'info: Reused the verdict of run 100 (attempt 1): the judged files, prompt, schema, model and version are the same. No model was asked.',
    );
    expect(notices.filter((text) => /^warning: .*reuse/u.test(text))).toEqual([
      expect.stringMatching(/without a signing-key/u),
    ]);
  });

  it('has the evidence of the earlier run, or none if its envelope has none', async () => {
    const { evidence: _, ...rest } = await first();
    const evidence = { context: 'missing', tool_calls: 4, findings: [] };
    await keep('a', { ...rest, evidence });
    const report = await startRun();
    expect(wasAsked()).toBe(false);
    expect(report.evidence).toEqual({ context: 'missing', toolCalls: 4, findings: [] });
    await keep('a', rest);
    expect((await startRun()).evidence).toBeNull();
    expect(wasAsked()).toBe(false);
  });

  it('has the coverage of the earlier run, whose model was shown the change', async () => {
    const envelope = await first();
    const evidence = {
      context: 'complete',
      tool_calls: 4,
      coverage: coverageJson(unseenCoverage, (text) => text),
      findings: [],
    };
    await keep('a', { ...envelope, evidence });
    const report = await startRun();
    expect(wasAsked()).toBe(false);
    expect(report.evidence?.coverage).toEqual(unseenCoverage);
  });

  it('resolves the files of findings as the earlier run did when there is one entry for each finding', async () => {
    const payload = { ...PAYLOAD, findings: [{ severity: 'warning', path: 'index.js', message: 'x' }] };
    const found = { structured_output: payload, structured_result: payload, result: JSON.stringify(payload) };
    const located = async (...paths: string[]) => {
      const evidence = { context: 'none', tool_calls: 1, findings: paths.map((file) => ({ path: file })) };
      await keep('a', { ...(await first()), ...found, evidence });
      return (await startRun()).evidence?.findings;
    };
    expect(await located('packages/web/index.js')).toEqual([{ path: 'packages/web/index.js' }]);
    expect(await located('a', 'b')).toEqual([{ path: null }]);
  });

  it('names the run whose model was asked when verdicts are reused in a chain', async () => {
    await keep('a', await first());
    const second = await startRun({}, { subject: { ...subject, run_id: '200' } });
    await rm(path.join(verdicts, 'a.json'));
    await keep('b', toEnvelope(second));
    const third = await startRun({}, { subject: { ...subject, run_id: '300' } });
    expect(third.reuse?.from).toMatchObject({ run_id: '100' });
  });

  it('ignores an envelope whose payload differs from its text', async () => {
    await keep('a', { ...(await first()), ...saying('forged'), result: JSON.stringify(PAYLOAD) });
    expect((await startRun()).payload).not.toMatchObject({ summary: 'forged' });
    expect(wasAsked()).toBe(true);
  });

  it('prefers the newest of several verdicts, by run number and not by file name', async () => {
    const before = await first();
    const at = (run_id: string, run_attempt: number, summary: string): JsonObject => ({
      ...before,
      ...saying(summary),
      subject: { ...subject, run_id, run_attempt },
    });
    await keep('a', at('1000', 2, 'newest'));
    await keep('b', at('1000', 1, 'older attempt'));
    await keep('c', at('999', 3, 'older run'));
    expect((await startRun()).payload).toMatchObject({ summary: 'newest' });
  });

  it('treats a reused verdict as old as the run that asked the model', async () => {
    const before = await first();
    const { key, tree } = (await startRun()).reuse ?? {};
    const from = { run_id: '50', run_attempt: 1, session_id: 'old' };
    await keep('a', {
      ...before,
      ...saying('of run 50'),
      subject: { ...subject, run_id: '900' },
      reuse: { key: key ?? '', tree: tree ?? '', from },
    });
    expect((await startRun()).reuse?.from).toEqual(from);
    await keep('b', before);
    expect(await startRun()).toMatchObject({ payload: PAYLOAD, reuse: { from: { run_id: '100' } } });
  });

  it('requires signed envelopes on a privileged trigger', async () => {
    const report = await startRun({}, { privileged: true });
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toMatch(/^reuse-from is refused on pull_request without a signing-key/u);
    expect(wasAsked()).toBe(false);
    expect((await startRun({ 'signing-key': KEY }, { privileged: true })).verdict.exitCode).toBe(0);
  });

  it('evaluates the gate again', async () => {
    await keep('a', await first());
    const gate = '{"properties":{"summary":{"const":"excellent"}}}';
    wasAsked();
    const report = await startRun({ gate });
    expect(report.verdict).toMatchObject({ conclusion: 'failure', reason: 'gate_not_met', exitCode: 1 });
    expect(wasAsked()).toBe(false);
    await keep('a', toEnvelope(report));
    expect((await startRun({ gate: 'none' })).verdict.reason).toBe('accepted');
    expect(wasAsked()).toBe(false);
  });

  it('ignores envelopes without a valid signature when a key is set, and reports them once', async () => {
    const before = await first();
    await keep('a', before);
    await keep('b', { ...before, signature: signEnvelope(before, 'x'.repeat(32)) });
    wasAsked();
    await startRun({ 'signing-key': KEY });
    expect(wasAsked()).toBe(true);
    const passedOver = notices.filter((text) => text.includes('passed over'));
    expect(passedOver).toEqual([
      expect.stringMatching(
        /^info: 2 files were passed over in reuse-from\. The first is "a\.json": it is not signed: .* signing-key\.$/u,
      ),
    ]);
    expect(notices.filter((text) => text.includes('without a signing-key'))).toEqual([]);
    await keep('c', { ...before, signature: signEnvelope(before, KEY) });
    await startRun({ 'signing-key': KEY });
    expect(wasAsked()).toBe(false);
  });

  it('does not publish a secret of this job in the earlier payload, and treats hostile keys as data', async () => {
    const before = await first();
    const secrets = knowSecrets('sk-canary-0123456789');
    await keep('a', { ...before, ...saying('see sk-canary-0123456789') });
    const report = await startRun({}, { secrets });
    expect(report).toMatchObject({ verdict: { reason: 'secret_in_payload', exitCode: 1 }, payload: null });
    const schema = '{"type":"object","required":["passed"],"properties":{"passed":{"type":"boolean"}}}';
    const open = toEnvelope(await startRun({ schema, gate: 'none' }));
    const text = JSON.stringify(open)
      .replaceAll('"passed":true', '"passed":true,"__proto__":{"passed":false}')
      .replaceAll('\\"passed\\":true', '\\"passed\\":true,\\"__proto__\\":{\\"passed\\":false}');
    await keep('a', text);
    wasAsked();
    const hostile = await startRun({ schema, gate: 'passed' });
    expect(wasAsked()).toBe(false);
    expect(hostile.verdict.reason).toBe('accepted');
    expect(JSON.stringify(hostile.payload)).toContain('"__proto__":{"passed":false}');
  });

  it('records the key when only subject-paths is set', async () => {
    const report = await startRun({ 'reuse-from': '' });
    expect(report.reuse).toMatchObject({ from: null });
    expect(notices.filter((text) => /reuse/u.test(text))).toEqual([]);
  });

  it('replays a recording without reusing a verdict', async () => {
    const file = path.join(world.base, 'temp', 'recording.jsonl');
    const before = toEnvelope(await startRun({}, { recording: createRecordingFile(file) }));
    await keep('a', before);
    wasAsked();
    const files = localFiles((name) =>
      readTrustedFile(name, { root: '/', outside: 'allowed', maxBytes: 1_000_000 }),
    );
    const report = await startRun({ replay: file, model: '', 'base-url': '' }, { files });
    expect(report).toMatchObject({ verdict: { reason: 'accepted' }, replayed: true, reuse: null });
    expect(notices).toContainEqual('info: This run is replayed, so no verdict is reused.');
    expect(wasAsked()).toBe(false);
  });

  it('computes no key without both inputs', async () => {
    expect(await startRun({ 'reuse-from': '', 'subject-paths': '' })).toMatchObject({ reuse: null });
  });

  it('stops on a timeout or a signal', async () => {
    await keep('a', await first());
    expect((await startRun({ 'timeout-minutes': '0.00001' })).verdict.reason).toBe('timeout');
    const listen = (listener: EndListener) => void setTimeout(() => listener.signal('SIGTERM'), 5);
    expect((await startRun({}, { listen })).verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
  });
});
