import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { calls, type Script, submits } from '../support/fakes/model/server.ts';
import { putFiles } from '../support/local.ts';
import { base, command, ending, file, good, type Inputs, record, replay } from '../support/worlds/run.ts';

it('a replay runs the same tools and ends with the same payload, gate and exit code, at no cost', async () => {
  const look = { text: 'I look.', ...command('echo real > made.txt') };
  const first = await record([look, submits({ passed: 'yes' }), good]);
  expect(first.report).toMatchObject({ turnCount: 3, rejections: 1, verdict: { exitCode: 0 } });
  expect(ending(await replay())).toEqual(ending(first));
});

const red = submits({ passed: false, summary: 'no' });
it('a replay evaluates its own gate', async () => {
  await record([red], { gate: 'off' });
  const { report } = await replay({ gate: 'passed' });
  expect(report.verdict).toMatchObject({ reason: 'gate_not_met', exitCode: 1, published: true });
});

const refused = { error: { message: 'tool_choice is not supported' }, status: 400 };
const refusesForce: Script = (_, at) => [{ text: 'Well.' }, refused][at] ?? good;
it.each<[string, Script, Inputs, string]>([
  ['an unmet gate', [red], {}, 'gate_not_met'],
  ['plain text', [{ text: 'I will not.' }], {}, 'plain_text'],
  ['a forced tool call', [{ text: 'Well.' }, good], {}, 'accepted'],
  ['a forced tool choice that the API rejects', refusesForce, {}, 'accepted'],
  ['a refusal', [{ text: '', finishReason: 'content_filter' }], {}, 'refusal'],
  ['too many turns', [command('true')], { 'max-turns': '2' }, 'max_turns'],
  ['a rejected key', [{ error: { message: 'no' }, status: 401 }], {}, 'provider_auth'],
])('a replay ends with %s as the recorded run did', async (_, script, inputs, reason) => {
  const first = await record(script, inputs);
  expect(first.report.verdict.reason).toBe(reason);
  expect(ending(await replay(inputs))).toEqual(ending(first));
});

it('a replay moves absolute paths to another checkout', async () => {
  putFiles(base, { 'workspace/a.txt': 'workspace', 'elsewhere/a.txt': 'elsewhere' });
  await record([calls('read_file', { path: path.join(base, 'workspace/a.txt') }), good]);
  const { report, events } = await replay({}, { workspace: path.join(base, 'elsewhere') });
  const results = events.flatMap((event) => (event.type === 'tool_finished' ? [event.result.content] : []));
  expect([report.verdict.exitCode, results[0]]).toEqual([0, expect.stringContaining('elsewhere')]);
});

it('a replay accepts no payload that the recorded run rejected', async () => {
  await record([submits({ passed: 'maybe' }), good]);
  const recorded = await readFile(file(), 'utf8');
  await writeFile(file(), recorded.replace('\\"maybe\\"}', 'true,\\"summary\\":\\"x\\"}'));
  const { report } = await replay();
  expect(report).toMatchObject({ payload: null, verdict: { reason: 'replay_mismatch', exitCode: 1 } });
});

it('a replay of a file that does not exist ends with 52, as one of nothing', async () => {
  const verdict = { reason: 'config', exitCode: 52, error: expect.stringContaining('There is no file') };
  const expected = { replayed: true, model: 'replay of nothing', verdict };
  expect((await replay()).report).toMatchObject(expected);
});

it('a replay needs no model, key, header or URL, and its cost limit compares with zero', async () => {
  await record([good]);
  const inputs: Inputs = { headers: 'X-Key:', 'max-cost-usd': '0.01' };
  for (const provider of ['openai', 'azure-openai'])
    expect((await replay({ provider, ...inputs })).report.verdict.exitCode).toBe(0);
});

it('a replay checks whether the pull request changes the recording', async () => {
  await record([good]);
  const findPolicyChanges = vi.fn(async () => []);
  await replay({}, { findPolicyChanges });
  expect(findPolicyChanges).toHaveBeenCalledWith([{ what: 'replay', path: file() }], null);
});

it('a recorded run reports the path of the recording and makes it private to the owner', async () => {
  const { report, notices } = await record([good]);
  expect(report).toMatchObject({ replayed: false, verdict: { exitCode: 0 } });
  const warning = /recorded in .*recording\.jsonl: all that the model says, arguments of structured_output/u;
  expect(notices).toContainEqual(expect.stringMatching(warning));
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect(await readFile(file(), 'utf8')).toContain('\\"summary\\":\\"fine\\"');
});

it('a run that ends before the model is asked keeps an older recording', async () => {
  await writeFile(file(), 'older');
  const { report } = await record([good], { schema: '{"type":"string"}' });
  expect(report.verdict.exitCode).toBe(52);
  expect(await readFile(file(), 'utf8')).toBe('older');
});
