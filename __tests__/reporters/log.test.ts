import * as core from '@actions/core';
import { expect, it } from 'vitest';
import { maskCommands } from '../../src/reporters/log.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { captureLog, redirect } from '../support/surroundings.ts';

// How a run looks is in `golden/log/`, and that no text starts a command in `every-sink.test.ts`.
it('an annotation is truncated at the limit of the runner, and keeps a long path', () => {
  const { log, text } = captureLog();
  const file = `src/${'x'.repeat(3_000)}.js`;
  log.notice('x'.repeat(10_000), { file });
  expect(parseLog(text())).toEqual([{ name: 'notice', properties: { file }, data: `${'x'.repeat(3_999)}…` }]);
});

it('a value is masked as a whole and line by line, except short lines, as the toolkit does', () => {
  const lines = ['one-line%\r\nother\n}', 'one-line%', 'other'];
  const toolkit: string[] = [];
  for (const line of lines) redirect(core.setSecret, (text) => toolkit.push(text))(line);
  expect(maskCommands(`${lines[0]}\n`)).toBe(toolkit.join(''));
  expect(maskCommands('abc')).toBe('');
});
