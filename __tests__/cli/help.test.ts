import { describe, expect, it } from 'vitest';
import { COMMANDS, FLAGS } from '../../src/cli/flags.ts';
import { helpText } from '../../src/cli/help.ts';

describe('--help', () => {
  const text = helpText();
  const lines = text.split('\n');

  it('fits 98 columns, ends in a newline, and has no trailing whitespace', () => {
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(98);
    expect(text).toMatch(/[^\n]\n$/u);
    expect(text).not.toMatch(/[ \t]\n|\t/u);
  });

  it('lists every flag once, with its short names and its value', () => {
    for (const { name, short, value } of FLAGS) {
      const rows = lines.filter((line) =>
        new RegExp(`^ {2}(?:-\\w, )*--(?:\\[no-\\])?${name}(?: |$)`, 'u').test(line),
      );
      expect(rows, name).toHaveLength(1);
      for (const letter of short) expect(rows[0]).toContain(`-${letter}, `);
      expect(rows[0]).toContain(value);
    }
    const rows = lines.filter((line) => /^ {2}-/u.test(line));
    expect(rows).toHaveLength(FLAGS.length);
  });

  it('lists aliases, defaults, commands, variables and every exit code', () => {
    const flat = text.replace(/\s+/gu, ' ');
    expect(flat).toContain('(also --max-session-turns; default: 30)');
    expect(flat).toContain('--[no-]force-output');
    for (const command of COMMANDS) expect(text).toMatch(new RegExp(`^ {2}${command} +[A-Z].*\\.$`, 'mu'));
    for (const name of ['STRUCTURED_AGENT_API_KEY', 'STRUCTURED_AGENT_HEADERS', 'ANTHROPIC_API_KEY'])
      expect(text).toContain(name);
    const codes = lines.flatMap((line) => /^ {2}(\d+) /u.exec(line)?.[1] ?? []);
    expect(codes).toEqual(['0', '1', '44', '52', '53', '55', '130']);
  });
});
