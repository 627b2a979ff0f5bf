import * as core from '@actions/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog, maskCommands } from '../../src/reporters/log.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { redirect, writeCommands } from '../support/fakes/runner/commands.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets, textOf } from '../support/surroundings.ts';

function openLog(...values: string[]) {
  let count = 0;
  return captureLog(knowSecrets(...values), () => `token-${count++}`);
}

describe('untrusted text', () => {
  it('is shown unchanged except for broken command markers, with a prefix on each line', () => {
    const { log, text } = openLog();
    log.untrusted('a\tb\r\nstd::string ## [x] ##[y]\n\nend');
    expect(text()).toBe(
      '::stop-commands::token-0\n  | a\tb\n  | std: :string ## [x] ## [y]\n  |\n  | end\n::token-0::\n',
    );
  });

  it('gets another stop-commands token when it contains the first, in any case', () => {
    const { log, text } = openLog();
    log.untrusted('TOKEN-0 x');
    expect(text()).toBe('::stop-commands::token-0token-1\n  | TOKEN-0 x\n::token-0token-1::\n');
  });

  it('closes stop-commands and the group when writing fails', () => {
    const written: string[] = [];
    const log = createLog({
      core: writeCommands((text) => {
        written.push(text);
        if (text.includes('boom')) throw new RangeError('disk full');
      }),
      secrets: createSecrets(),
      token: () => 'tok',
    });
    expect(() => log.group('title', 'boom')).toThrow(RangeError);
    expect(written).toEqual([
      '::group::title\n',
      '::stop-commands::tok\n  | boom\n',
      '::tok::\n',
      '::endgroup::\n',
    ]);
  });

  it('has its secrets masked, also when cleaning joins them or they span lines', () => {
    const { log, text } = openLog('sk-canary-123', 'first-line\nother-line');
    log.untrusted('sk-can\x1b[0mary-123 sk-canary\u200b-123 first-line\nother-line');
    log.info('key sk-canary-123');
    log.error('key sk-canary-123', { title: 'sk-canary-123' });
    expect(text()).toBe(
      '::stop-commands::token-0\n  | *** *** ***\n::token-0::\nkey ***\n::error title=***::key ***\n',
    );
  });

  it('C* and D* starts no workflow command for any text', () => {
    const signs = '::,:,##[,#,[,],\r,\n,\u2028,\u0085,\u00a0,\u200b,\u202e,\x1b,\x9b2J,\x00,%0A,%25,='.split(
      ',',
    );
    const words =
      'set-output name=a,stop-commands,token-0,token-1,error,add-mask,endgroup,group,\ud800'.split(',');
    const hostile = textOf([...signs, ...words, ','], { pieceCount: 20 });
    fc.assert(
      fc.property(hostile, hostile, (one, other) => {
        const { log, text } = openLog();
        log.untrusted(one);
        log.info(other, 1);
        const stream = text();
        expect(stream).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200b\u202e]/);
        expect(stream.isWellFormed()).toBe(true);
        log.group(one, other);
        log.error(one, { title: other, file: one, line: 3 });
        const names = ['group', 'endgroup', 'error'];
        expect(parseLog(text()).map((command) => command.name)).toEqual(names);
        expect(parseLog(withoutStopCommands(text())).map((command) => command.name)).toEqual(names);
      }),
      { numRuns: 250 },
    );
  });
});

describe('workflow commands of the log', () => {
  it('contain the whole message and properties, escaped', () => {
    const { log, text } = openLog();
    log.error('100% wrong:\nsee a::b %0A', { title: 'a,b: c', file: 'src/x.js', line: 7 });
    log.warning('w');
    log.notice('n', {});
    expect(parseLog(text())).toEqual([
      {
        name: 'error',
        properties: { title: 'a,b: c', file: 'src/x.js', line: '7' },
        data: '100% wrong:\nsee a: :b %0A',
      },
      { name: 'warning', properties: {}, data: 'w' },
      { name: 'notice', properties: {}, data: 'n' },
    ]);
  });

  it('truncate the message at the limit of the runner, and keep a long path, the end line and the column', () => {
    const { log, text } = openLog();
    const file = `src/${'x'.repeat(3_000)}.js`;
    log.notice('x'.repeat(10_000), { file, line: 3, endLine: 5, col: 7 });
    const properties = { file, line: '3', endLine: '5', col: '7' };
    expect(parseLog(text())).toEqual([{ name: 'notice', properties, data: `${'x'.repeat(3_999)}…` }]);
  });

  it('count annotations by level', () => {
    const { log } = openLog();
    log.error('e');
    log.warning('w');
    log.warning('w');
    log.info('::warning::no');
    expect([log.annotated('error'), log.annotated('warning'), log.annotated('notice')]).toEqual([1, 2, 0]);
  });

  it('mask a value as a whole and line by line, except short lines, as the toolkit does', () => {
    const lines = ['one-line%\r\nother\n}', 'one-line%', 'other'];
    const toolkit: string[] = [];
    for (const line of lines) redirect(core.setSecret, (text) => toolkit.push(text))(line);
    expect(maskCommands(`${lines[0]}\n`)).toBe(toolkit.join(''));
    expect(maskCommands('abc')).toBe('');
  });
});
