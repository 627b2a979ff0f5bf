import { describe, expect, it } from 'vitest';
import { argumentsOf } from '../../../src/commands/report/arguments.ts';
import { createShowing } from '../../../src/commands/report/visible.ts';

const showing = createShowing((text) => text.replaceAll('sk-canary', '***'));
const read = (name: string, raw: string | null) =>
  argumentsOf(name, raw, ['shell', 'structured_output'], showing).map((each) => [each.name, each.text.text]);

describe('argumentsOf', () => {
  it('shows each by its name, texts as they are and the rest as JSON', () => {
    expect(read('shell', '{"command":"a |\\n b","timeout_seconds":3,"x":{"y":[1]}}')).toEqual([
      ['command', 'a |\n b'],
      ['timeout_seconds', '3'],
      ['x', '{\n  "y": [\n    1\n  ]\n}'],
    ]);
  });

  it.each(['{"command":"a","command":"b"}', '{"command":', '[1]', '"x"', '[['.repeat(5_000)])(
    'shows %.30s raw: it is not what a tool reads',
    (raw) => {
      expect(read('shell', raw)).toEqual([[null, raw]]);
    },
  );

  it('shows an argument on one line whose indented form would be too long for a string', () => {
    const deep = `${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}`;
    const [[name, text] = []] = read('shell', `{"x":${deep}}`);
    expect([name, text]).toEqual(['x', deep.slice(0, 60_000)]);
  });

  it('shows nothing of no arguments', () => {
    expect(read('shell', null)).toEqual([]);
    expect(read('shell', '')).toEqual([]);
  });

  it.each(['structured_output', 'functions.structured_output', 'StructuredOutput', 'Shell', ''])(
    'P3 never shows those of %s',
    (name) => {
      expect(JSON.stringify(read(name, '{"summary":"PAYLOAD-CANARY"}'))).not.toContain('CANARY');
    },
  );

  it('masks a secret that the escapes of JSON had hidden', () => {
    expect(read('shell', '{"command":"echo sk-\\u0063anary"}')).toEqual([['command', 'echo ***']]);
  });
});
