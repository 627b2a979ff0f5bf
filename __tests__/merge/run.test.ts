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

/** The merge data in the envelope; undefined when the merge failed before it could count. */
function mergedIn(report: Report): unknown {
  return report.view?.envelope?.((text) => text)['merged'];
}

interface Merging {
  readonly report: Report;
  /** The written envelope, with secrets masked. */
  readonly written: JsonObject;
  /** The final steps, in order. */
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
  return { report, written: envelope(report, secrets.mask), steps, warnings };
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
  it('reports, then writes the envelope, and last the outputs, whatever its verdict', async () => {
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

  it('replaces an earlier attempt even when the envelope of a later one does not count', async () => {
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
    // An unsigned envelope of the same attempt: the run was not repeated.
    expect(await ends(passing('api'), signing)).toEqual(accepted);
    await keep('third', signed(passing('api', { subject })));
    expect(await ends(passing('api', later), signing)).toEqual(accepted);
  });

  it.each<[string, JsonObject | string]>([
    ['an empty file', ''],
    ['a truncated envelope', '{"type":"result","leg":"api"'],
    ['an object without any claim', '{"type":"result"}'],
    ['a leg without a run', { leg: 'api', vote: null, subject: null }],
    ['a leg of another run', { leg: 'api', vote: null, subject: { run_id: '999', run_attempt: 2 } }],
    ['a leg of a future attempt', { leg: 'api', vote: null, subject: { run_id: '42', run_attempt: 3 } }],
    ['an unknown leg', { leg: 'zzz', vote: null, subject: { run_id: '42', run_attempt: 2 } }],
    ['an unknown vote', { leg: 'api', vote: '2', subject: { run_id: '42', run_attempt: 2 } }],
  ])('does not fall back to an earlier pass when the later failure is replaced by %s', async (_, content) => {
    const second = { ...SUBJECT, run_attempt: 2 };
    await keep('api-1', passing('api'));
    await keep('web-2', passing('web', { subject: second }));
    // "Re-run failed jobs": a passing leg has no second envelope.
    expect(ending(await merge({}, { subject: second })).slice(1, 3)).toEqual(['success', 'accepted']);
    await keep('api-2', content);
    const run = await merge({}, { subject: second });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { pass: 1, abstain: 1 } });
    expect(run.warnings).toEqual([expect.stringMatching(/"api-2\.json".*"Re-run all jobs"/u)]);
    // In its own attempt, and after "Re-run all jobs", every counted envelope exists.
    expect(ending(await merge({ expect: 'api' }, { subject: SUBJECT }))[2]).toBe('config');
    await keep('api-2-again', passing('api', { subject: second }));
    expect(ending(await merge({}, { subject: second })).slice(1, 3)).toEqual(['success', 'accepted']);
  });

  it('never passes because of junk in place of an envelope of the last attempt', async () => {
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
        // A leg that did not run again has no envelope of the last attempt to replace.
        if ((isApi ? api : web).second === null) return;
        await keep(`${leg}-2`, text);
        const after = await decide();
        if (before !== 'success') expect(after).not.toBe('success');
      }),
      { numRuns: 60 },
    );
  });

  it('counts neither of two envelopes of one vote in one attempt when one is invalid', async () => {
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

  it('counts files that are not envelopes as abstentions, even when there are no others', async () => {
    await keep('a', '{"type":');
    const run = await merge({});
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { abstain: 2 } });
    expect(run.report.verdict.error).toContain('1 file did not count, "a.json": ');
  });

  it('counts only envelopes signed with the signing key', async () => {
    const key = 'k'.repeat(32);
    const api = passing('api');
    await keep('a', { ...api, signature: signEnvelope(api, key) });
    await keep('b', passing('web'));
    const run = await merge({ 'signing-key': key });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(mergedIn(run.report)).toMatchObject({ tally: { pass: 1, abstain: 1 } });
    expect(run.report.verdict.error).toContain('1 file did not count, "b.json": it is not signed: ');
  });

  it('is refused for a missing folder', async () => {
    const run = await merge({ verdicts: 'nowhere' });
    expect(ending(run)).toEqual(WRONG);
    expect(run.report.verdict.error).toContain('nowhere" does not exist');
  });

  it('has the commit that its legs judged', async () => {
    const subject = { ...SUBJECT, sha: 'b'.repeat(40) };
    await keep('a', passing('api', { subject }));
    await keep('b', passing('web', { subject }));
    expect(ending(await merge({}))).toEqual(WRONG);
    const run = await merge({}, { anyCommit: true });
    expect([ending(run), run.report.subject]).toEqual([PASSED, subject]);
  });

  it('has no judged commit when its legs checked out different commits or do not name one', async () => {
    const own = { ...SUBJECT, checked_out: 'e'.repeat(40) };
    const mergedSubject = async (...commits: readonly (string | null | undefined)[]) => {
      for (const [at, checked_out] of commits.entries()) {
        const subject = checked_out === undefined ? SUBJECT : { ...SUBJECT, checked_out };
        await keep(`${at}`, passing(at === 0 ? 'api' : 'web', { subject }));
      }
      return (await merge({}, { subject: own })).report.subject;
    };
    const [one, other] = ['b'.repeat(40), 'c'.repeat(40)];
    expect(await mergedSubject(one, one)).toEqual({ ...SUBJECT, checked_out: one });
    expect(await mergedSubject(one, other)).toEqual({ ...SUBJECT, checked_out: null });
    for (const commit of [null, undefined])
      expect(await mergedSubject(one, commit)).toEqual({ ...SUBJECT, checked_out: null });
    expect(await mergedSubject(null, null)).toEqual({ ...SUBJECT, checked_out: null });
    // Of a version without this field.
    expect(await mergedSubject(undefined, undefined)).toEqual(SUBJECT);
  });

  it('ends normally with a warning when a reporter fails', async () => {
    await keep('a', passing('api'));
    await keep('b', passing('web'));
    const run = await merge(
      {},
      { reporters: [{ name: 'summary', report: () => Promise.reject(new Error('no')) }] },
    );
    expect([ending(run), run.warnings]).toEqual([PASSED, [expect.stringContaining('summary')]]);
  });

  it('reports a bug as an internal error', async () => {
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
    'is %s, is compared with the changes of the pull request, and is recorded',
    async (given) => {
      await writeFile(path.join(base, 'gate.json'), gate);
      await keep('a', passing('api', { payload: { score: 5 } }));
      await keep('b', passing('web', { payload: { score: 4 } }));
      const change = { what: 'gate', path: 'gate.json', change: 'modified', applied: true } as const;
      const searched: unknown[] = [];
      const run = await merge(
        { gate: given },
        {
          async findPolicyChanges(files) {
            searched.push(files);
            return [change];
          },
        },
      );
      expect(ending(run)).toEqual([1, 'failure', 'gate_not_met', true]);
      expect([searched, run.report.policyChanges]).toEqual([
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

  it('requires a property to be true', async () => {
    await keep('a', passing('api', { payload: { safe: true } }));
    for (const payload of [{ safe: false }, { safe: 'true' }, { other: true }]) {
      await keep('b', passing('web', { payload }));
      expect(ending(await merge({ gate: 'safe' }))).toEqual([1, 'failure', 'gate_not_met', true]);
    }
    await keep('b', passing('web', { payload: { safe: true } }));
    expect(ending(await merge({ gate: 'safe' }))).toEqual(PASSED);
  });

  it('is refused when it is invalid', async () => {
    await keep('a', passing('api'));
    const inexact = '{"properties":{"n":{"const":9007199254740993}}}';
    for (const wrong of ['@nowhere.json', '{"type":"strin"}', '{"type":', inexact])
      expect(ending(await merge({ gate: wrong }))).toEqual(WRONG);
  });
});

/** Collects the listeners for external ends of a merge. */
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
  /** Merges, and sends a signal this many turns of the event loop after the folder is resolved. */
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

  it('while envelopes are read ends the merge, publishes nothing and reports', async () => {
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

  it('after the count keeps the payload, and changes the exit code', async () => {
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
    expect(JSON.stringify(run.written)).not.toContain(SECRET);
  });

  it('is found in a finding that is too long, before the text is truncated', async () => {
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

  it('is masked when there is no verdict', async () => {
    await keep('a', passing('api', { leg: SECRET, vote: SECRET, model: SECRET }));
    const run = await merge({ expect: '2' });
    expect(ending(run)).toEqual(UNDECIDED);
    expect(JSON.stringify(run.written)).not.toContain(SECRET);
  });

  it('is masked in messages about the folder', async () => {
    await keep(SECRET, { ...passing('api'), leg: null });
    const run = await merge({});
    expect(ending(run)).toEqual(WRONG);
    expect(JSON.stringify(run.written)).not.toContain(SECRET);
  });
});

it('an uncaught error ends a merge', async () => {
  await keep('a', passing('api'));
  const { listen, listener } = listening();
  const resolveVerdicts = async (typed: string) => {
    listener().crash(new InputError('verdicts', 'gone'));
    return path.join(base, typed);
  };
  const run = await merge({}, { listen, resolveVerdicts });
  expect(ending(run)).toEqual(WRONG);
});
