import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { folder, isRoot, made, put, read } from './folder-world.ts';

describe('the folder of envelopes', () => {
  const refused = async (at: string) => {
    const error: unknown = await read(null, at).catch((reason: unknown) => reason);
    return error instanceof InputError ? [error.input, error.message] : error;
  };

  it('when missing is an input error, and can be empty', async () => {
    const at = path.join(folder, 'no\nsuch');
    expect(await refused(at)).toEqual([
      'verdicts',
      `verdicts: the folder ${JSON.stringify(at)} does not exist. Name the folder into which actions/download-artifact put the envelopes.`,
    ]);
    expect(await read()).toEqual([]);
  });

  it('is refused when it is a file', async () => {
    put('file.json', made());
    expect(await refused(path.join(folder, 'file.json'))).toMatchObject([
      'verdicts',
      expect.stringContaining('is not a folder'),
    ]);
  });

  it('can be eight levels deep, and not deeper', async () => {
    put(`${'d/'.repeat(8)}x.json`, made());
    expect(await read()).toHaveLength(1);
    put(`${'d/'.repeat(9)}x.json`, made());
    expect(await refused(folder)).toMatchObject(['verdicts', expect.stringContaining('8 levels deep')]);
  });

  it.runIf(!isRoot)('is refused when any folder in it cannot be listed', async () => {
    mkdirSync(path.join(folder, 'closed'), { mode: 0 });
    expect(await refused(folder)).toMatchObject([
      'verdicts',
      expect.stringContaining('cannot be listed (EACCES)'),
    ]);
    // The cleanup after the test could not remove it.
    rmdirSync(path.join(folder, 'closed'));
  });
});
