import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { presets } from '../../src/contract/presets.ts';
import type { JsonObject } from '../../src/types.ts';

const open = async () => {
  const preset = presets.get('verdict');
  if (preset === undefined) throw new Error('there is no verdict preset');
  const contract = await createContract(preset.schema);
  return { contract, gate: await createGate(preset.gate, contract) };
};
const finding = { severity: 'error', path: 'a.ts', line: 1, title: 't', message: 'm' };
const raw = (payload: JsonObject) => ({ rawArguments: JSON.stringify(payload), status: 'complete' as const });

describe('the verdict preset', () => {
  it('declares passed, summary and findings, each an output of its own, without a warning', async () => {
    const { contract } = await open();
    expect({ title: contract.title, names: contract.outputNames, warnings: contract.warnings }).toEqual({
      title: 'verdict',
      names: ['passed', 'summary', 'findings'],
      warnings: [],
    });
  });

  it('takes a verdict with findings, and with none', async () => {
    const { contract } = await open();
    for (const payload of [
      { passed: true, summary: 's' },
      { passed: true, summary: 's', findings: [] },
      {
        passed: true,
        summary: 's',
        findings: [
          { ...finding, severity: 'warning' },
          { severity: 'note', message: 'm' },
        ],
      },
      { passed: false, summary: 's', findings: [finding] },
      { passed: false, summary: 's' },
    ]) {
      expect(contract.check(raw(payload))).toEqual({ ok: true, payload, repaired: null });
    }
  });

  it('refuses a contradiction: passed beside an error', async () => {
    const { contract } = await open();
    const check = contract.check(raw({ passed: true, summary: 's', findings: [finding] }));
    expect(check).toMatchObject({
      ok: false,
      issues: [{ path: '/findings/0/severity', keyword: 'enum' }, { keyword: 'if' }],
    });
  });

  it.each<JsonObject>([
    { passed: 'true', summary: 's' },
    { passed: true },
    { passed: true, summary: '' },
    { passed: true, summary: 's', extra: 1 },
    { passed: false, summary: 's', findings: [{ ...finding, severity: 'fatal' }] },
    { passed: false, summary: 's', findings: [{ ...finding, line: 0 }] },
    { passed: false, summary: 's', findings: [{ ...finding, more: 1 }] },
  ])('refuses %j', async (payload) => {
    const { contract } = await open();
    expect(contract.check(raw(payload)).ok).toBe(false);
  });

  it('has passed as its gate', async () => {
    const { gate } = await open();
    expect(gate.evaluate({ passed: true }).status).toBe('met');
    expect(gate.evaluate({ passed: false }).status).toBe('not_met');
  });

  it('is small enough to be sent on every turn', () => {
    expect(JSON.stringify(presets.get('verdict')?.schema).length).toBeLessThan(2_000);
  });
});
