/** Attacks by a payload, through the committed bundle: what is published, and what a later step reads. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AttackRow, callsOf, payloadRows, replyOf } from '../support/attacks/rows.ts';
import { type AttackResult, allSettings, findLeaks, runAttackStep } from '../support/attacks/run.ts';
import { ATTACK_KEY, type AttackWorld, createAttackWorld, STRANGERS } from '../support/attacks/world.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { actionsIn, render, tagsOf } from '../support/texts/gfm.ts';

const GATE = { required: ['verdict'], properties: { verdict: { const: 'pass' } } };
/** Without an isolation backend on this host the payload attacks still run. */
const [{ wall } = { wall: 'bwrap' as const }] = allSettings;
const sandbox = allSettings.length === 0 ? 'off' : 'required';
const large: AttackRow = {
  ...{ id: 'outputs_bounded', tool: 'structured_output', expect: { outputs_bounded: 1 } },
  args: { verdict: 'pass', summary: 'A'.repeat(200_000) },
};

type Check = (result: AttackResult, payload: AttackRow['args'], expected: unknown) => void;
/** What a row can expect of a run with this payload. */
const CHECKS: Readonly<Record<string, Check>> = {
  /** No output of the payload, and nothing that a later step could read as a pass. */
  gate({ exitCode, outputs, envelope }, _, expected) {
    const { gate, rejections } = JSON.parse(envelope);
    expect(exitCode).not.toBe(0);
    expect([...outputs.keys()].filter((name) => !name.startsWith('run-'))).toEqual([]);
    expect(outputs.get('run-conclusion')).not.toBe('success');
    expect(gate?.status).not.toBe('met');
    if (expected === 'fail-closed') expect(outputs.get('run-reason')).toBe('plain_text');
    if (expected === 'invalid' || expected === 'reject-duplicate-keys') expect(rejections).not.toBe(0);
  },
  reason({ outputs }, _, expected) {
    expect(outputs.get('run-reason')).toBe(expected);
  },
  /** The payload's outputs and no others, each exactly as it was submitted. */
  outputs_exact({ outputs }, { verdict, summary, ...rest }) {
    const own = Object.fromEntries([...outputs].filter(([name]) => !name.startsWith('run-')));
    const { structured_output: whole = 'null', ...each } = own;
    const payload = { verdict, summary };
    const isTaken = Object.keys(rest).length === 0;
    expect([each, JSON.parse(whole)]).toEqual(isTaken ? [payload, payload] : [{}, null]);
  },
  /** Outputs fit the limits of later steps, and the result file has the whole payload. */
  outputs_bounded({ exitCode, outputs, outputText, summary, envelope }, payload) {
    expect(exitCode).toBe(0);
    for (const [name, value] of outputs)
      expect(Buffer.byteLength(value)).toBeLessThan(name === 'structured_output' ? 1_048_577 : 131_072);
    expect(Buffer.byteLength(outputText)).toBeLessThan(2 * 1_048_576);
    expect(Buffer.byteLength(summary)).toBeLessThan(1_048_576);
    expect(JSON.parse(envelope)).toMatchObject({ structured_output: payload });
  },
  /** As rendered by GitHub, the page has no heading, fold or link except ours. */
  md_inert({ summary }) {
    const shape = tagsOf(render(summary)).filter((tag) => /^(?:h\d|details|summary|a)$/u.test(tag));
    expect(shape).toEqual(['h2', ...Array(3).fill(['details', 'summary'])].flat());
  },
  /** The output in single quotes in a script runs nothing, and keeps its value. */
  json_shell_safe({ outputs }, payload) {
    const text = outputs.get('structured_output') ?? '';
    expect(text).not.toMatch(/[\n\r'`]|\$\(|\$\{/u);
    const script = `printf %s '${text}'; ls pwn 2>/dev/null; true`;
    const read = execFileSync('/bin/sh', ['-c', script], { cwd: world.base, encoding: 'utf8' });
    expect(JSON.parse(read)).toEqual(payload);
  },
};

/** The reports of this run on GitHub: one inert comment, and a status that fits the verdict. */
function expectInertComment(result: AttackResult): void {
  const { hub, head, mark, comments } = world.pull;
  const own = new RegExp(`^<!-- structured-agent:[0-9a-f]{32} ${mark()}.*\n`, 'u');
  expect(comments()).toEqual([...STRANGERS, expect.stringMatching(own)]);
  const page = comments().at(-1)?.replace(own, '') ?? '';
  for (const text of [page, result.summary]) {
    expect(text).toMatch(/## (?:✅|❌|⚠️) [^\n]*(?:passed|no verdict)/u);
    expect(actionsIn(text, /^https:\/\/github\.com\/example\/cart\//u)).toEqual([]);
    expect(text).toContain('<code>.github/workflows/ci.yml</code>');
  }
  const status = hub.statuses().at(-1);
  const state = { success: 'success', failure: 'failure' }[result.outputs.get('run-conclusion') ?? ''];
  expect(status).toMatchObject({ sha: head, state: state ?? 'error' });
  expect(status?.description).not.toMatch(/[^\P{C}]|[<@#]/u);
  expect(`${page}${status?.description}`).not.toContain(ATTACK_KEY);
}

let world: AttackWorld;
beforeAll(async () => {
  world = await createAttackWorld();
});
afterAll(() => world.close());

it.each([...payloadRows, large])('$id', async (row) => {
  const calls = callsOf(row, world.names);
  const result = await runAttackStep({
    world,
    wall,
    // Every later request is answered by prose.
    script: (_, index) => replyOf(calls[index] ?? { tool: 'text', args: { text: 'That is all.' } }),
    inputs: {
      ...(row.schema === undefined ? {} : { schema: JSON.stringify(row.schema) }),
      ...{ gate: JSON.stringify(GATE), sandbox },
    },
  });
  for (const [name, expected] of Object.entries(row.expect))
    CHECKS[name]?.(result, calls.at(-1)?.args ?? {}, expected);
  expect(result.outputs.get('run-exit-code')).toBe(String(result.exitCode));
  const log = result.stdout.toString();
  const commands = parseLog(log);
  expect(parseLog(withoutStopCommands(log))).toEqual(commands);
  const harmless = /^(?:add-mask|group|endgroup|error|warning|notice)$/u;
  expect(commands.filter(({ name }) => !harmless.test(name))).toEqual([]);
  expect([result.stderr.toString(), result.commandFiles]).toEqual(['', '']);
  expectInertComment(result);
  const { outputText, summary, envelope, transcript } = result;
  const unmasked = log.replace(/^::add-mask::.*$/gmu, '');
  expect([unmasked, outputText, summary, envelope, transcript].flatMap(findLeaks)).toEqual([]);
});
