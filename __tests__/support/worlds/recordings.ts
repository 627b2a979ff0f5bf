/** Recordings to read and replay, as lines that a test can change. */

/** A valid hash. */
export const HASH = 'a'.repeat(64);

type Line = Readonly<Record<string, unknown>>;

/** The first line. */
export function headerLine(more: Line = {}): Line {
  return {
    type: 'recording',
    format: 1,
    model: 'scripted-1',
    provider: 'openai-compatible',
    schema_sha256: HASH,
    prompt_sha256: HASH,
    tools: ['read_file', 'structured_output'],
    working_directory: '/recorded/there',
    created: '2026-01-02T03:04:05.678Z',
    version: '0.1.0',
    ...more,
  };
}

/** A response to the task with one tool call. */
export function answerLine(more: Line = {}): Line {
  return {
    type: 'answer',
    text: 'I look.',
    tool_calls: [{ id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}', status: 'complete' }],
    stop_reason: 'tool_calls',
    usage: { input_tokens: 100, output_tokens: 10, cached_input_tokens: 0, cache_write_tokens: 0 },
    model: 'scripted-1-2026',
    ...more,
  };
}

/** A failure of the model's API. */
export function failureLine(more: Line = {}): Line {
  return { type: 'failure', failure: 'rate_limit', status: 429, message: 'slow down', ...more };
}

/** Joins lines to the text of a recording. */
export function recordingText(...lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}
