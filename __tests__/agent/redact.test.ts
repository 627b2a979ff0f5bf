import { describe, expect, it } from 'vitest';
import { REDACTED_ARGUMENTS, redactIssues, redactMessage } from '../../src/agent/batch.ts';

const offered = (name: string) => ['shell', 'structured_output'].includes(name);

describe('redaction for events', () => {
  it('redactMessage removes the arguments of structured_output and the native form, and nothing else', () => {
    const other = { id: 'b', name: 'shell', rawArguments: '{"command":"true"}', status: 'complete' } as const;
    const call = {
      id: 'a',
      name: 'structured_output',
      rawArguments: '{"passed":tr',
      status: 'truncated',
    } as const;
    const message = {
      role: 'assistant',
      text: 'prose',
      toolCalls: [call, other],
      native: { content: '{"passed":tr' },
    } as const;
    expect(redactMessage(message, offered)).toEqual({
      role: 'assistant',
      text: 'prose',
      toolCalls: [{ ...call, rawArguments: REDACTED_ARGUMENTS }, other],
      native: null,
    });
    expect(JSON.parse(REDACTED_ARGUMENTS)).toBeTypeOf('object');
  });

  it('redactIssues keeps paths and keywords, and removes messages', () => {
    const issues = [
      { path: '', keyword: 'required', message: 'SECRET' },
      { path: '/a/0', keyword: 'type', message: 'SECRET' },
    ];
    expect(redactIssues(issues)).toBe('Rejected: the root (required), /a/0 (type)');
  });
});
