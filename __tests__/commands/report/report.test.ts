import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportSamples } from '../../../scripts/report-samples.ts';
import { runReport } from '../../../src/commands/report/report.ts';
import { makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();
const { lines = [], envelope = null } = reportSamples()['review'] ?? {};
const whole = `${lines.join('\n')}\n`;
writeFileSync(path.join(folder, 't.jsonl'), whole);
writeFileSync(path.join(folder, 'result.json'), JSON.stringify(envelope));
mkdirSync(path.join(folder, 'folder'));

function report(...argv: string[]) {
  return reportIn('.', ...argv);
}

async function reportIn(place: string, ...argv: string[]) {
  const output = { stdout: '', stderr: '' };
  const code = await runReport(argv, {
    cwd: path.join(folder, place),
    stdout: (text) => (output.stdout += text),
    stderr: (text) => (output.stderr += text),
  });
  return { code, ...output };
}

/** The page of a transcript. */
async function pageOf(transcript: string | Buffer, ...more: string[]) {
  writeFileSync(path.join(folder, 'x.jsonl'), transcript);
  const { code, stdout, stderr } = await report('x.jsonl', '-o', '-', ...more);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

describe('runReport', () => {
  it('writes one private page', async () => {
    expect(await report('t.jsonl', '-o', 'page.html')).toEqual({ code: 0, stdout: '', stderr: '' });
    const file = path.join(folder, 'page.html');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe((await report('t.jsonl', '-o', '-')).stdout);
  });

  it('refuses to write through a symbolic link out of the checkout or into .git', async () => {
    mkdirSync(path.join(folder, 'checkout/.git/hooks'), { recursive: true });
    writeFileSync(path.join(folder, 'mine.html'), 'mine');
    symlinkSync('.git/hooks', path.join(folder, 'checkout/hooks'));
    symlinkSync('../mine.html', path.join(folder, 'checkout/page.html'));
    for (const output of ['hooks/f', 'page.html']) {
      const { code, stderr } = await reportIn('checkout', '../t.jsonl', '-o', output);
      expect([code, stderr]).toEqual([52, expect.stringContaining('symbolic link')]);
    }
    expect(readFileSync(path.join(folder, 'mine.html'), 'utf8')).toBe('mine');
  });

  it('replaces the target of a symbolic link, not the link', async () => {
    writeFileSync(path.join(folder, 'real.html'), 'old');
    symlinkSync('real.html', path.join(folder, 'link.html'));
    expect((await report('t.jsonl', '-o', 'link.html')).code).toBe(0);
    expect(readFileSync(path.join(folder, 'real.html'), 'utf8')).toContain('<!doctype html>');
  });

  it('prints its help on stdout', async () => {
    expect(await report('--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage:'),
      stderr: '',
    });
  });

  it.each<[string, RegExp, ...string[]]>([
    ['no transcript', /No transcript is named/],
    ['no page', /No page is named\. Name it with -o/, 't.jsonl'],
    ['two transcripts', /"b" is a second/, 'a', 'b', '-o', '-'],
    ['an unknown flag', /--nope.*--help/, 't.jsonl', '--nope'],
    ['a flag without its value', /-o needs a value/, 't.jsonl', '-o'],
    ['a flag twice', /-o is given twice/, 't.jsonl', '-o', '-', '-o', 'b'],
    ['an empty flag', /--result is given an empty value/, 't.jsonl', '-o', '-', '--result='],
    ['a missing transcript', /"none" cannot be read: there is no such file/, 'none', '-o', '-'],
    ['a transcript that is a folder', /"folder" is no file/, 'folder', '-o', '-'],
    ['a result as a transcript', /"result.json" is no transcript/, 'result.json', '-o', '-'],
    ['a transcript as a result', /"t.jsonl" is no result envelope/, 't.jsonl', '-o', '-', '--result=t.jsonl'],
    [
      'a page that overwrites its transcript',
      /is what the page is made from/,
      't.jsonl',
      '-o',
      './folder/../t.jsonl',
    ],
    ['a page that overwrites a folder', /"folder" is there already and no file/, 't.jsonl', '-o', 'folder'],
    [
      'a page that overwrites a device',
      /"\/dev\/null" is there already and no file/,
      't.jsonl',
      '-o',
      '/dev/null',
    ],
    ['a page in a missing folder', /The folder of "a\/b.html" is not there/, 't.jsonl', '-o', 'a/b.html'],
    ['a name with invisible characters', /⟨U\+202E⟩/, '\u202ex', '-o', '-'],
  ])('%s ends with 52 and a one-line error', async (_, says, ...argv) => {
    const { code, stdout, stderr } = await report(...argv);
    expect([code, stdout]).toEqual([52, '']);
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^structured-agent report: [^\n\x1b]+\n$/);
    expect(readFileSync(path.join(folder, 't.jsonl'), 'utf8')).toBe(whole);
  });

  it('handles a truncated last line, a BOM, CRLF and lines that are not events, and reports them', async () => {
    const page = await pageOf(
      `\ufeff${lines.slice(0, 4).join('\r\n')}\r\n\r\nnonsense\n{"type":"x"}\n{"type":"turn_st`,
    );
    expect(page).toContain('The last line is torn');
    expect(page).toContain('2 lines of the transcript are no event');
    expect(page).toContain('the verdict is not in it');
    expect(page).not.toContain('nonsense');
    expect(page).toContain('claude-sonnet-4-5');
  });

  it('does not report a complete last line without a newline as truncated', async () => {
    expect(await pageOf(lines.join('\n'))).not.toMatch(/torn|no event/);
  });

  it.each(['', '\n\n', 'text', '[]\n', Buffer.from([0xff, 0xfe, 0, 10])])(
    'refuses %j as a transcript',
    async (content) => {
      writeFileSync(path.join(folder, 'y.jsonl'), content);
      expect(await report('y.jsonl', '-o', '-')).toMatchObject({ code: 52, stdout: '' });
    },
  );

  it('reads gate, sandbox and policy from the result, alone or at the end of a stream', async () => {
    const alone = await pageOf(whole, '--result', 'result.json');
    for (const text of ['not met', 'bwrap', 'octo/cart', '<code>passed</code>', 'gate_not_met']) {
      expect(alone).toContain(text);
    }
    writeFileSync(path.join(folder, 'stream'), `{"type":"system"}\n${JSON.stringify(envelope)}\n`);
    writeFileSync(path.join(folder, 'array'), JSON.stringify([{ type: 'system' }, envelope], null, 2));
    expect(await pageOf(whole, '--result', 'stream')).toBe(alone);
    expect(await pageOf(whole, '--result', 'array')).toBe(alone);
  });

  it('keeps an empty first line of a tool result', async () => {
    const call = { name: 'shell' };
    const entry = { type: 'tool_finished', call, decision: 'ok', result: { content: '\nx' } };
    expect(await pageOf(JSON.stringify(entry))).toContain('<pre>\n\nx</pre>');
  });

  it('prefers the cost in the result, including an unknown cost', async () => {
    for (const [cost, shown] of [
      [9.87, '<dt>Cost</dt><dd>$9.87</dd>'],
      [null, '<dt>Cost</dt><dd>unknown</dd>'],
    ] as const) {
      writeFileSync(path.join(folder, 'cost'), JSON.stringify({ ...envelope, total_cost_usd: cost }));
      expect(await pageOf(whole, '--result', 'cost')).toContain(shown);
    }
  });

  it('shows the payload with the most severe findings first, and the gate in words', async () => {
    const page = await pageOf(whole, '--result', 'result.json');
    const text = page
      .replace(/<\/?code>/gu, '')
      .replace(/<[^>]+>/gu, ' ')
      .replace(/\s+/gu, ' ');
    expect(text).toContain('The gate is not met: It wants passed to be true; the payload says false.');
    expect(text).toMatch(/What was found passed false summary One of 12 tests fails: [^.]*\. risk medium/u);
    expect(text).toMatch(
      /findings \(3 entries\) severity path line message suggestion error src\/discount\.js 3 Math[\s\S]*warning test\/discount\.test\.js[\s\S]*note src\/cart\.js 40/u,
    );
    expect(page).not.toContain('was not given');
  });

  it('explains how to add the payload to the page', async () => {
    expect(await pageOf(whole)).toContain('which was not given: --result FILE adds it to this page');
    expect(await pageOf(whole, '--without-payload')).not.toContain('was not given');
  });

  it('limits the rows, columns and values of a payload', async () => {
    const findings = Array.from({ length: 700 }, (_, at) => ({ message: `m${at}`, long: 'x'.repeat(5_000) }));
    const wide = { rows: [Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`c${at}`, at]))] };
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`v${at}`, at]));
    for (const [payload, shown] of [
      [{ findings }, '… and 200 more rows: see the result file.'],
      [wide, '… and 12 more columns: see the result file.'],
      [many, '… and 200 more values: see the result file.'],
      [{ list: ['a', 1], none: [], nested: { b: 1 } }, '{&quot;b&quot;:1}'],
    ] as const) {
      writeFileSync(path.join(folder, 'big'), JSON.stringify({ ...envelope, structured_output: payload }));
      const page = await pageOf(whole, '--result', 'big');
      expect(page).toContain(shown);
      expect(page.length).toBeLessThan(1_500_000);
    }
  });

  it('handles a payload that is nested too deeply', async () => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const text = JSON.stringify({ ...envelope, structured_output: { deep: 'HERE' } });
    writeFileSync(path.join(folder, 'deep'), text.replace('"HERE"', deep));
    expect(await pageOf(whole, '--result', 'deep')).toContain('What was found');
  });

  it.each([null, 3, 'text', [1], undefined])('shows no section for a payload that is %j', async (payload) => {
    writeFileSync(path.join(folder, 'none'), JSON.stringify({ ...envelope, structured_output: payload }));
    expect(await pageOf(whole, '--result', 'none')).not.toContain('What was found');
  });

  it('P3 shows no part of a payload with --without-payload, wherever an envelope contains it', async () => {
    const leaky = {
      ...envelope,
      result: '{"a":"PAYLOAD-CANARY"}',
      structured_result: { a: 'PAYLOAD-CANARY' },
      structured_output: { a: 'PAYLOAD-CANARY' },
      error: 'The gate is not met: it is PAYLOAD-CANARY.',
      gate: {
        status: 'not_met',
        issues: [{ path: '/a', keyword: 'const', message: 'is PAYLOAD-CANARY' }],
        words: ['wants `PAYLOAD-CANARY`'],
      },
      last_assistant_text: 'PAYLOAD-CANARY',
    };
    writeFileSync(path.join(folder, 'leaky'), JSON.stringify(leaky));
    const page = await pageOf(whole, '--result', 'leaky', '--without-payload');
    expect(page).not.toContain('CANARY');
    expect(page).toContain('The gate finds fault with:');
    expect(await pageOf(whole, '--result', 'leaky')).toContain('<code>PAYLOAD-CANARY</code>');
  });

  it('shows the error message of a verdict', async () => {
    const ending = { type: 'result', conclusion: 'inconclusive', reason: 'sandbox' };
    const failed = { ...ending, error: 'Install <bubblewrap>.' };
    writeFileSync(path.join(folder, 'failed'), JSON.stringify(failed));
    const page = await pageOf(lines.slice(0, 3).join('\n'), '--result', 'failed');
    expect(page).toContain('Install &lt;bubblewrap&gt;.');
    expect(page).toContain('Inconclusive: sandbox');
  });

  it.each(['constructor', '__proto__', 'toString'])('treats %s like any other word', async (word) => {
    const call = { name: word };
    const finished = { type: 'tool_finished', call, decision: word, result: { content: word } };
    const turn = { type: 'turn_completed', stop_reason: word };
    const odd = [...lines.slice(0, 3), JSON.stringify(finished), JSON.stringify(turn)];
    const ending = { type: 'result', conclusion: 'success', reason: word, gate: { status: word } };
    writeFileSync(path.join(folder, 'odd'), JSON.stringify(ending));
    const page = await pageOf(odd.join('\n'), '--result', 'odd');
    expect(page).not.toMatch(/undefined|native code|\[object/);
    expect(page).toContain('<title>Success · structured-agent</title>');
    expect(page).toContain('ended</span>');
  });

  it('says when the result belongs to another run, and when no model judged', async () => {
    const other = { ...envelope, conclusion: 'success', reason: 'accepted', gate: null, replayed: true };
    writeFileSync(path.join(folder, 'other'), JSON.stringify(other));
    const page = await pageOf(whole, '--result', 'other');
    expect(page).toContain('Do they belong to the same run? Its payload is not shown.');
    expect(page).not.toContain('What was found');
    expect(page).toContain('Replay, judged by no model. Success');
  });
});
