import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLine, shellSafeJson } from '../../src/text/sanitize.ts';

describe('jsonLine', () => {
  it('is parsed back to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(jsonLine(JSON.parse(JSON.stringify(value))))).toEqual(
          JSON.parse(JSON.stringify(value)),
        );
      }),
    );
  });

  it('is one line for every reader and has no terminal sequences', () => {
    const hostile = 'a\x1b[2J\x9b2J\x7f\r\n\u0085\u2028\u2029\u202e\u2066\u200f\ud800';
    const text = jsonLine({ [hostile]: hostile });
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(text)).toEqual({ [hostile]: hostile });
  });

  it('contains no workflow command', () => {
    const text = jsonLine(['##[add-mask]x', '####[error]y', '\\##[z']);
    expect(text).not.toContain('##[');
    expect(JSON.parse(text)).toEqual(['##[add-mask]x', '####[error]y', '\\##[z']);
  });
});

describe('shellSafeJson', () => {
  it('D12 is one line of JSON for the same value, without special characters of a shell', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        const text = shellSafeJson(plain);
        expect(JSON.parse(text)).toEqual(plain);
        expect(text).not.toMatch(/[<>&'`$\r\n\u2028\u2029\u0085]/);
      }),
    );
  });

  it('D12 stays text in single quotes of a real shell', () => {
    const value = { summary: ['$', "{{ secrets.GITHUB_TOKEN }} $(touch pwn) `id` '; id; #"].join('') };
    const printed = execFileSync('/bin/sh', ['-c', `printf %s '${shellSafeJson(value)}'`], {
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toEqual(value);
  });
});
