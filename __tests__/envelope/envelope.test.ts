import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EnvelopeFile, readEnvelopes } from '../../src/envelope/envelope.ts';
import { listFiles } from '../../src/envelope/list.ts';
import { readObjectFile } from '../../src/envelope/read.ts';
import { signEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Evidence, Report } from '../../src/reporters/report-types.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleMergedReport } from '../merge/sample-merged.ts';
import { unseenCoverage } from '../reporters/sample-coverage.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';

const KEY = 'k'.repeat(32);
const isRoot = process.getuid?.() === 0;
let folder = '';

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'envelopes-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const made = (changes: Partial<Report> = {}): JsonObject => envelope(sampleReport(changes), (text) => text);

function put(file: string, content: JsonObject | string | Buffer): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(path.join(folder, file), isText ? content : `${JSON.stringify(content)}\n`);
}

async function read(signingKey: string | null = null, at = folder): Promise<readonly EnvelopeFile[]> {
  const files: EnvelopeFile[] = [];
  for await (const file of readEnvelopes(at, signingKey)) files.push(file);
  return files;
}

/** For each file `ok`, or the reason why it is not an envelope. */
async function outcomes(signingKey: string | null = null): Promise<Readonly<Record<string, string>>> {
  const files = await read(signingKey);
  return Object.fromEntries(
    files.map((each) => (each.ok ? [each.envelope.file, 'ok'] : [each.file, each.why])),
  );
}

describe('readEnvelopes', () => {
  it('refuses an envelope with a name longer than any run’s, which would fill the memory', async () => {
    const { subject, judge, ...rest } = made();
    const long = 'x'.repeat(4_097);
    const names = ['repository', 'sha', 'ref', 'event', 'run_id'];
    put('good.json', { ...made(), model: long.slice(1) });
    put('model.json', { ...made(), model: long });
    put('version.json', { ...rest, subject: subject ?? null, judge: { ...Object(judge), version: long } });
    for (const name of names)
      put(`${name}.json`, { ...rest, judge: judge ?? null, subject: { ...Object(subject), [name]: long } });
    const { 'good.json': good, ...others } = await outcomes();
    expect(good).toBe('ok');
    expect(Object.keys(others)).toEqual([...names, 'model', 'version'].map((name) => `${name}.json`).sort());
    expect(new Set(Object.values(others))).toEqual(
      new Set(['it is no envelope of this action: a name in it has more than 4096 characters']),
    );
  });

  it('returns the run that an envelope describes', async () => {
    const grounding = { exact: 1, moved: 0, unproven: 1 };
    const evidence: Evidence = {
      ...{ context: 'truncated', toolCalls: 3, coverage: unseenCoverage, grounding },
      findings: [
        { path: 'packages/api/src/sum.js', line: 4, lineWas: 9, grounding: 'exact' },
        { path: null, line: null, lineWas: null, grounding: 'unproven' },
      ],
    };
    const report = sampleReport({ leg: 'api', vote: '2', evidence, replayed: true });
    put(
      'verdict-api/result.json',
      envelope(report, (text) => text),
    );
    const { payload, gate, usage, costUsd, model, sessionId, subject, policy } = report;
    expect(await read()).toEqual([
      {
        ok: true,
        envelope: {
          ...{
            file: 'verdict-api/result.json',
            leg: 'api',
            vote: '2',
            conclusion: 'success',
            reason: 'accepted',
          },
          ...{ payload, gate, turns: 2, rejections: 0, usage, costUsd, model, replayed: true, sessionId },
          ...{ error: null, subject, policy, evidence, merged: false },
        },
      },
    ]);
  });

  it('ignores evidence paths that this program would not write', async () => {
    const odd = '/etc/passwd ../index.js a/../index.js a//index.js ./index.js .git/config a\\index.js a\0b';
    const paths = ['packages/api/index.js', ...odd.split(' '), 'a\nb', '', null];
    const findings = paths.map((each) => ({ path: each }));
    put('result.json', { ...made(), evidence: { context: 'none', tool_calls: 1, findings } });
    const [one] = await read();
    expect(one?.ok === true ? one.envelope.evidence?.findings.map(({ path }) => path) : one).toEqual([
      'packages/api/index.js',
      ...Array.from({ length: 11 }, () => null),
    ]);
  });

  const none = { context: 'none', tool_calls: 1, findings: [] };
  it.each<[string, JsonObject | null]>([
    ['a path that is too long', { ...none, findings: [{ path: 'x'.repeat(1_000_000) }] }],
    ['an unknown context', { ...none, context: 'most' }],
    ['no findings', { context: 'none', tool_calls: 1 }],
    ['an unknown status of coverage', { ...none, coverage: { status: 'most' } }],
    ['half of the counts of grounding', { ...none, grounding: { exact: 1 } }],
    ['a line 0', { ...none, findings: [{ path: 'a', line: 0 }] }],
    ['a null', null],
  ])('refuses an envelope with evidence that has %s', async (_, evidence) => {
    put('result.json', { ...made(), evidence });
    expect(await outcomes()).toEqual({
      'result.json': expect.stringMatching(/^it is no envelope of this action: see \/evidence/u),
    });
  });

  it('reads a run without a payload, one of an earlier version, and a merge', async () => {
    put('1.json', made({ ...unpublished('No.'), subject: null, costUsd: null, leg: 'web' }));
    const { leg: _, vote: __, ...early } = made();
    put('2.json', { ...early, new_field: 'of a later version' });
    put(
      '3.json',
      envelope(sampleMergedReport(), (text) => text),
    );
    const views = (await read()).map((each) => (each.ok ? each.envelope : each));
    expect(views).toMatchObject([
      { conclusion: 'inconclusive', payload: null, gate: null, error: 'No.', subject: null, costUsd: null },
      { leg: null, vote: null, merged: false, conclusion: 'success' },
      { merged: true, leg: null },
    ]);
  });

  it('finds files of artifacts in separate folders, merged, or alone, in a fixed order', async () => {
    for (const file of ['b/result.json', 'a/deep/er/x.json', 'z.json', 'a.json/result.json', 'B/result.json'])
      put(file, made());
    put('a/notes.txt', 'no envelope');
    put('a/transcript.jsonl', '{}');
    mkdirSync(path.join(folder, 'empty.json'));
    expect(Object.keys(await outcomes())).toEqual([
      'B/result.json',
      'a.json/result.json',
      'a/deep/er/x.json',
      'b/result.json',
      'z.json',
    ]);
  });

  const whole = JSON.stringify(made());
  it.each<[string, string | Buffer, RegExp]>([
    ['a BOM and surrounding whitespace', `\ufeff  ${whole}\r\n`, /^ok$/u],
    ['an empty file', '', /^it is not valid JSON: Unexpected end of JSON input$/u],
    ['a truncated file', whole.slice(0, -20), /^it is not valid JSON: .*\(line 1 column \d+\)$/u],
    ['two envelopes in one file', `${whole}\n${whole}`, /^it is not valid JSON: .*\(line 2 column 1\)$/u],
    ['a duplicate key', `{"conclusion":"success",${whole.slice(1)}`, /^it gives a key twice in one object$/u],
    [
      'a number in the payload that JavaScript would round',
      whole.replace('"passed":true', '"passed":true,"score":79.99999999999999999'),
      /^it holds a number that cannot be represented exactly/u,
    ],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /^it nests deeper than 500 levels$/u],
    ['half of a surrogate pair', whole.replace('All 12', '\\ud83d'), /^it holds half of a surrogate pair$/u],
    ['invalid UTF-8', Buffer.from(whole.replace('All 12', '\u00ff'), 'latin1'), /^it is not UTF-8 text$/u],
    ['an array', `[${whole}]`, /^it holds no JSON object$/u],
    ['another object', '{"CANARY":"CANARY"}', /^it is no envelope of this action: its type is not result$/u],
    [
      'an envelope without several fields',
      '{"type":"result","CANARY":"CANARY"}',
      /^it is no envelope of this action: see the root \(required\)$/u,
    ],
    [
      '__proto__ as a key',
      whole.replace('"conclusion":"success"', '"__proto__":{"conclusion":"success"}'),
      /\(required\)/u,
    ],
  ])('reports %s without quoting it', async (_, content, why) => {
    put('file.json', content);
    const { 'file.json': reason = '' } = await outcomes();
    expect(reason).toMatch(why);
    expect(reason).not.toMatch(/CANARY|All|passed/u);
  });

  it('keeps a __proto__ key of a payload as data', async () => {
    put('file.json', made({ payload: JSON.parse('{"__proto__":{"passed":true}}') }));
    const [file] = await read();
    const payload = file?.ok === true ? (file.envelope.payload ?? {}) : {};
    expect([Object.hasOwn(payload, '__proto__'), 'passed' in payload]).toEqual([true, false]);
  });

  it('does not follow a symlink, wait for a pipe, or open a device', async () => {
    put('real/result.json', made());
    symlinkSync(path.join(folder, 'real', 'result.json'), path.join(folder, 'link.json'));
    symlinkSync('/dev/zero', path.join(folder, 'zero.json'));
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'folder.json'));
    symlinkSync(folder, path.join(folder, 'loop'));
    execFileSync('mkfifo', [path.join(folder, 'pipe.json')]);
    const why = 'it is not a regular file';
    expect(await outcomes()).toEqual({
      'folder.json': why,
      'link.json': why,
      'pipe.json': why,
      'real/result.json': 'ok',
      'zero.json': why,
    });
  });

  it('accepts files of up to 16 MiB', async () => {
    const padded = (size: number) => whole + ' '.repeat(size - Buffer.byteLength(whole));
    put('fits.json', padded(16 * 1024 * 1024));
    put('large.json', padded(16 * 1024 * 1024 + 1));
    expect(await outcomes()).toEqual({ 'fits.json': 'ok', 'large.json': 'it is larger than 16 MiB' });
  });

  it.runIf(!isRoot)('reports an unreadable file with the system’s error code', async () => {
    put('closed.json', made());
    chmodSync(path.join(folder, 'closed.json'), 0);
    expect(await outcomes()).toEqual({ 'closed.json': 'it cannot be read (EACCES)' });
  });

  it('reads one file at a time, on demand', async () => {
    for (const name of ['a', 'b']) put(`${name}.json`, made());
    const files = readEnvelopes(folder, null);
    expect((await files.next()).value).toMatchObject({ ok: true });
    rmSync(path.join(folder, 'b.json'));
    const why = 'it cannot be read (ENOENT)';
    expect((await files.next()).value).toEqual({ ok: false, file: 'b.json', why });
  });
});

describe('the folder of envelopes', () => {
  const refused = async (at: string) => {
    const error: unknown = await read(null, at).catch((reason: unknown) => reason);
    return error instanceof InputError ? `${error.input}: ${error.message}` : error;
  };

  it('is refused if it is missing, a file, or more than eight levels deep', async () => {
    const at = path.join(folder, 'no\nsuch');
    expect(await refused(at)).toContain(`The folder ${JSON.stringify(at)} does not exist. Name the folder`);
    put('file.json', made());
    expect(await refused(path.join(folder, 'file.json'))).toContain('is not a folder');
    put(`${'d/'.repeat(8)}x.json`, made());
    expect(await read()).toHaveLength(2);
    put(`${'d/'.repeat(9)}x.json`, made());
    expect(await refused(folder)).toContain('8 levels deep');
  });

  it.each([
    [{ depth: 8, files: 1, entries: 100 }, 'holds more than 1 JSON files, or 100 in all'],
    [{ depth: 8, files: 100, entries: 2 }, 'holds more than 100 JSON files, or 2 in all'],
  ])('is refused if it has more than %j', (limits, why) => {
    for (const file of ['a/x.json', 'a/y.json', 'z.txt']) put(file, '');
    expect(() => listFiles(folder, limits)).toThrow(why);
  });

  it.runIf(!isRoot)('is refused if a folder in it cannot be listed', async () => {
    mkdirSync(path.join(folder, 'closed'), { mode: 0 });
    expect(await refused(folder)).toContain('cannot be listed (EACCES)');
    // The cleanup after the test could not remove it.
    rmdirSync(path.join(folder, 'closed'));
  });

  it('may change after it was listed: what has replaced a file is not read', () => {
    const at = (name: string) => path.join(folder, name);
    put('file', '{"a":1}');
    symlinkSync(at('file'), at('link'));
    execFileSync('mkfifo', [at('pipe')]);
    const why = (name: string) => readObjectFile(at(name));
    expect(why('file')).toEqual({ ok: true, value: { a: 1 } });
    for (const name of ['link', 'pipe', '.'])
      expect(why(name)).toEqual({ ok: false, why: 'it is not a regular file' });
  });
});

describe('with a signing key', () => {
  const signed = (value: JsonObject, key = KEY) => ({ ...value, signature: signEnvelope(value, key) });

  it('accepts only envelopes signed with the key, and ignores signatures without a key', async () => {
    put('good.json', signed(made({ leg: 'api' })));
    put('unsigned.json', made({ leg: 'api' }));
    put('other.json', signed(made({ leg: 'api' }), 'x'.repeat(32)));
    put('changed.json', { ...signed(made({ leg: 'api' })), leg: 'web' });
    put('copied.json', { ...made({ leg: 'web' }), signature: signEnvelope(made({ leg: 'api' }), KEY) });
    put('odd.json', { ...made(), signature: 'CANARY' });
    const wrong = 'its signature does not fit: made with another key, or changed after it was signed';
    expect(await outcomes(KEY)).toEqual({
      'changed.json': wrong,
      'copied.json': wrong,
      'good.json': 'ok',
      'odd.json': wrong,
      'other.json': wrong,
      'unsigned.json': 'it is not signed: the step that writes it needs the same signing-key',
    });
    expect(await outcomes()).toMatchObject({ 'good.json': 'ok', 'other.json': 'ok', 'unsigned.json': 'ok' });
  });

  it('checks signed envelopes against the schema', async () => {
    put('file.json', signed({ conclusion: 'success' }));
    expect(await outcomes(KEY)).toMatchObject({ 'file.json': expect.stringMatching(/^it is no envelope/u) });
  });
});

describe('an envelope with contradicting fields', () => {
  const contradiction = async (changes: JsonObject, content: JsonObject = made()) => {
    put('a.json', { ...content, ...changes });
    const [file] = await read();
    return file?.ok === true ? null : file?.why;
  };
  const tooMuch: Evidence = {
    context: 'none',
    toolCalls: 1,
    coverage: { ...unseenCoverage, files: { ...unseenCoverage.files, shown: 44 } },
    findings: [],
  };
  const gate = (status: string, ...issues: JsonObject[]) => ({ gate: { status, issues } });
  const issue = { path: '', keyword: 'const', message: 'must be true.' };

  it.each<readonly [string, JsonObject, string]>([
    ['another result', { result: '{"passed":true}' }, 'result and structured_output'],
    ['a result that is not JSON', { result: 'fine' }, 'result and structured_output'],
    ['another structured_result', { structured_result: {} }, 'structured_output and structured_result'],
    ['a gate that is met, with issues', gate('met', issue), 'the status of gate and its issues'],
    ['turns', { turns: 99 }, 'num_turns and turns'],
    ['tokens', { total_input_tokens: 9_999 }, 'usage and total_input_tokens'],
    [
      'coverage',
      { evidence: made({ evidence: tooMuch })['evidence'] ?? null },
      'the counts of evidence and coverage',
    ],
  ])('names the contradicting fields: %s', async (_, changes, expected) => {
    expect(await contradiction(changes)).toBe(
      `it contradicts itself in ${expected}: it was changed after the run`,
    );
  });

  it.each<readonly [string, JsonObject]>([
    ['a gate that is not met', gate('not_met', issue)],
    ['another reason', { reason: 'gate_not_met' }],
    ['another conclusion', { conclusion: 'failure' }],
    [
      'a failure whose gate is met',
      {
        ...{ conclusion: 'failure', reason: 'gate_not_met', subtype: 'gate_not_met' },
        ...{ exit_code: 1, is_error: true, ...gate('met') },
      },
    ],
  ])('is refused by the schema when it contradicts itself about the verdict: %s', async (_, changes) => {
    expect(await contradiction(changes)).toMatch(/^it is no envelope of this action: see /u);
  });

  it('accepts consistent fields in any order, and those of another version', async () => {
    const { turns: _, ...older } = made();
    expect([await contradiction({}), await contradiction({}, older)]).toEqual([null, null]);
    const { structured_output } = older;
    const turned = JSON.stringify(Object.fromEntries(Object.entries(structured_output ?? {}).toReversed()));
    expect(await contradiction({ result: turned })).toBeNull();
  });
});
