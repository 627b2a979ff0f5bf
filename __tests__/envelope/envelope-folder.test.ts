import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { folder, isRoot, made, put, read } from './folder-world.ts';

describe('the folder', () => {
  const refused = async (at: string) => {
    const error: unknown = await read(null, { at, whenMissing: 'refuse' }).catch((reason: unknown) => reason);
    return error instanceof InputError ? [error.input, error.message] : error;
  };

  it('that is not there is a mistake, or holds nothing, as the caller has it', async () => {
    const at = path.join(folder, 'no\nsuch');
    expect(await refused(at)).toEqual([
      'verdicts',
      `verdicts: the folder ${JSON.stringify(at)} does not exist. Name the folder into which actions/download-artifact put the envelopes.`,
    ]);
    expect(await read(null, { at, whenMissing: 'empty' })).toEqual([]);
    expect(await read()).toEqual([]);
  });

  it('that is a file is a mistake', async () => {
    put('file.json', made());
    expect(await refused(path.join(folder, 'file.json'))).toMatchObject([
      'verdicts',
      expect.stringContaining('is no folder'),
    ]);
  });

  it('may be eight levels deep and no deeper', async () => {
    put(`${'d/'.repeat(8)}x.json`, made());
    expect(await read()).toHaveLength(1);
    put(`${'d/'.repeat(9)}x.json`, made());
    expect(await refused(folder)).toMatchObject(['verdicts', expect.stringContaining('8 levels deep')]);
  });

  it.runIf(!isRoot)('that may not be listed is a mistake, however deep it lies', async () => {
    mkdirSync(path.join(folder, 'closed'), { mode: 0 });
    expect(await refused(folder)).toMatchObject([
      'verdicts',
      expect.stringContaining('cannot be listed (EACCES)'),
    ]);
    // Nobody else could remove it with what lies around it.
    rmdirSync(path.join(folder, 'closed'));
  });
});
