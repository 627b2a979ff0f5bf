import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { presets } from '../../src/contract/presets.ts';
import { readFindings } from '../../src/reporters/findings.ts';
import type { JsonObject } from '../../src/types.ts';
import { samples } from './preset-samples.ts';

const open = async (name: string) => {
  const { schema = {}, gate = { kind: 'none' } as const } = presets.get(name) ?? {};
  const contract = await createContract(schema);
  const check = (payload: JsonObject) =>
    contract.accept({ rawArguments: JSON.stringify(payload), status: 'complete' });
  return { contract, check, gate: await createGate(gate, contract) };
};

it('each preset has samples', () => {
  expect([...presets.keys()]).toEqual(Object.keys(samples));
});

describe.each(Object.entries(samples))('the preset %s', (name, sample) => {
  const { outputs, met, unmet, contradictions, refused } = sample;
  it('declares its properties, each with its own output and without a warning, on few bytes', async () => {
    const { contract, gate } = await open(name);
    expect([contract.schema['title'], ...contract.outputNames]).toEqual([name, ...outputs]);
    expect([...contract.warnings, ...gate.warnings]).toEqual([]);
    // It is sent on every turn.
    expect(JSON.stringify(contract.schema).length).toBeLessThan(4_000);
  });

  it.each([...met, ...unmet])('accepts %j, and its gate is met if it has passed', async (payload) => {
    const { check, gate } = await open(name);
    expect(await check(payload)).toEqual({ ok: true, payload, repaired: null });
    const issue = { path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' };
    const notMet = { status: 'not_met', issues: expect.arrayContaining([issue]) };
    expect(gate.evaluate(payload)).toEqual(met.includes(payload) ? { status: 'met', issues: [] } : notMet);
  });

  // A message that found fault with the finding would talk a model into playing it down.
  it.each(contradictions)('rejects %j, and asks for passed to be false', async (payload) => {
    const { check, gate } = await open(name);
    const issue = expect.objectContaining({ path: '/passed', message: 'must be exactly false.' });
    expect(await check(payload)).toMatchObject({ ok: false, issues: expect.arrayContaining([issue]) });
    if (name !== 'verdict' && name !== 'code-review') expect(gate.evaluate(payload).status).toBe('not_met');
  });

  it.each(refused)('rejects %j', async (payload) => {
    const { check } = await open(name);
    expect((await check(payload)).ok).toBe(false);
  });

  it('has a gate that an absent property does not meet', async () => {
    const { gate } = await open(name);
    const { status, issues } = gate.evaluate({});
    expect(status).toBe('not_met');
    for (const [gone, payload] of outputs.flatMap((gone) => met.map((each) => [gone, each] as const))) {
      const { [gone]: _, ...rest } = payload;
      const isWanted = issues.some(({ message }) => message.includes(`"${gone}"`));
      expect([gone, gate.evaluate(rest).status]).toEqual([gone, isWanted ? 'not_met' : 'met']);
    }
  });

  it('has rows that annotations and SARIF can read, each with its own severity', () => {
    const rows = unmet.flatMap(({ findings, failures }) => findings ?? failures ?? []);
    const read = unmet.flatMap((payload) => readFindings(payload));
    expect(read.length).toBe(rows.length);
    const place = { path: expect.stringMatching(/^a\./u), line: 1 };
    const title = expect.stringMatching(/^(?:t|a > b)$/u);
    expect(read.find((each) => each.place !== null)).toMatchObject({
      ...{ severity: 'error', place, message: 'm', title },
    });
  });
});

it.each([
  [50, true],
  [51, false],
])('a test report of %i failures is accepted: %s', async (count, ok) => {
  const failure = { test: 'a > b', path: 'a.test.ts', line: 1, message: 'm' };
  const counts = { test_count: 3, failure_count: 90, skipped_count: 0, failures: Array(count).fill(failure) };
  const { check } = await open('test-report');
  const checked = await check({ passed: false, summary: 's', command: 'npm test', ...counts });
  expect(checked.ok).toBe(ok);
});
