/** The workflows that a newcomer begins with, with the inputs that are written in them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runInit, WORKFLOW_FILE } from '../../src/commands/init/init.ts';
import { repository, runIn } from '../commands/check/world.ts';
import { calls, KEY, runAction, submits } from '../support/fakes/runner/action.ts';

const folder = repository({});
await runIn(runInit, folder, ['--preset', 'verdict', '--model', 'claude-sonnet-5-5']);
const readme = readFileSync(path.join(import.meta.dirname, '../../README.md'), 'utf8');
const [, quickStart = ''] = /```yaml\n(.*?)```/su.exec(readme) ?? [];
const written = readFileSync(path.join(folder, WORKFLOW_FILE), 'utf8');

it.each([
  ["the README's quick start", quickStart],
  ['what init writes', written],
])('%s is green only if the model looks at something', async (_, text) => {
  const steps: readonly { uses?: string; with?: object }[] = parse(text).jobs.verdict.steps;
  const agent = steps.find(({ uses }) => uses?.includes('/structured-agent@'));
  const given = Object.entries(agent?.with ?? {}).map(([name, value]) => [name, String(value)]);
  const typed = Object.fromEntries(given);
  const inputs = { 'min-coverage': '', provider: 'anthropic', ...typed, 'api-key': KEY };
  expect(typed['api-key']).toMatch(/^\$\{\{ secrets\./u);
  const green = submits({ passed: true, summary: 'Fine.', findings: [] });
  const look = calls('read_file', { path: 'a.txt' });
  const ends = [];
  for (const script of [[green], [look, green]]) {
    const { exitCode, outputs } = await runAction({ files: { 'a.txt': 'a\n' }, inputs, script });
    ends.push(`${exitCode} ${outputs.get('run-reason')}`);
  }
  expect(ends).toEqual(['1 unsupported', '0 accepted']);
});
