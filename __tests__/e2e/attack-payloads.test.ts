/** Attacks by a payload, through the committed bundle: what is published, and what a later step reads. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allSettings } from '../support/attacks/backends.ts';
import { VERDICT_SCHEMA } from '../support/attacks/batch.ts';
import { type AttackPull, openAttackPull } from '../support/attacks/pull-request.ts';
import { type AttackRow, payloadRows } from '../support/attacks/rows.ts';
import { type AttackResult, runAttackStep } from '../support/attacks/step.ts';
import { ATTACK_KEY, type AttackWorld, createAttackWorld } from '../support/attacks/world.ts';
import { type Reply, submits } from '../support/fakes/model/server.ts';
import { effectsOf, parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { actionsIn, render, tagsOf } from '../support/texts/gfm.ts';

const GATE = { required: ['verdict'], properties: { verdict: { const: 'pass' } } };
/** Without an isolation backend on this host the payload attacks still run. */
const [{ wall } = { wall: 'bwrap' as const }] = allSettings;
const sandbox = allSettings.length === 0 ? 'off' : 'required';

let world: AttackWorld;
let pull: AttackPull;
let runs = 0;
beforeAll(async () => {
  world = await createAttackWorld();
  pull = await openAttackPull(world);
});
afterAll(async () => {
  await world.close();
  // The fake GitHub throws its complaints here.
  await pull.hub.close();
});

/** The turns of a row. Every later request is answered by prose. */
function turnsOf({ tool, args }: AttackRow): readonly Reply[] {
  if (tool === 'structured_output_raw') return [submits(args['raw'])];
  const { calls } = args;
  if (Array.isArray(calls)) return calls.map(([, text]) => ({ text }));
  return [submits(JSON.stringify(args).replaceAll('${KEY_B64}', Buffer.from(ATTACK_KEY).toString('base64')))];
}

function run(row: AttackRow): Promise<AttackResult> {
  const turns = turnsOf(row);
  runs += 1;
  return runAttackStep({
    ...pull.step('pull_request', runs),
    world,
    wall,
    script: (_request, index) => turns[index] ?? { text: 'That is all.' },
    inputs: {
      schema: JSON.stringify(row.schema ?? VERDICT_SCHEMA),
      gate: JSON.stringify(GATE),
      sandbox,
      ...pull.inputs,
    },
  });
}

/** A submission of this summary. */
const passWith = (summary: string): AttackRow => ({
  id: '',
  tool: 'structured_output',
  args: { verdict: 'pass', summary },
  expect: {},
});

/** No output of the payload, and nothing that a later step could read as a pass. */
function expectNothingPublished(result: AttackResult): void {
  expect(result.exitCode).not.toBe(0);
  expect([...result.outputs.keys()].filter((name) => !name.startsWith('run-'))).toEqual([]);
  expect(result.outputs.get('run-conclusion')).not.toBe('success');
  expect(JSON.parse(result.envelope).gate?.status).not.toBe('met');
}

/** The payload's outputs and no others, each exactly as it was submitted. */
function expectExactOutputs(row: AttackRow, result: AttackResult): void {
  const own = Object.fromEntries([...result.outputs].filter(([name]) => !name.startsWith('run-')));
  const { verdict, summary, ...rest } = row.args;
  if (Object.keys(rest).length > 0) {
    expect(own).toEqual({});
    return;
  }
  const { structured_output: whole = '', ...each } = own;
  expect(each).toEqual({ verdict, summary });
  expect(JSON.parse(whole)).toEqual({ verdict, summary });
}

/** As rendered by GitHub, the page has no heading, fold or link except ours. */
function expectOwnShape(result: AttackResult): void {
  const shape = tagsOf(render(result.summary)).filter((tag) => /^(?:h\d|details|summary|a)$/u.test(tag));
  expect(shape).toEqual(['h2', 'details', 'summary', 'details', 'summary']);
}

/** The reports of this run on GitHub: one inert comment, and a status that fits the verdict. */
function expectInertComment(result: AttackResult): void {
  const { hub, head, strangers } = pull;
  const { own, theirs } = pull.comments();
  expect([own.length, theirs]).toEqual([1, strangers]);
  const [marker = '', ...lines] = (own[0] ?? '').split('\n');
  expect(marker).toMatch(new RegExp(`^<!-- structured-agent:[0-9a-f]{32} commit=${head} run=${runs} `, 'u'));
  const page = lines.join('\n');
  for (const text of [page, result.summary]) {
    expect(text).toMatch(/## (?:✅ Success|❌ Failure|⚠️ Inconclusive)/u);
    expect(actionsIn(text, 'https://github.com/example/cart/')).toEqual([]);
    expect(text).toContain('<code>.github/workflows/ci.yml</code>');
  }
  const status = hub.statuses().at(-1);
  const state = { success: 'success', failure: 'failure' }[result.outputs.get('run-conclusion') ?? ''];
  expect(status).toMatchObject({ sha: head, state: state ?? 'error' });
  expect(status?.description).not.toMatch(/[^\P{C}]|[<@#]/u);
  expect(`${page}${status?.description}`).not.toContain(ATTACK_KEY);
}

/** The output in single quotes in a script runs nothing, and keeps its value. */
function expectShellSafe(row: AttackRow, result: AttackResult): void {
  const text = result.outputs.get('structured_output') ?? '';
  expect(text).not.toMatch(/[\n\r'`]|\$\(|\$\{/u);
  const read = execFileSync('/bin/sh', ['-c', `printf %s '${text}'; ls pwn 2>/dev/null; true`], {
    cwd: world.base,
    encoding: 'utf8',
  });
  expect(JSON.parse(read)).toEqual(row.args);
}

describe('a hostile payload', () => {
  it.each(payloadRows)('$id', async (row) => {
    const result = await run(row);
    const { gate, outputs_exact: exact, md_inert: inert, json_shell_safe: shellSafe } = row.expect;
    const reason = gate === 'fail-closed' ? 'plain_text' : row.expect['reason'];
    if (gate !== undefined) expectNothingPublished(result);
    if (reason !== undefined) expect(result.outputs.get('run-reason')).toBe(reason);
    if (gate === 'invalid' || gate === 'reject-duplicate-keys')
      expect(JSON.parse(result.envelope).rejections).not.toBe(0);
    if (exact === 1) expectExactOutputs(row, result);
    if (inert === 1) expectOwnShape(result);
    if (shellSafe === 1) expectShellSafe(row, result);
    expect(result.outputs.get('run-exit-code')).toBe(String(result.exitCode));
    const log = result.stdout.toString();
    const commands = parseLog(log);
    expect(parseLog(withoutStopCommands(log))).toEqual(commands);
    expect(effectsOf(commands)).toMatchObject({ outputs: new Map(), state: new Map(), failures: [] });
    expect([result.stderr.toString(), result.commandFiles]).toEqual(['', '']);
    expectInertComment(result);
    expect(log.replace(/^::add-mask::.*$/gmu, '')).not.toContain(ATTACK_KEY);
  });

  it('A12 detects the key in other encodings, and publishes none of them', async () => {
    const forms = [[...ATTACK_KEY].toReversed().join(''), Buffer.from(ATTACK_KEY).toString('hex')];
    for (const form of forms) {
      const result = await run(passWith(`see ${form}.`));
      expectNothingPublished(result);
      expect(result.outputs.get('run-reason')).toBe('secret_in_payload');
      const left = [result.outputText, result.summary, result.envelope, result.transcript].join('\n');
      expect(left).not.toContain(form);
    }
  });

  it('outputs_bounded: outputs fit the limits of later steps, and the result file has the whole payload', async () => {
    const row = passWith('A'.repeat(200_000));
    const result = await run(row);
    expect(result.exitCode).toBe(0);
    for (const [name, value] of result.outputs)
      expect(Buffer.byteLength(value)).toBeLessThan(name === 'structured_output' ? 1_048_577 : 131_072);
    expect(Buffer.byteLength(result.outputText)).toBeLessThan(2 * 1_048_576);
    expect(Buffer.byteLength(result.summary)).toBeLessThan(1_048_576);
    expect(JSON.parse(result.envelope)).toMatchObject({ structured_output: row.args });
  });
});
