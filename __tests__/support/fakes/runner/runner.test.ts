import { describe, expect, it } from 'vitest';
import { effectsOf, parseLog, parseOutputFile, problemsIn, withoutStopCommands } from './runner.ts';

const names = (text: string) => parseLog(text).map((command) => command.name);

describe('parseLog', () => {
  it('finds commands in both formats and nothing else', () => {
    expect(
      parseLog(
        'x\n  ::set-output name=a,b=c%2Cd::v%0Aw\nnote ##[error file=x;line=3]broken%5D\n::unknown::x\nsee ::error::x',
      ),
    ).toEqual([
      { name: 'set-output', properties: { name: 'a', b: 'c,d' }, data: 'v\nw' },
      { name: 'error', properties: { file: 'x', line: '3' }, data: 'broken]' },
    ]);
  });

  it('ends lines at CR and trims Unicode spaces', () => {
    expect(names('a\r::error::x\n\u00a0\u2003\u0085::warning::y')).toEqual(['error', 'warning']);
  });

  it('ignores commands between stop-commands and its token', () => {
    const text = '::stop-commands::tok\n::error::x\n##[error]y\n::TOK::\n::notice::z\n';
    expect(names(text)).toEqual(['notice']);
    expect(names(withoutStopCommands(text.replace('TOK', 'tok')))).toEqual(['error', 'error', 'notice']);
  });
});

describe('effectsOf', () => {
  it('applies outputs, state, masks, annotations and matchers, and fails like the runner', () => {
    const log = [
      '::set-output name=a::1\rnote ##[save-state name=b]2',
      '::add-mask::success',
      '::ERROR file=README.md,line=1::x',
      '::add-matcher::m.json\n::set-env name=PATH::/evil\n\u2003::add-path::/evil',
      '::stop-commands::error\n::stop-commands::pause-logging\n::stop-commands::\n::notice::still here',
    ].join('\n');
    expect(effectsOf(parseLog(log))).toEqual({
      outputs: new Map([['a', '1']]),
      state: new Map([['b', '2']]),
      masks: ['success'],
      annotations: [
        { level: 'error', message: 'x', file: 'README.md' },
        { level: 'notice', message: 'still here', file: undefined },
      ],
      matchers: ['m.json'],
      failures: ['set-env', 'add-path', 'stop-commands', 'stop-commands', 'stop-commands'],
    });
  });
});

describe('problemsIn', () => {
  it('applies matchers inside stop-commands, but an anchored pattern does not match prefixed lines', () => {
    const line = (prefix: string) => `::stop-commands::tok\n${prefix}a.c:1:2: error: bad\n::tok::\n`;
    const anchored = { regexp: /^(\S+):\d+:\d+: error: (.*)$/u, file: 1, message: 2 };
    const loose = { regexp: /(\S+):\d+:\d+: error: (.*)$/u, file: 1, message: 2 };
    expect(problemsIn(line(''), [anchored])).toEqual([{ file: 'a.c', message: 'bad' }]);
    expect(problemsIn(line('  | '), [anchored])).toEqual([]);
    expect(problemsIn(line('  | '), [loose])).toEqual([{ file: 'a.c', message: 'bad' }]);
  });
});

describe('parseOutputFile', () => {
  it('reads both formats; the last of several equal names wins, ignoring case', () => {
    const text = 'a=1<<2\n\nb<<E\nx\n\ny\r\nE\nc<<E\nE\nA=3\nd=\n';
    expect([...parseOutputFile(text)]).toEqual([
      ['A', '3'],
      ['b', 'x\n\ny\r'],
      ['c', ''],
      ['d', ''],
    ]);
  });

  it('throws when the runner fails the step', () => {
    for (const text of ['nonsense\n', '=x\n', 'a<<\nx\n', 'a<<E\nx\nEE\n'])
      expect(() => parseOutputFile(text)).toThrow();
  });
});
