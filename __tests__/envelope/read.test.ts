import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readObject } from '../../src/envelope/read.ts';
import { makeFolder } from '../support/surroundings.ts';

const folder = makeFolder();
const at = (name: string) => path.join(folder, name);
writeFileSync(at('file'), '{"a":1}');

describe('readObject', () => {
  it('reads an object, and refuses anything that has replaced its file since the listing', () => {
    symlinkSync(at('file'), at('link'));
    mkdirSync(at('folder'));
    execFileSync('mkfifo', [at('pipe')]);
    const why = (text: string) => ({ ok: false, why: text });
    expect(readObject(at('file'))).toEqual({ ok: true, value: { a: 1 } });
    expect(readObject(at('link'))).toEqual(why('it is a link, and links are not followed'));
    expect(readObject(at('folder'))).toEqual(why('it is not a regular file'));
    expect(readObject(at('pipe'))).toEqual(why('it is not a regular file'));
    expect(readObject('/dev/zero')).toEqual(why('it is not a regular file'));
    expect(readObject(at('none'))).toEqual(why('it cannot be read (ENOENT)'));
  });
});
