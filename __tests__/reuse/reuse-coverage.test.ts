/** A reused verdict rests on what the model of the earlier run was shown. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { World } from '../../src/run/world.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { coverageOf, endOf, listedFiles, onPullRequest, readDiff, submit } from '../support/worlds/change.ts';
import { type Inputs, makeReuseWorld, type ReuseWorld } from '../support/worlds/reuse.ts';

describe.runIf(HAS_BWRAP)('a reused verdict', () => {
  let scene: ReuseWorld;
  let model: ScriptedModel;
  let asked = 0;
  /** How many files the model reads before it submits. */
  let reads = 0;
  beforeAll(async () => {
    scene = await makeReuseWorld();
    // One server for all runs, because another address is another model.
    model = await startModel((request) => {
      asked += 1;
      const isFirst = !request.messages.some(({ role }) => role === 'tool');
      return isFirst && reads > 0 ? readDiff(0, reads) : submit('code-review');
    });
  });
  beforeEach(() => scene.reset());
  afterAll(async () => {
    await model.close();
    await scene.close();
  });

  const change = onPullRequest(listedFiles(4));
  async function judge(count: number, inputs: Inputs = {}, more: Partial<World> = change) {
    [asked, reads] = [0, count];
    const usual = { 'base-url': `${model.url}/v1`, schema: 'code-review', 'subject-paths': '.' };
    const report = await scene.startRun({ ...usual, ...inputs }, more);
    await scene.keep(report.sessionId, scene.toEnvelope(report));
    return { report, wasAsked: asked > 0 };
  }

  it('has the coverage of the run whose model was asked', async () => {
    const first = await judge(4);
    expect([first.wasAsked, endOf(first), coverageOf(first)]).toEqual([
      true,
      'success accepted 0',
      'measured, 4 of 4 files',
    ]);
    // In a merge queue the change may be unknown.
    for (const more of [change, {}]) {
      const later = await judge(0, {}, more);
      expect([later.wasAsked, endOf(later), coverageOf(later)]).toEqual([
        false,
        'success accepted 0',
        'measured, 4 of 4 files',
      ]);
    }
  });

  it.each<[string, number, string]>([
    ['of more files', 6, '@@ -1 +1 @@\n-old\n+new'],
    ['of other lines', 4, '@@ -1 +1 @@\n-another\n+one'],
  ])(
    'is not one on the same files about another change, as on another base: one %s',
    async (_, count, patch) => {
      expect(endOf(await judge(4))).toBe('success accepted 0');
      const [first, ...others] = listedFiles(count);
      const other = onPullRequest(
        first === undefined ? [] : [count === 4 ? { ...first, patch } : first, ...others],
      );
      const later = await judge(0, {}, other);
      expect([later.wasAsked, endOf(later)]).toEqual([true, 'inconclusive unsupported 1']);
      // Where no share is required, the same files are enough.
      const off = { 'min-coverage': 'off' };
      expect((await judge(4, off)).wasAsked).toBe(true);
      expect((await judge(0, off, other)).wasAsked).toBe(false);
    },
  );

  it('is one on the same files wherever the lines of the change stand', async () => {
    await judge(4);
    const moved = listedFiles(4).map((file) => ({
      ...file,
      patch: file.patch?.replaceAll('@@ -1', '@@ -3') ?? null,
    }));
    expect((await judge(0, {}, onPullRequest(moved))).wasAsked).toBe(false);
  });

  it('is not one of a run that had to rest on less', async () => {
    const first = await judge(2, { 'min-coverage': 'off' });
    expect([endOf(first), coverageOf(first)]).toEqual(['success accepted 0', 'measured, 2 of 4 files']);
    const later = await judge(4);
    expect([later.wasAsked, coverageOf(later)]).toEqual([true, 'measured, 4 of 4 files']);
  });

  it('is not one that needed no coverage because it was red, where this gate is met', async () => {
    const strict = { gate: '{"properties":{"passed":{"const":false}}}' };
    const first = await judge(0, strict);
    expect([endOf(first), coverageOf(first)]).toEqual(['failure gate_not_met 1', 'measured, 0 of 4 files']);
    const again = await judge(0, strict);
    expect([again.wasAsked, endOf(again)]).toEqual([false, 'failure gate_not_met 1']);
    const later = await judge(4);
    expect([later.wasAsked, endOf(later)]).toEqual([true, 'success accepted 0']);
  });

  it('is not one of a run that ended as unsupported', async () => {
    expect(endOf(await judge(2))).toBe('inconclusive unsupported 1');
    expect((await judge(4)).wasAsked).toBe(true);
  });

  it('is not one of a run with an unknown change, where a share is typed', async () => {
    expect(endOf(await judge(0, { 'min-coverage': '1' }, {}))).toBe('inconclusive unsupported 1');
    expect((await judge(4, { 'min-coverage': '1' })).wasAsked).toBe(true);
  });

  it('is not one of a run with an unknown change, where this one is known and auto decides', async () => {
    expect(endOf(await judge(0, {}, {}))).toBe('success accepted 0');
    const later = await judge(4);
    expect([later.wasAsked, coverageOf(later)]).toEqual([true, 'measured, 4 of 4 files']);
  });
});
