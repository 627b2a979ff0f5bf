// The yardstick: the same exchange by hand, with nothing but Node's own fetch. No SDK, no validation, no sandbox.
// node bare-client.mjs BASE_URL WORKSPACE
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const [, , baseUrl, workspace] = process.argv;
const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const verdict = { type: 'object', properties: { ok: { type: 'boolean' }, note: { type: 'string' } } };
const tools = [
  { type: 'function', function: { name: 'read_file', description: 'Reads a file.', parameters } },
  {
    type: 'function',
    function: { name: 'structured_output', description: 'Delivers.', parameters: verdict },
  },
];
const messages = [{ role: 'user', content: 'Read the files, then deliver.' }];

for (;;) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', messages, tools }),
  });
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  const [call] = message.tool_calls;
  const input = JSON.parse(call.function.arguments);
  if (call.function.name === 'structured_output') {
    break;
  }
  const content = await readFile(path.join(workspace, input.path), 'utf8');
  messages.push({ role: 'tool', tool_call_id: call.id, content });
}
