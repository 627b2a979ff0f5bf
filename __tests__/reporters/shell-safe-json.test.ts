import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellSafeJson } from '../../src/reporters/inert-json.ts';

describe('shellSafeJson', () => {
  it('D12 is JSON of the same value on one line, without what a shell acts on', () => {
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
