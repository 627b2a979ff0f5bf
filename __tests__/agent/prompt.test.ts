import { expect, it } from 'vitest';
import { contextNote, rejectionText, systemPrompt } from '../../src/agent/prompt.ts';

const root = '/work/repo';
const facts = {
  ...{ root, workingDirectory: root, structured: true },
  ...{ isIsolated: true, offline: false, quotes: false },
};
const change = { about: 'pull request #7', contents: 'title, changed files and diff', author: 'its author' };
const issues = [
  { path: '', keyword: 'required', message: 'The key "passed" is missing; present: "summary".' },
  { path: '/findings/0/line', keyword: 'type', message: 'Must be integer, not string.' },
];

it.each([
  ['system-prompt', systemPrompt(facts)],
  ['system-prompt-below-the-root', systemPrompt({ ...facts, workingDirectory: '/work/repo/packages/api' })],
  ['system-prompt-with-less', systemPrompt({ ...facts, structured: false, offline: true })],
  ['system-prompt-without-a-sandbox', systemPrompt({ ...facts, isIsolated: false })],
  ['system-prompt-with-quotes', systemPrompt({ ...facts, quotes: true })],
  ['context-note', contextNote(change, '/tmp/context', false)],
  ['context-note-with-coverage', contextNote(change, '/tmp/context', true)],
  ['rejection', rejectionText(issues)],
])('the text %s of the loop matches its golden file', async (name, text) => {
  await expect(`${text}\n`).toMatchFileSnapshot(`../golden/prompts/${name}.txt`);
});
