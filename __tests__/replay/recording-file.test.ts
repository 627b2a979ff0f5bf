import { mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { createRecordingFile } from '../../src/replay/recording-file.ts';

let folder = '';
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'recording-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the file of a recording', () => {
  it('replaces what stood there with the first line, and is for its owner alone', async () => {
    const file = path.join(folder, 'run.jsonl');
    await writeFile(file, 'older, and longer than what comes', { mode: 0o644 });
    const recording = createRecordingFile(file);
    expect(await readFile(file, 'utf8')).toContain('older');
    recording.append('one');
    recording.append('two');
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('is never behind a link that the repository holds', async () => {
    const target = path.join(folder, 'target');
    await writeFile(target, 'kept');
    await symlink(target, path.join(folder, 'run.jsonl'));
    expect(() => createRecordingFile(path.join(folder, 'run.jsonl')).append('x')).toThrow(ReportError);
    expect(await readFile(target, 'utf8')).toBe('kept');
  });
});
