import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readTrustedFile } from '../../src/config/paths.ts';
import { signEnvelope } from '../../src/envelope/signature.ts';
import { type MergeInputName, parseMergeConfig } from '../../src/merge/config.ts';
import { type MergeWorld, runMerge } from '../../src/merge/run.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { localFiles, quietWorld } from '../support/worlds/quiet.ts';

type Inputs = Partial<Record<MergeInputName, string>>;

const SUBJECT = sampleReport().subject as Subject;
const KEY = 'k'.repeat(32);

const folders = makeFolder();
let base = '';
beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'merge-'));
  mkdirSync(path.join(base, 'verdicts'));
});

/** The envelope of a leg that passes. */
function passing(leg: string, changes: Partial<Report> = {}): JsonObject {
  return envelope(sampleReport({ leg, payload: { passed: true }, ...changes }), (text) => text);
}

const signed = (each: JsonObject) => ({ ...each, signature: signEnvelope(each, KEY) });

function keep(name: string, content: JsonObject): void {
  writeFileSync(path.join(base, 'verdicts', `${name}.json`), JSON.stringify(content));
}

async function merge(inputs: Inputs = {}, more: Partial<MergeWorld> = {}) {
  const steps: string[] = [];
  const given = { verdicts: 'verdicts', expect: 'api, web', ...inputs };
  const raw = new Map(Object.entries(given) as [MergeInputName, string][]);
  const report = await runMerge(parseMergeConfig(raw), {
    ...quietWorld(base, base),
    runFolder: null,
    subject: SUBJECT,
    results: base,
    files: localFiles((name) => readTrustedFile(name, { root: base, outside: 'refused' })),
    workspace: base,
    anyCommit: false,
    openReporters: async () => [
      { name: 'probe', report: async () => void steps.push('reporter') },
      { name: 'outputs', publish: () => void steps.push('outputs') },
    ],
    ...more,
  });
  const { exitCode, conclusion, reason, published, error } = report.verdict;
  const { merged } = envelope(report, knowSecrets('correct-horse').mask);
  return { report, merged, steps, error, end: [exitCode, conclusion, reason, published] };
}

const UNDECIDED = [1, 'inconclusive', 'undecided', false];
const WRONG = [52, 'inconclusive', 'config', false];
const PASSED = [0, 'success', 'accepted', true];
const FAILED = [1, 'failure', 'gate_not_met', true];

describe('a merge', () => {
  it('writes the outputs, and reports last, whatever its verdict', async () => {
    const order = ['outputs', 'reporter'];
    expect(await merge({ votes: 'most' })).toMatchObject({ end: WRONG, steps: order });
    const nowhere = { end: WRONG, error: expect.stringContaining('nowhere" cannot be listed (ENOENT)') };
    expect(await merge({ verdicts: 'nowhere' })).toMatchObject(nowhere);
    expect(await merge()).toMatchObject({ end: WRONG, steps: order });
    keep('a', passing('api'));
    expect(await merge()).toMatchObject({ end: UNDECIDED, steps: order, merged: { tally: { abstain: 1 } } });
    keep('b', passing('web'));
    expect(await merge()).toMatchObject({ end: PASSED, steps: order, merged: { tally: { pass: 2 } } });
  });

  it('is refused for envelopes that are not signed with its key', async () => {
    keep('a', signed(passing('api')));
    keep('b', signed(passing('web')));
    expect(await merge({ 'signing-key': KEY })).toMatchObject({ end: PASSED });
    const wrong = (error: string) => ({ end: WRONG, error: expect.stringContaining(error) });
    const forged = wrong('The folder holds 2 files that cannot count. "a.json": its signature does not fit');
    expect(await merge({ 'signing-key': 'x'.repeat(32) })).toMatchObject(forged);
    // A later attempt whose envelope cannot count must not leave the earlier verdict in place.
    const subject = { ...SUBJECT, run_attempt: 2 };
    keep('c', passing('web', { subject, payload: { passed: false } }));
    const unsigned = wrong('The folder holds 1 file that cannot count. "c.json": it is not signed');
    expect(await merge({ 'signing-key': KEY }, { subject })).toMatchObject(unsigned);
  });

  it('has the commit that its legs judged, if they judged one', async () => {
    const judged = async (...commits: readonly (string | null)[]) => {
      for (const [at, checked_out] of commits.entries())
        keep(`${at}`, passing(at === 0 ? 'api' : 'web', { subject: { ...SUBJECT, checked_out } }));
      return (await merge({}, { subject: { ...SUBJECT, checked_out: 'e'.repeat(40) } })).report.subject;
    };
    const [one, other] = ['b'.repeat(40), 'c'.repeat(40)];
    expect(await judged(one, one)).toEqual({ ...SUBJECT, checked_out: one });
    for (const second of [other, null])
      expect(await judged(one, second)).toEqual({ ...SUBJECT, checked_out: null });
    const subject = { ...SUBJECT, sha: other };
    keep('0', passing('api', { subject }));
    keep('1', passing('web', { subject }));
    expect(await merge()).toMatchObject({ end: WRONG });
    expect((await merge({}, { anyCommit: true })).report.subject?.sha).toBe(other);
  });

  it('ends with a signal while it reads', async () => {
    keep('a', passing('api'));
    const listeners: EndListener[] = [];
    const listen = (given: EndListener) => void listeners.push(given);
    const findPolicyChanges = async () => {
      listeners.at(-1)?.signal('SIGTERM');
      return [];
    };
    const { end } = await merge({}, { listen, findPolicyChanges });
    expect(end).toEqual([130, 'inconclusive', 'cancelled', false]);
  });
});

describe('the gate of a merge', () => {
  const gate = JSON.stringify({ properties: { score: { minimum: 5 } }, required: ['score'] });

  const ended = { conclusion: 'failure', reason: 'gate_not_met', subtype: 'gate_not_met' } as const;
  const unmet: Partial<Report> = {
    verdict: { ...ended, exitCode: 1, published: true, error: 'No.' },
    gate: { status: 'not_met', issues: [] },
  };
  it.each<[string, JsonObject, readonly unknown[], Partial<Report>?]>([
    ['auto', { passed: true }, PASSED],
    ['auto', { passed: false }, FAILED],
    ['auto', { score: 5 }, WRONG],
    ['off', { passed: false }, PASSED],
    ['safe', { safe: true }, PASSED],
    ['safe', { safe: 'true' }, FAILED],
    ['safe', { passed: true }, FAILED],
    [gate, { score: 5 }, PASSED],
    [gate, { score: 4 }, FAILED],
    ['{"properties":', { passed: true }, WRONG],
    ['off', { passed: true }, FAILED, unmet],
  ])('%s on %j', async (given, payload, end, own = { gate: { status: 'none', issues: [] } }) => {
    keep('a', passing('api', { payload, ...own }));
    expect(await merge({ gate: given, expect: 'api' })).toMatchObject({ end });
  });

  it('in a file is compared with the changes of the pull request, and its hash is recorded', async () => {
    writeFileSync(path.join(base, 'gate.json'), gate);
    keep('a', passing('api', { payload: { score: 4 } }));
    const change = { what: 'gate', path: 'gate.json', change: 'modified', applied: true } as const;
    const findPolicyChanges = vi.fn(async () => [change]);
    const { end, report } = await merge({ gate: '@gate.json', expect: 'api' }, { findPolicyChanges });
    expect([end, report.policyChanges]).toEqual([FAILED, [change]]);
    expect(findPolicyChanges).toHaveBeenCalledWith([{ what: 'gate', path: 'gate.json' }], null);
    expect(report.policy.gate_sha256).toMatch(/^[0-9a-f]{64}$/u);
  });
});
