import * as core from '@actions/core';
import { describe, expect, it } from 'vitest';
import { maskCommands } from '../../src/reporters/log.ts';
import { redirect } from '../support/fakes/runner/commands.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';

function openLog(...values: string[]) {
  let count = 0;
  return captureLog(knowSecrets(...values), () => `token-${count++}`);
}

// That no text starts a command is in `every-sink.test.ts`.
describe('a block', () => {
  it('is shown unchanged except for broken command markers, with a prefix on each line', () => {
    const { log, text } = openLog();
    log.group('title', 'a\tb\r\nstd::string ## [x] ##[y]\n\nend');
    expect(text()).toBe(
      '::group::title\n::stop-commands::token-0\n  | a\tb\n  | std: :string ## [x] ## [y]\n  |\n  | end\n::token-0::\n::endgroup::\n',
    );
  });

  it('has its secrets masked, also when cleaning joins them or they span lines', () => {
    const { log, text } = openLog('sk-canary-123', 'first-line\nother-line');
    log.group('x', 'sk-can\x1b[0mary-123 sk-canary\u200b-123 first-line\nother-line');
    expect(text()).toContain('\n  | *** *** ***\n');
  });
});

describe('an annotation', () => {
  it('has a title, a place and a message of several lines', () => {
    const { log, text } = openLog();
    log.error('100% wrong:\nsee a::b', { title: 'a: b, c', file: 'src/x.js', startLine: 7, endLine: 9 });
    const properties = { title: 'a: b, c', file: 'src/x.js', line: '7', endLine: '9' };
    expect(parseLog(text())).toEqual([{ name: 'error', properties, data: '100% wrong:\nsee a: :b' }]);
  });

  it('is truncated at the limit of the runner, and keeps a long path', () => {
    const { log, text } = openLog();
    const file = `src/${'x'.repeat(3_000)}.js`;
    log.notice('x'.repeat(10_000), { file });
    expect(parseLog(text())).toEqual([
      { name: 'notice', properties: { file }, data: `${'x'.repeat(3_999)}…` },
    ]);
  });
});

it('a value is masked as a whole and line by line, except short lines, as the toolkit does', () => {
  const lines = ['one-line%\r\nother\n}', 'one-line%', 'other'];
  const toolkit: string[] = [];
  for (const line of lines) redirect(core.setSecret, (text) => toolkit.push(text))(line);
  expect(maskCommands(`${lines[0]}\n`)).toBe(toolkit.join(''));
  expect(maskCommands('abc')).toBe('');
});
