import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { calls, type Script, submits } from '../support/fakes/model/server.ts';
import { putFiles } from '../support/local.ts';
import { ending, file, record, replay } from '../support/worlds/recorded-run.ts';
import { base, command, good, type Inputs } from '../support/worlds/run.ts';

describe('a replay', () => {
  it('runs the same tools and ends with the same payload, gate and exit code, at no cost', async () => {
    const first = await record([
      { text: 'I look.', ...command('echo real > made.txt') },
      submits({ passed: 'yes' }),
      good,
    ]);
    expect(first.report).toMatchObject({ turnCount: 3, rejections: 1, verdict: { exitCode: 0 } });
    const second = await replay();
    expect(ending(second)).toEqual(ending(first));
  });

  it('evaluates its own gate', async () => {
    await record([submits({ passed: false, summary: 'no' })], { gate: 'off' });
    const { report } = await replay({ gate: 'passed' });
    expect(report.verdict).toMatchObject({ reason: 'gate_not_met', exitCode: 1, published: true });
  });

  const refused = { error: { message: 'tool_choice is not supported' }, status: 400 };
  const refusesForce: Script = (_, at) => [{ text: 'Well.' }, refused][at] ?? good;
  it.each<[string, Script, Inputs, string]>([
    ['an unmet gate', [submits({ passed: false, summary: 'no' })], {}, 'gate_not_met'],
    ['plain text', [{ text: 'I will not.' }], {}, 'plain_text'],
    ['a forced tool call', [{ text: 'Well.' }, good], {}, 'accepted'],
    ['a forced tool choice that the API rejects', refusesForce, {}, 'accepted'],
    ['a refusal', [{ text: '', finishReason: 'content_filter' }], {}, 'refusal'],
    ['too many turns', [command('true')], { 'max-turns': '2' }, 'max_turns'],
    ['a rejected key', [{ error: { message: 'no' }, status: 401 }], {}, 'provider_auth'],
  ])('ends with %s as the recorded run did', async (_, script, inputs, reason) => {
    const first = await record(script, inputs);
    expect(first.report.verdict.reason).toBe(reason);
    expect(ending(await replay(inputs))).toEqual(ending(first));
  });

  it('moves absolute paths to another checkout', async () => {
    putFiles(base, { 'workspace/a.txt': 'workspace', 'elsewhere/a.txt': 'elsewhere' });
    await record([calls('read_file', { path: path.join(base, 'workspace/a.txt') }), good]);
    const { report, events } = await replay({}, { workspace: path.join(base, 'elsewhere') });
    expect(report.verdict.exitCode).toBe(0);
    const results = events.flatMap((event) => (event.type === 'tool_finished' ? [event.result.content] : []));
    expect(results[0]).toContain('elsewhere');
  });

  it('accepts no payload that the recorded run rejected', async () => {
    await record([submits({ passed: 'maybe' }), good]);
    const recorded = await readFile(file(), 'utf8');
    await writeFile(file(), recorded.replace('\\"maybe\\"}', 'true,\\"summary\\":\\"x\\"}'));
    const { report } = await replay();
    expect(report).toMatchObject({ payload: null, verdict: { reason: 'replay_mismatch', exitCode: 1 } });
  });

  it('of a file that does not exist ends with 52, as a replay of nothing', async () => {
    const { report } = await replay();
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toContain('There is no file');
    expect(report).toMatchObject({ replayed: true, model: 'replay of nothing' });
  });

  it('needs no model, key, header or URL, and its cost limit compares with zero', async () => {
    await record([good]);
    const inputs: Inputs = { provider: 'openai', headers: 'X-Key:', 'max-cost-usd': '0.01' };
    expect((await replay(inputs)).report.verdict.exitCode).toBe(0);
    expect((await replay({ provider: 'azure-openai' })).report.verdict.exitCode).toBe(0);
  });

  it('checks whether the pull request changes the recording', async () => {
    await record([good]);
    const findPolicyChanges = vi.fn(async () => []);
    await replay({}, { findPolicyChanges });
    expect(findPolicyChanges).toHaveBeenCalledWith([{ what: 'replay', path: file() }], null);
  });
});

describe('a recorded run', () => {
  it('reports the path of the recording and makes it private to the owner', async () => {
    const { report, notices } = await record([good]);
    expect(report.verdict.exitCode).toBe(0);
    const warning =
      /recorded in .*recording\.jsonl: all that the model says, arguments of structured_output incl/u;
    expect(notices).toContainEqual(expect.stringMatching(warning));
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readFile(file(), 'utf8')).toContain('\\"summary\\":\\"fine\\"');
    expect(report.replayed).toBe(false);
  });

  it('keeps an older recording when it ends before the model is asked', async () => {
    await writeFile(file(), 'older');
    const { report } = await record([good], { schema: '{"type":"string"}' });
    expect(report.verdict.exitCode).toBe(52);
    expect(await readFile(file(), 'utf8')).toBe('older');
  });
});
