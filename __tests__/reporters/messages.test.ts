import { expect, it } from 'vitest';
import { createMessages, createTranscript } from '../../src/reporters/messages.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import type { JsonObject, ToolCall } from '../../src/types.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport } from './sample-report.ts';

const options = { version: '0.1.0', cwd: '/w', mask: knowSecrets('sk-canary-1').mask };
const folder = makeFolder();

function collectMessages(events: readonly RunEvent[]): readonly JsonObject[] {
  return events.flatMap(createMessages(options));
}

it('P3 the messages of a run start with the task, contain each turn and result, and describe a rejection by path and keyword', async () => {
  const text = `${JSON.stringify(collectMessages(sampleEvents), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../golden/messages.json');
  expect(text).not.toMatch(/NATIVE-CANARY|sk-canary/u);
});

it.each<[string, JsonObject, ToolCall['status']?]>([
  ['{"a":1,"__proto__":2}', { input: JSON.parse('{"a":1,"__proto__":2}') }],
  ['', { input: {} }],
  ['{"a":1', { input: {}, raw_input: '{"a":1' }, 'truncated'],
  ['{"a":1}', { input: {}, raw_input: '{"a":1}' }, 'truncated'],
  ['[1]', { input: {}, raw_input: '[1]' }],
  ['sk-canary-1', { input: {}, raw_input: '***' }],
  ['{"a":1,"a":2}', { input: {}, raw_input: '{"a":1,"a":2}' }],
])(
  'messages contain an object as the input of a call with %j',
  (rawArguments, expected, status = 'complete') => {
    const [turn] = sampleEvents.filter((event) => event.type === 'turn_completed');
    if (turn === undefined) throw new Error('There is no turn.');
    const toolCalls = [{ id: 'c0', name: 'shell', rawArguments, status }];
    const [message] = collectMessages([{ ...turn, message: { ...turn.message, text: '', toolCalls } }]);
    expect(message).toMatchObject({
      message: { content: [{ type: 'tool_use', id: 'c0', name: 'shell', ...expected }] },
    });
  },
);

// That it has a line for each message is in `every-sink.test.ts` and `e2e/privacy.test.ts`.
it('a transcript that cannot be written is reported once, at the end', async () => {
  const transcript = createTranscript(folder, options);
  for (const event of sampleEvents) transcript.event?.(event);
  const reporting = transcript.report?.(sampleReport(), new AbortController().signal);
  await expect(reporting).rejects.toThrow();
});
