import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type EnvelopeFile, readEnvelopes } from '../../src/envelope/read.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';
import { sampleReports } from '../reporters/sample-reports.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';

const isRoot = process.getuid?.() === 0;
const folders = makeFolder();
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(folders, 'envelopes-'));
});

const same = (text: string) => text;
const made = (changes: Partial<Report> = {}): JsonObject => envelope(sampleReport(changes), same);

function put(file: string, content: JsonObject | string | Buffer): void {
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  putFiles(folder, { [file]: isText ? content : `${JSON.stringify(content)}\n` });
}

async function read(at = folder): Promise<readonly EnvelopeFile[]> {
  const files: EnvelopeFile[] = [];
  for await (const file of readEnvelopes(at, null)) files.push(file);
  return files;
}

/** For each file `ok`, or the reason why it is not an envelope. */
async function outcomes(): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await read()).map((each) => [each.file, each.ok ? 'ok' : each.why]));
}

const firstOf = async () => {
  const [file] = await read();
  if (file?.ok !== true) throw new Error(file?.why);
  return file.envelope;
};

it('an envelope is read as the run that it describes', async () => {
  const report = sampleReport({ ...sampleReports['grounded'], leg: 'api', vote: '2', replayed: true });
  put('verdict-api/result.json', envelope(report, same));
  const { payload, gate, usage, costUsd, model, subject, policy, evidence } = report;
  expect(await firstOf()).toMatchObject({
    ...{ leg: 'api', vote: '2', conclusion: 'success', reason: 'accepted', replayed: true, model, subject },
    ...{ structured_output: payload, gate, num_turns: 2, usage, total_cost_usd: costUsd },
    ...{ judge: policy, evidence },
  });
});

it('so are a run without a payload, one of a later version, and a merge', async () => {
  put('1.json', made({ ...unpublished('No.'), subject: null, costUsd: null, leg: 'web' }));
  put('2.json', { ...made(), new_field: 'of a later version' });
  put('3.json', envelope(sampleMergedReport(), same));
  const envelopes = (await read()).map((each) => (each.ok ? each.envelope : each));
  const nothing = { gate: null, subject: null, total_cost_usd: null, evidence: null };
  expect(envelopes).toMatchObject([
    { conclusion: 'inconclusive', error: 'No.', ...nothing },
    { leg: null, vote: null, conclusion: 'success' },
    { merged: { votes: null }, leg: null },
  ]);
  expect(envelopes.map((each) => 'structured_output' in each)).toEqual([false, true, true]);
});

it('a name that no schema has judged does not become one that it has', async () => {
  put('result.json', { ...made(), usage: { ...Object(made()['usage']), inputTokens: '1; touch x', x: 1 } });
  expect((await firstOf()).usage).toEqual({ ...sampleReport().usage, x: 1 });
});

it('evidence has no path that this program would not write', async () => {
  const odd = '/etc/passwd ../index.js a/../index.js a//index.js ./index.js .git/config a\\index.js a\0b';
  const paths = ['packages/api/index.js', ...odd.split(' '), 'a\nb', '', null];
  const findings = paths.map((each) => ({ path: each }));
  put('result.json', { ...made(), evidence: { context: 'none', tool_calls: 1, findings } });
  const [first, ...others] = (await firstOf()).evidence?.findings ?? [];
  expect(first).toEqual({ path: 'packages/api/index.js' });
  expect(others).toEqual(paths.slice(1).map(() => ({ path: null })));
});

const whole = JSON.stringify(made());
const none = { context: 'none', tool_calls: 1, findings: [] };
const withEvidence = (evidence: JsonObject | null) => JSON.stringify({ ...made(), evidence });
const padded = (size: number) => whole + ' '.repeat(size - Buffer.byteLength(whole));
const MIB = 1024 ** 2;
const NO_ENVELOPE = 'it is no envelope of this action: ';
const SUCCESS = '"conclusion":"success"';
const change = (from: string, to: string) => whole.replace(from, to);
const ofFindings = (...findings: readonly JsonObject[]) => withEvidence({ ...none, findings });
it.each<[string, string | Buffer, string | RegExp]>([
  ['a BOM and surrounding whitespace', `\ufeff  ${whole}\r\n`, 'ok'],
  ['16 MiB', padded(16 * MIB), 'ok'],
  ['more than 16 MiB', padded(16 * MIB + 1), 'it is larger than 16 MiB'],
  ['a truncated file', whole.slice(0, -20), /^it is not valid JSON: .*\(line 1 column \d+\)$/u],
  ['a duplicate key', `{${SUCCESS},${whole.slice(1)}`, 'it gives a key twice in one object'],
  ['invalid UTF-8', Buffer.from(change('All 12', '\u00ff'), 'latin1'), 'it is not UTF-8 text'],
  ['an array', `[${whole}]`, `${NO_ENVELOPE}its type is not result`],
  ['another object', '{"CANARY":"CANARY"}', `${NO_ENVELOPE}its type is not result`],
  ['missing fields', '{"type":"result","CANARY":1}', `${NO_ENVELOPE}see the root (required)`],
  ['__proto__ as a key', change(SUCCESS, `"__proto__":{${SUCCESS}}`), /required/u],
  ['an unknown conclusion', change(SUCCESS, '"conclusion":"fine"'), /see the root/u],
  ['a long name', JSON.stringify({ ...made(), model: 'x'.repeat(4_097) }), /see \/model \(maxLength\)$/u],
  ['an unknown context', withEvidence({ ...none, context: 'most' }), /see \/evidence/u],
  ['half a coverage', withEvidence({ ...none, coverage: { status: 'measured' } }), /see \/evidence/u],
  ['a line beyond any file', ofFindings({ path: 'a', line: 1e9 + 1 }), /see \/evidence/u],
  ['no evidence', withEvidence(null), /see \/evidence/u],
])('a file with %s is accepted or refused, without quoting it', async (_, content, why) => {
  put('file.json', content);
  const { 'file.json': reason = '' } = await outcomes();
  if (typeof why === 'string') expect(reason).toBe(why);
  else expect(reason).toMatch(why);
  expect(reason).not.toMatch(/CANARY|All|passed/u);
});

it('files of artifacts are found in separate folders, merged, or alone, in a fixed order', async () => {
  const names = ['b/result.json', 'a/deep/er/x.json', 'z.json', 'a.json/result.json', 'B/result.json'];
  for (const file of [...names, 'a/notes.txt', 'a/transcript.jsonl']) put(file, made());
  mkdirSync(path.join(folder, 'empty.json'));
  const sorted = ['B/result.json', 'a.json/result.json', 'a/deep/er/x.json', 'b/result.json', 'z.json'];
  expect(Object.keys(await outcomes())).toEqual(sorted);
});

it('no symlink is followed, no pipe waited for, and no device opened', async () => {
  put('real/result.json', made());
  symlinkSync(path.join(folder, 'real', 'result.json'), path.join(folder, 'link.json'));
  symlinkSync('/dev/zero', path.join(folder, 'zero.json'));
  symlinkSync(path.join(folder, 'real'), path.join(folder, 'folder.json'));
  symlinkSync(folder, path.join(folder, 'loop'));
  execFileSync('mkfifo', [path.join(folder, 'pipe.json')]);
  const why = 'it is not a regular file';
  const refused = { 'folder.json': why, 'link.json': why, 'pipe.json': why, 'zero.json': why };
  expect(await outcomes()).toEqual({ ...refused, 'real/result.json': 'ok' });
});

it.runIf(!isRoot)('an unreadable file or folder is refused with the system’s error code', async () => {
  put('closed.json', made());
  chmodSync(path.join(folder, 'closed.json'), 0);
  expect(await outcomes()).toEqual({ 'closed.json': 'it cannot be read (EACCES)' });
  chmodSync(folder, 0);
  await expect(read()).rejects.toThrow('cannot be listed (EACCES)');
  chmodSync(folder, 0o700);
});

it('files are read one at a time, on demand', async () => {
  for (const name of ['a', 'b']) put(`${name}.json`, made());
  const files = readEnvelopes(folder, null);
  expect((await files.next()).value).toMatchObject({ ok: true });
  rmSync(path.join(folder, 'b.json'));
  const missing = { ok: false, why: 'it cannot be read (ENOENT)' };
  expect((await files.next()).value).toEqual({ file: 'b.json', ...missing });
});

it.each([
  ['no\nsuch', 'ENOENT'],
  ['file.json', 'ENOTDIR'],
])('a folder that cannot be listed is an input error: %j', async (name, code) => {
  put('file.json', made());
  const at = path.join(folder, name);
  await expect(read(at)).rejects.toMatchObject({
    input: 'verdicts',
    message: expect.stringContaining(`The folder ${JSON.stringify(at)} cannot be listed (${code}).`),
  });
});
