import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError, ReportError } from '../../src/errors.ts';
import { readRecording } from '../../src/replay/recording.ts';
import { createRecordingFile } from '../../src/replay/recording-file.ts';
import { makeFolder, refusalOf } from '../support/surroundings.ts';
import { afterResult, answerLine, HASH, headerLine, recordingText } from '../support/worlds/recordings.ts';

const refused = { failure: 'context_overflow', status: 400, message: 'too long' };
const failure = { type: 'failure', number: 2, asked: afterResult(), ...refused };

function problem(text: string): string {
  const { input, message } = refusalOf(() => readRecording(text));
  expect(input).toBe('replay');
  return message;
}

describe('readRecording', () => {
  it('reads the header, completions, failures and stops', () => {
    const stopped = { type: 'stopped', number: 3, asked: afterResult() };
    expect(readRecording(recordingText(headerLine(), answerLine(), failure, stopped))).toEqual({
      header: {
        model: 'scripted-1',
        provider: 'openai-compatible',
        policy: { schema_sha256: HASH, gate_sha256: null, prompt_sha256: HASH, version: '0.1.0' },
        tools: ['read_file', 'structured_output'],
        workingDirectory: '/recorded/there',
        created: '2026-01-02T03:04:05.678Z',
      },
      exchanges: [
        {
          kind: 'answer',
          asked: { toolChoice: 'auto', after: 'task', results: [] },
          text: 'I look.',
          toolCalls: [
            { id: 'call_1', name: 'read_file', rawArguments: '{"path":"a.txt"}', status: 'complete' },
          ],
          masked: [],
          stopReason: 'tool_calls',
          usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 },
          model: 'scripted-1-2026',
        },
        {
          kind: 'failure',
          asked: {
            toolChoice: 'auto',
            after: 'results',
            results: [{ name: 'read_file', isError: false, sha256: HASH }],
          },
          ...refused,
        },
        { kind: 'stopped', asked: expect.anything() },
      ],
      torn: false,
    });
  });

  it('ignores an incomplete last line, wherever a crash cut it', () => {
    const whole = recordingText(headerLine(), answerLine(), failure);
    const start = recordingText(headerLine(), answerLine()).length;
    for (let end = start + 1; end < whole.length - 1; end += 1) {
      const { exchanges, torn } = readRecording(whole.slice(0, end));
      expect([exchanges.length, torn]).toEqual([1, true]);
    }
    expect(readRecording(whole.slice(0, start))).toMatchObject({ torn: false });
    expect(readRecording(whole.slice(0, -1))).toMatchObject({ torn: false, exchanges: { length: 2 } });
  });

  it('ignores an incomplete last line with half of a surrogate pair, and quotes nothing of a broken line', () => {
    const start = recordingText(headerLine());
    const whole = recordingText(headerLine(), answerLine({ text: '\ud83d' }));
    for (let end = start.length + 1; end < whole.length - 1; end += 1)
      expect(readRecording(whole.slice(0, end))).toMatchObject({ torn: true, exchanges: [] });
    const broken = `${start}{"a":"\\ud800"} hunter2`;
    expect(readRecording(broken)).toMatchObject({ torn: true });
    expect(() => readRecording(`${broken}\n`)).toThrow(/^Line 2 of the recording is no JSON object/u);
  });

  it('accepts blank lines, CRLF, unknown keys, null usage and unpaired surrogates in text', () => {
    const text = recordingText(
      headerLine({ more: 1 }),
      '',
      answerLine({ usage: null, text: '\ud83d', note: [[]] }),
    );
    expect(readRecording(text.replaceAll('\n', '\r\n')).exchanges).toMatchObject([
      { usage: null, text: '\ud83d' },
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an empty file', '', 'does not begin as a recording'],
    ['a file of another kind', '{"type":"run_started"}', 'does not begin as a recording'],
    ['another format', headerLine({ format: 2 }), 'of another format than 1'],
    [
      'a model name with a line break',
      headerLine({ model: 'a\nb' }),
      'Line 1 of the recording has a "model"',
    ],
    [
      'a model name with an invisible character',
      headerLine({ model: 'a\u202eb' }),
      'Line 1 of the recording has a "model"',
    ],
    ['an unknown provider', headerLine({ provider: 'acme' }), 'has a "provider" other than openai'],
    ['a short hash', headerLine({ schema_sha256: 'aa' }), 'has a "schema_sha256" that is no SHA-256'],
    ['no tools', headerLine({ tools: 'all' }), 'has no list "tools"'],
    ['a tool that is not a name', headerLine({ tools: [1] }), 'has "tools" without a name'],
    ['an invalid time', headerLine({ created: 'yesterday' }), 'has a "created" that is no time'],
    [
      'a directory that is too long',
      headerLine({ working_directory: '/a'.repeat(3000) }),
      'that is too long',
    ],
    ['a file of blank lines', '\n'.repeat(30_000), 'more than 20000 lines'],
    ['an invalid version', headerLine({ version: '<b>' }), 'has a "version" that is none'],
  ])('rejects %s', (_, line, said) => {
    expect(problem(recordingText(line))).toContain(said);
  });

  it.each<[string, unknown, string]>([
    ['a line that is not JSON', '{"type":', 'Line 2 of the recording is no JSON object'],
    ['a duplicate key', '{"type":"stopped","type":"answer"}', 'Line 2 of the recording is no JSON object'],
    ['a list', '[]', 'Line 2 of the recording is no JSON object'],
    ['a missing line', answerLine({ number: 2 }), 'does not have the "number" 1: lines are missing'],
    ['an unknown type', answerLine({ type: 'thought' }), 'has a "type" other than answer, failure, stopped'],
    ['an unknown stop reason', answerLine({ stop_reason: 'stop' }), 'has a "stop_reason" other than'],
    ['a negative count', answerLine({ usage: { input_tokens: -1 } }), 'has no whole number "input_tokens"'],
    ['usage that is a list', answerLine({ usage: [] }), 'something else than an object in "usage"'],
    ['invalid calls', answerLine({ tool_calls: [null] }), 'something else than an object in "tool_calls"'],
    [
      'parsed arguments',
      answerLine({ tool_calls: [{ id: '', name: 'x', arguments: {}, status: 'complete' }] }),
      'has no text "arguments"',
    ],
    ['too many calls', answerLine({ tool_calls: Array(1001).fill({}) }), 'more than 1000 entries'],
    [
      'a response without its request',
      answerLine({ asked: null }),
      'something else than an object in "asked"',
    ],
    [
      'a result without its outcome',
      answerLine({ asked: afterResult({ is_error: 'no' }) }),
      'without a boolean "is_error"',
    ],
    ['an unknown failure', { ...failure, number: 1, failure: 'x' }, 'has a "failure" other than auth'],
    ['an invalid status', { ...failure, number: 1, status: '400' }, 'has no whole number "status"'],
  ])('rejects %s', (_, line, said) => {
    expect(problem(recordingText(headerLine(), line))).toContain(said);
  });

  it('quotes nothing of the file, because the user may not be allowed to read it', () => {
    const secret = 'hunter2-hunter2';
    const lines = [
      secret,
      { [secret]: secret },
      answerLine({ type: secret }),
      answerLine({ stop_reason: secret }),
    ];
    for (const line of lines) {
      expect(problem(recordingText(headerLine(), line))).not.toContain('hunter2');
      expect(problem(recordingText(line))).not.toContain('hunter2');
    }
  });

  it('treats keys of Object.prototype as data', () => {
    expect(problem(recordingText('{"__proto__":{"type":"recording"}}'))).toContain('does not begin');
    expect(problem(recordingText(headerLine(), '{"__proto__":{},"number":1,"asked":{}}'))).toContain(
      'Line 2',
    );
  });

  it('returns a recording or throws an InputError for any text', () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const changed = fc
      .tuple(fc.constantFrom(headerLine(), answerLine(), failure), fc.string(), value)
      .chain(([line, key, given]) =>
        fc.constantFrom(...Object.keys(line), key).map((name) => ({ ...line, [name]: given })),
      );
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      changed.map((each) => JSON.stringify(each)),
      fc.constantFrom(headerLine(), answerLine(), failure).map((each) => JSON.stringify(each)),
    );
    const numRuns = Number(process.env['FUZZ_RUNS'] ?? 500);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), fc.nat(), fc.boolean(), (lines, cut, headed) => {
        const text = recordingText(...(headed ? [headerLine()] : []), ...lines);
        const given = cut % 3 === 0 ? text.slice(0, cut % (text.length + 1)) : text;
        try {
          const { exchanges } = readRecording(given);
          expect(exchanges.every((each) => each.asked.results.length >= 0)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns },
    );
  });
});

const folder = makeFolder();

describe('createRecordingFile', () => {
  it('replaces an existing file with the first line and makes it private to the owner', async () => {
    const file = path.join(folder, 'run.jsonl');
    await writeFile(file, 'older, and longer than what comes', { mode: 0o644 });
    const recording = createRecordingFile(file);
    expect(await readFile(file, 'utf8')).toContain('older');
    recording.append('one');
    recording.append('two');
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('does not follow a symbolic link', async () => {
    const target = path.join(folder, 'target');
    await writeFile(target, 'kept');
    await symlink(target, path.join(folder, 'link.jsonl'));
    expect(() => createRecordingFile(path.join(folder, 'link.jsonl')).append('x')).toThrow(ReportError);
    expect(await readFile(target, 'utf8')).toBe('kept');
  });
});
