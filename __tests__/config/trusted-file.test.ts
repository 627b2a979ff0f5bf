import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maxSchemaBytes, readTrustedFile } from '../../src/config/trusted-file.ts';

let base: string;
let root: string;
const read = (path: string) => readTrustedFile(path, { root, maxBytes: maxSchemaBytes });
const problem = (text: string) => ({ ok: false, problem: text });
const missing = (text: string) => ({ ...problem(text), isMissing: true });
const MISSING =
  'there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.';

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'trusted-')));
  root = join(base, 'workspace');
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('readTrustedFile', () => {
  it('A3 reads a regular file, by a relative and by an absolute path', async () => {
    writeFileSync(join(root, 's.json'), '{"a":"ä"}');
    expect(await read('s.json')).toEqual({ ok: true, text: '{"a":"ä"}' });
    expect(await read(join(root, 's.json'))).toEqual({ ok: true, text: '{"a":"ä"}' });
  });

  it('A7 a missing file could not be read', async () => {
    expect(await read('nope.json')).toEqual(missing(`could not read "nope.json": ${MISSING}`));
    writeFileSync(join(root, 'file'), '');
    expect(await read('file/x')).toEqual(missing(`could not read "file/x": ${MISSING}`));
  });

  it('A8 a directory, a FIFO, a device and a socket are refused at once', async () => {
    mkdirSync(join(root, 'folder'));
    execFileSync('/usr/bin/env', ['mkfifo', join(root, 'fifo')]);
    const server = createServer().listen(join(root, 'socket'));
    const other = 'must be a regular file, but is a device, a pipe, a socket, or a file of /proc or /sys.';
    expect(await read('folder')).toEqual(problem('"folder" must be a regular file, but is a directory.'));
    expect(await read('fifo')).toEqual(problem(`"fifo" ${other}`));
    expect(await read('socket')).toEqual(problem(`"socket" ${other}`));
    expect(await readTrustedFile('/dev/zero', { root: null, maxBytes: 10 })).toEqual(
      problem(`"/dev/zero" ${other}`),
    );
    await new Promise((done) => server.close(done));
  });

  it('A9 exactly 4 MiB are read, one byte more is refused by size', async () => {
    const file = join(root, 'large.json');
    writeFileSync(file, ' '.repeat(maxSchemaBytes));
    expect(await read('large.json')).toEqual({ ok: true, text: ' '.repeat(maxSchemaBytes) });
    truncateSync(file, maxSchemaBytes + 1);
    expect(await read('large.json')).toEqual(
      problem('"large.json" is larger than 4 MiB; only smaller files are read.'),
    );
  });

  it('a file that the kernel makes up is refused, whatever its size', async () => {
    expect(await readTrustedFile('/proc/self/environ', { root: null, maxBytes: 1e6 })).toEqual(
      problem(
        '"/proc/self/environ" must be a regular file, but is a device, a pipe, a socket, or a file of /proc or /sys.',
      ),
    );
  });

  it('A11 a symlink inside the workspace is read', async () => {
    writeFileSync(join(root, 's.json'), '{}');
    symlinkSync('s.json', join(root, 'link'));
    expect(await read('link')).toEqual({ ok: true, text: '{}' });
  });

  it('A11 what leaves the workspace is refused, by symlink, by symlinked folder, by dots and by absolute path', async () => {
    mkdirSync(join(base, 'outside'));
    writeFileSync(join(base, 'outside', 's.json'), '{"secret":1}');
    symlinkSync('../outside/s.json', join(root, 'link'));
    symlinkSync('../outside', join(root, 'folder'));
    const left = (name: string) => problem(`"${name}" leaves the workspace; only files inside it are read.`);
    for (const path of ['link', 'folder/s.json', '../outside/s.json', join(base, 'outside', 's.json')]) {
      expect(await read(path)).toEqual(left(path));
    }
  });

  it('A11 a folder beside the workspace whose name begins alike is outside', async () => {
    mkdirSync(join(base, 'workspace-2'));
    writeFileSync(join(base, 'workspace-2', 's.json'), '{}');
    expect((await read('../workspace-2/s.json')).ok).toBe(false);
    writeFileSync(join(root, '..s.json'), '{}');
    expect((await read('..s.json')).ok).toBe(true);
  });

  it('a root that is itself reached by a symlink confines all the same', async () => {
    symlinkSync('workspace', join(base, 'alias'));
    writeFileSync(join(root, 's.json'), '{}');
    const limits = { root: join(base, 'alias'), maxBytes: 10 };
    expect(await readTrustedFile('s.json', limits)).toEqual({ ok: true, text: '{}' });
    expect((await readTrustedFile('../x', limits)).ok).toBe(false);
  });

  it('without a root, a file anywhere is read', async () => {
    writeFileSync(join(base, 's.json'), '{}');
    expect(await readTrustedFile(join(base, 's.json'), { root: null, maxBytes: 10 })).toEqual({
      ok: true,
      text: '{}',
    });
  });

  it('A12 a BOM is taken away', async () => {
    writeFileSync(join(root, 's.json'), '\uFEFF{}');
    expect(await read('s.json')).toEqual({ ok: true, text: '{}' });
  });

  it('bytes that are not UTF-8 are refused', async () => {
    writeFileSync(join(root, 's.json'), Buffer.from([0x22, 0xff, 0x22]));
    expect(await read('s.json')).toEqual(problem('"s.json" is not valid UTF-8 text. Save it as UTF-8.'));
  });

  it('symlinks in a circle and names with a NUL are answers, not crashes', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    expect(await read('a')).toEqual(problem('could not read "a": too many symbolic links.'));
    expect((await read('a\0b')).ok).toBe(false);
    expect((await read('x'.repeat(5000))).ok).toBe(false);
  });
});
