import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTrustedFile } from '../../src/config/workspace-file.ts';
import { signEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { type MergeInputName, parseMergeConfig } from '../../src/merge/config.ts';
import { type MergeWorld, runMerge } from '../../src/merge/run.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report, Reporter } from '../../src/reporters/report-types.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { localFiles } from '../support/worlds/quiet.ts';
import { SUBJECT as SAMPLE_SUBJECT } from './votes.ts';

type Inputs = Partial<Record<MergeInputName, string>>;

const SUBJECT: Subject = {
  ...SAMPLE_SUBJECT,
  run_attempt: 1,
  sha: '0123456789abcdef0123456789abcdef01234567',
};
const KEY = 'k'.repeat(32);
const SECRET = 'correct-horse-battery-staple';

let base = '';
let folder = '';
beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'run-merge-')));
  folder = path.join(base, 'verdicts');
  await mkdir(folder);
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** The envelope of a leg that passes. */
function passing(leg: string, changes: Partial<Report> = {}): JsonObject {
  return envelope(sampleReport({ leg, payload: { passed: true }, ...changes }), (text) => text);
}

function keep(name: string, content: JsonObject | string): Promise<void> {
  return writeFile(
    path.join(folder, `${name}.json`),
    typeof content === 'string' ? content : JSON.stringify(content),
  );
}

/** What the envelope of a merge says of its legs; undefined where it failed before it could count. */
function mergedIn(report: Report): unknown {
  return report.view?.envelope?.((text) => text)['merged'];
}

interface Merging {
  readonly report: Report;
  /** The envelope as it is written, masked. */
  readonly told: JsonObject;
  /** What was done at the end, in order. */
  readonly steps: readonly string[];
  readonly warnings: readonly string[];
}

async function merge(inputs: Inputs, more: Partial<MergeWorld> = {}): Promise<Merging> {
  const steps: string[] = [];
  const warnings: string[] = [];
  const secrets = knowSecrets(SECRET);
  const raw = new Map<MergeInputName, string>();
  for (const [name, value] of Object.entries({ verdicts: 'verdicts', expect: 'api, web', ...inputs }))
    raw.set(name as MergeInputName, value);
  const report = await runMerge(parseMergeConfig(raw, { environment: {} }), {
    entry: 'action',
    environment: {},
    version: '0.0.0',
    secrets,
    subject: SUBJECT,
    locate: null,
    workspace: base,
    resultFile: path.join(base, 'result.json'),
    transcriptFile: null,
    writePatch: () => null,
    runFolder: null,
    restoreRunnerFiles: () => undefined,
    files: localFiles((name) =>
      readTrustedFile(name, { root: base, outside: 'refused', maxBytes: 1_000_000 }),
    ),
    findPolicyChanges: async () => [],
    resolveVerdicts: async (typed) => path.join(base, typed),
    anyCommit: false,
    page: () => null,
    now: () => performance.now(),
    listen: () => undefined,
    reporters: [{ name: 'probe', report: async () => void steps.push('reporter') }],
    spareResultFile: null,
    writeEnvelope: () => void steps.push('envelope'),
    writeOutputs: () => void steps.push('outputs'),
    warn: (text) => void warnings.push(text),
    ...more,
  });
  return { report, told: envelope(report, secrets.mask), steps, warnings };
}

const UNDECIDED = [1, 'inconclusive', 'undecided', false];
const WRONG = [52, 'inconclusive', 'config', false];
const PASSED = [0, 'success', 'accepted', true];
const ending = ({ report: { verdict } }: Merging) => [
  verdict.exitCode,
  verdict.conclusion,
  verdict.reason,
  verdict.published,
];

describe('a merge', () => {
  it('tells its reporters, then writes the envelope, and last the outputs, however it ends', async () => {
    const ends = async (inputs: Inputs = {}) => {
      const run = await merge(inputs);
      expect(run.steps).toEqual(['reporter', 'envelope', 'outputs']);
      expect(mergedIn(run.report) === undefined).toBe(ending(run)[2] === 'config');
      return ending(run);
    };
    expect(await ends({ rule: 'most' })).toEqual(WRONG);
    expect(await ends()).toEqual(WRONG);
    await keep('a', passing('api'));
    expect(await ends()).toEqual(UNDECIDED);
    await keep('b', passing('web'));
    expect(await ends()).toEqual(PASSED);
  });

  it('a later attempt whose envelope does not count replaces the earlier one all the same', async () => {
    const subject = { ...SUBJECT, run_attempt: 2 };
    const later = { subject, payload: { passed: false } };
    const signed = (each: JsonObject) => ({ ...each, signature: signEnvelope(each, KEY) });
    const signing = { 'signing-key': KEY };
    await keep('web', signed(passing('web')));
    await keep('first', signed(passing('api')));
    const ends = async (content: JsonObject | string, inputs: Inputs = {}) => {
      await keep('second', content);
      return ending(await merge(inputs, { subject })).slice(1, 3);
    };
    const undecided = ['inconclusive', 'undecided'];
    expect(await ends(passing('api', later), signing)).toEqual(undecided);
    expect(await ends({ ...passing('api', later), reason: 'of a version to come' })).toEqual(undecided);
    expect(
      await ends({ leg: 'api', vote: null, subject: { run_id: SUBJECT.run_id, run_attempt: 2 } }),
    ).toEqual(undecided);
    const accepted = ['success', 'accepted'];
    // Not signed, and of the same attempt: nobody asked that run again.
    expect(await ends(passing('api'), signing)).toEqual(accepted);
    await keep('third', signed(passing('api', { subject })));
    expect(await ends(passing('api', later), signing)).toEqual(accepted);
  });

  it.each<[string, JsonObject | string]>([
    ['nothing', ''],
    ['the beginning of an envelope', '{"type":"result","leg":"api"'],
    ['an object that claims nothing', '{"type":"result"}'],
    ['a leg and no run', { leg: 'api', vote: null, subject: null }],
    ['a leg of another run', { leg: 'api', vote: null, subject: { run_id: '999', run_attempt: 2 } }],
    ['a leg of an attempt to come', { leg: 'api', vote: null, subject: { run_id: '42', run_attempt: 3 } }],
    ['a leg that there is not', { leg: 'zzz', vote: null, subject: { run_id: '42', run_attempt: 2 } }],
    ['a vote that there is not', { leg: 'api', vote: '2', subject: { run_id: '42', run_attempt: 2 } }],
  ])('an earlier pass does not come back by %s in the place of the later failure', async (_, content) => {
    const second = { ...SUBJECT, run_attempt: 2 };
    await keep('api-1', passing('api'));
    await keep('web-2', passing('web', { subject: second }));
    // "Re-run failed jobs": what passed has no second envelope.
    expect(ending(await merge({}, { subject: second })).slice(1, 3)).toEqual(['success', 'accepted']);
    await keep('api-2', content);
    const run = await merge({}, { subject: second });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { pass: 1, abstain: 1 } });
    expect(run.warnings).toEqual([expect.stringMatching(/"api-2\.json".*"Re-run all jobs"/u)]);
    // In the attempt that it is about, and after "Re-run all jobs", everything that counts is there.
    expect(ending(await merge({ expect: 'api' }, { subject: SUBJECT }))[2]).toBe('config');
    await keep('api-2-again', passing('api', { subject: second }));
    expect(ending(await merge({}, { subject: second })).slice(1, 3)).toEqual(['success', 'accepted']);
  });

  it('junk in the place of an envelope of the last attempt never makes a merge pass', async () => {
    const legs = fc.record({
      first: fc.constantFrom(true, false),
      second: fc.constantFrom(true, false, null),
    });
    const junk = fc.constantFrom('', '{', '{"type":"result"}', '{"leg":"web","vote":null}', '[]');
    const rule = fc.constantFrom('all', 'any', 'majority');
    await fc.assert(
      fc.asyncProperty(legs, legs, rule, junk, fc.boolean(), async (api, web, name, text, isApi) => {
        await rm(folder, { recursive: true });
        await mkdir(folder);
        const second = { ...SUBJECT, run_attempt: 2 };
        for (const [leg, { first, second: later }] of Object.entries({ api, web })) {
          await keep(`${leg}-1`, passing(leg, { payload: { passed: first } }));
          if (later !== null)
            await keep(`${leg}-2`, passing(leg, { payload: { passed: later }, subject: second }));
        }
        const decide = async () =>
          ending(await merge({ rule: name, gate: 'passed' }, { subject: second }))[1];
        const before = await decide();
        const leg = isApi ? 'api' : 'web';
        // Of a leg that was not asked again nothing of the last attempt can be replaced.
        if ((isApi ? api : web).second === null) return;
        await keep(`${leg}-2`, text);
        const after = await decide();
        if (before !== 'success') expect(after).not.toBe('success');
      }),
      { numRuns: 60 },
    );
  });

  it('of two envelopes of one vote in one attempt neither counts where one is unfit', async () => {
    await keep('a', passing('api'));
    await keep('b', { ...passing('api'), reason: 'of a version to come' });
    await keep('c', passing('web'));
    const run = await merge({});
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { pass: 1, abstain: 1 } });
    const subject = { ...SUBJECT, run_attempt: 2 };
    await keep('d', passing('api', { subject }));
    expect(ending(await merge({}, { subject })).slice(1, 3)).toEqual(['success', 'accepted']);
  });

  it('files that are no envelopes abstain, also where there are no others', async () => {
    await keep('a', '{"type":');
    const run = await merge({});
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { abstain: 2 } });
    expect(run.report.verdict.error).toContain('1 file did not count, "a.json": ');
  });

  it('with a signing key counts what is signed with it, and nothing else', async () => {
    const key = 'k'.repeat(32);
    const api = passing('api');
    await keep('a', { ...api, signature: signEnvelope(api, key) });
    await keep('b', passing('web'));
    const run = await merge({ 'signing-key': key });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { pass: 1, abstain: 1 } });
    expect(run.report.verdict.error).toContain('1 file did not count, "b.json": it is not signed: ');
  });

  it('of a folder that is not there is a mistake', async () => {
    const run = await merge({ verdicts: 'nowhere' });
    expect(ending(run)).toEqual(WRONG);
    expect(run.report.verdict.error).toContain('nowhere" does not exist');
  });

  it('is of the commit that its legs judged', async () => {
    const subject = { ...SUBJECT, sha: 'b'.repeat(40) };
    await keep('a', passing('api', { subject }));
    await keep('b', passing('web', { subject }));
    expect(ending(await merge({}))).toEqual(WRONG);
    const run = await merge({}, { anyCommit: true });
    expect([ending(run), run.report.subject]).toEqual([PASSED, subject]);
  });

  it('does not know what was judged where its legs checked out different commits, or do not say it', async () => {
    const own = { ...SUBJECT, checked_out: 'e'.repeat(40) };
    const judged = async (...commits: readonly (string | null | undefined)[]) => {
      for (const [at, checked_out] of commits.entries()) {
        const subject = checked_out === undefined ? SUBJECT : { ...SUBJECT, checked_out };
        await keep(`${at}`, passing(at === 0 ? 'api' : 'web', { subject }));
      }
      return (await merge({}, { subject: own })).report.subject;
    };
    const [one, other] = ['b'.repeat(40), 'c'.repeat(40)];
    expect(await judged(one, one)).toEqual({ ...SUBJECT, checked_out: one });
    expect(await judged(one, other)).toEqual({ ...SUBJECT, checked_out: null });
    for (const commit of [null, undefined])
      expect(await judged(one, commit)).toEqual({ ...SUBJECT, checked_out: null });
    expect(await judged(null, null)).toEqual({ ...SUBJECT, checked_out: null });
    // Of a version that did not say it.
    expect(await judged(undefined, undefined)).toEqual(SUBJECT);
  });

  it('where a reporter fails ends as it would, with a warning', async () => {
    await keep('a', passing('api'));
    await keep('b', passing('web'));
    const run = await merge(
      {},
      { reporters: [{ name: 'summary', report: () => Promise.reject(new Error('no')) }] },
    );
    expect([ending(run), run.warnings]).toEqual([PASSED, [expect.stringContaining('summary')]]);
  });

  it('with a bug in it is a failure that everybody is told of', async () => {
    await keep('a', passing('api'));
    const page = () => {
      throw new TypeError('a bug');
    };
    const run = await merge({}, { page });
    expect([ending(run), run.steps]).toEqual([
      [1, 'inconclusive', 'internal', false],
      ['reporter', 'envelope', 'outputs'],
    ]);
  });
});

describe('the gate of a merge', () => {
  const gate = JSON.stringify({ properties: { score: { minimum: 5 } }, required: ['score'] });

  it.each(['@gate.json', './gate.json', 'gate.json'])(
    '%s is looked for among the changes of the pull request, and goes on record',
    async (given) => {
      await writeFile(path.join(base, 'gate.json'), gate);
      await keep('a', passing('api', { payload: { score: 5 } }));
      await keep('b', passing('web', { payload: { score: 4 } }));
      const change = { what: 'gate', path: 'gate.json', change: 'modified', applied: true } as const;
      const asked: unknown[] = [];
      const run = await merge(
        { gate: given },
        {
          async findPolicyChanges(files) {
            asked.push(files);
            return [change];
          },
        },
      );
      expect(ending(run)).toEqual([1, 'failure', 'gate_not_met', true]);
      expect([asked, run.report.policyChanges]).toEqual([
        [[{ what: 'gate', path: given.replace('@', '') }]],
        [change],
      ]);
      expect(run.report.policy.gate_sha256).toMatch(/^[0-9a-f]{64}$/u);
      expect(run.warnings).toEqual([]);
      const other = await merge({ gate: gate.replace('5', '3') });
      expect(ending(other)).toEqual(PASSED);
      expect(other.report.policy.gate_sha256).not.toBe(run.report.policy.gate_sha256);
    },
  );

  it('that is a property needs it to be true', async () => {
    await keep('a', passing('api', { payload: { safe: true } }));
    for (const payload of [{ safe: false }, { safe: 'true' }, { other: true }]) {
      await keep('b', passing('web', { payload }));
      expect(ending(await merge({ gate: 'safe' }))).toEqual([1, 'failure', 'gate_not_met', true]);
    }
    await keep('b', passing('web', { payload: { safe: true } }));
    expect(ending(await merge({ gate: 'safe' }))).toEqual(PASSED);
  });

  it('that is none of these is a mistake', async () => {
    await keep('a', passing('api'));
    const inexact = '{"properties":{"n":{"const":9007199254740993}}}';
    for (const wrong of ['@nowhere.json', '{"type":"strin"}', '{"type":', inexact])
      expect(ending(await merge({ gate: wrong }))).toEqual(WRONG);
  });
});

/** Hears what ends a merge from outside. */
function listening() {
  const heard: EndListener[] = [];
  const listener = () => {
    const [first] = heard;
    if (first === undefined) throw new Error('nobody listens');
    return first;
  };
  return { listen: (each: EndListener) => void heard.push(each), listener };
}

describe('a signal', () => {
  /** Merges with a signal as soon as so many turns of the event loop have gone by since the folder was known. */
  async function interrupted(turns: number): Promise<Merging> {
    const { listen, listener } = listening();
    return merge(
      { expect: '50' },
      {
        listen,
        async resolveVerdicts(typed) {
          const wait = (left: number): void => {
            if (left === 0) listener().signal('SIGTERM');
            else setImmediate(wait, left - 1);
          };
          wait(turns);
          return path.join(base, typed);
        },
      },
    );
  }

  it('while envelopes are read ends the merge, with nothing published and everything told', async () => {
    for (let at = 0; at < 50; at += 1) await keep(`leg-${at}`, passing(`leg-${at}`));
    for (const turns of [0, 1, 10]) {
      const run = await interrupted(turns);
      expect([ending(run), run.steps]).toEqual([
        [130, 'inconclusive', 'cancelled', false],
        ['reporter', 'envelope', 'outputs'],
      ]);
      expect(mergedIn(run.report)).toBeUndefined();
    }
  });

  it('once all is counted leaves the payload, and the exit code tells of it', async () => {
    await keep('a', passing('api'));
    await keep('b', passing('web'));
    const { listen, listener } = listening();
    const slow: Reporter = { name: 'slow', report: async () => listener().signal('SIGINT') };
    const run = await merge({}, { listen, reporters: [slow] });
    expect(ending(run)).toEqual([130, 'inconclusive', 'cancelled', true]);
    expect(run.report.payload).toMatchObject({ passed: true });
  });
});

describe('a secret of this job in an envelope', () => {
  it('is never published', async () => {
    await keep('a', passing('api', { leg: SECRET, model: SECRET }));
    await keep('b', passing('web'));
    const run = await merge({ expect: '2' });
    expect(ending(run)).toEqual([1, 'inconclusive', 'secret_in_payload', false]);
    expect(JSON.stringify(run.told)).not.toContain(SECRET);
  });

  it('is found in a finding that is too long, wherever it is: a cut leaves no half of it to be published', async () => {
    const secret = '密码(sk);9';
    const secrets = knowSecrets(secret);
    await keep('b', passing('web'));
    for (const at of [3_990, 3_996, 4_010]) {
      const message = `${'数'.repeat(at)}${secret}${'数'.repeat(100)}`;
      await keep(
        'a',
        passing('api', { payload: { passed: true, findings: [{ severity: 'low', message }] } }),
      );
      const run = await merge({}, { secrets });
      expect(ending(run)).toEqual([1, 'inconclusive', 'secret_in_payload', false]);
    }
  });

  it('is masked where there is no verdict', async () => {
    await keep('a', passing('api', { leg: SECRET, vote: SECRET, model: SECRET }));
    const run = await merge({ expect: '2' });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(JSON.stringify(run.told)).not.toContain(SECRET);
  });

  it('is masked in what is said of the folder', async () => {
    await keep(SECRET, { ...passing('api'), leg: null });
    const run = await merge({});
    expect(ending(run)).toEqual(WRONG);
    expect(JSON.stringify(run.told)).not.toContain(SECRET);
  });
});

it('an error that nothing caught ends a merge', async () => {
  await keep('a', passing('api'));
  const { listen, listener } = listening();
  const resolveVerdicts = async (typed: string) => {
    listener().crash(new InputError('verdicts', 'gone'));
    return path.join(base, typed);
  };
  const run = await merge({}, { listen, resolveVerdicts });
  expect(ending(run)).toEqual(WRONG);
});
