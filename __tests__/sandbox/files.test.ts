/** Reading and writing files inside, with `sandbox: off`, and without a sandbox. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { manifest, putFiles } from '../support/local.ts';
import { CANARY, exec, MODES, NO_SANDBOX, useWorld } from './world.ts';

const world = await useWorld();
const { workspace, home } = world;

putFiles(workspace, { 'src/a.txt': '0123456789', 'src/empty': '', '-n': 'dash', "it's $HOME\n.txt": 'odd' });
putFiles(workspace, { 'tools/run.sh': 'old', '.hidden/x': '', 'fine.txt': 'ok' });
putFiles(workspace, { 'sub/.git/config': CANARY });
mkdirSync(`${workspace}-beside`);
chmodSync(join(workspace, 'tools/run.sh'), 0o755);
const inside = { inner: 'src/a.txt', 'fine-link': 'fine.txt', 'git-link': '.git', dangling: 'nowhere' };
const links = { ...inside, outer: join(home, '.npmrc'), 'outer-folder': '/etc' };
for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name));

async function orDenied<T>(result: Promise<T>): Promise<T | string> {
  return result.catch((error: Error) => (error.name === 'DeniedError' ? error.message : String(error)));
}

/** What a file holds, a list of what a folder holds, or why neither can be read. */
async function tryRead(sandbox: OpenedSandbox, path: string, maxBytes = 100): Promise<unknown> {
  const view = await orDenied(sandbox.read(path, maxBytes));
  if (typeof view === 'string') return view;
  if (view.kind === 'directory') return view.entries.map(({ name, mark }) => `${name}${mark}`);
  return [view.bytes.toString(), view.truncated];
}

const tryWrite = (sandbox: OpenedSandbox, path: string, text: string) =>
  orDenied(sandbox.write(path, Buffer.from(text)).then(() => 'written'));

describe.each(MODES)('with sandbox: %s', async (mode) => {
  const before = manifest(workspace, () => false);
  const sandbox = await world.openReady({ mode });

  it.each<[path: string, seen: unknown, maxBytes?: number]>([
    ['src/a.txt', ['0123456789', false], 10],
    ['src/a.txt', ['0123', true], 4],
    [`${workspace}/src/../src//a.txt`, ['0123456789', false]],
    ['src/empty', ['', false]],
    ['-n', ['dash', false]],
    ["it's $HOME\n.txt", ['odd', false]],
    ['inner', ['0123456789', false]],
    ['src', ['a.txt', 'empty']],
    ['.hidden/', ['x']],
    ['nowhere', '"nowhere" does not exist.'],
    ['dangling', '"dangling" does not exist.'],
    ['src/a.txt/x', '"src/a.txt/x" does not exist.'],
    ['/dev/zero', '"/dev/zero" is not a regular file.'],
    ['a\0b', 'A path must not contain a NUL character.'],
  ])('reads %j', async (path, seen, maxBytes) => {
    expect(await tryRead(sandbox, path, maxBytes)).toEqual(seen);
  });

  it('lists kinds, hidden names and names that are not UTF-8', async () => {
    const socket = `python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('s')"`;
    const make = "touch .x ..y f $'\\377'; mkdir d; ln -s nowhere l; mkfifo p";
    await exec(sandbox, `mkdir $TMPDIR/kinds && cd $TMPDIR/kinds && ${make}; ${socket}`);
    const folder = (await exec(sandbox, 'echo $TMPDIR/kinds')).output.trim();
    const files = ['.x', '..y', 'f', '\ufffd'];
    const others = ['d/', 'l@', 'p?', 's?'];
    expect([...((await tryRead(sandbox, folder)) as string[])].sort()).toEqual([...files, ...others].sort());
    for (const name of ['p', 's']) {
      expect(await tryRead(sandbox, `${folder}/${name}`)).toMatch(/is not a regular file/u);
      expect(await tryWrite(sandbox, `${folder}/${name}`, 'x')).toMatch(/is not a regular file/u);
    }
  });

  it.each<[path: string, said: string]>([
    ['src/new.txt', 'written'],
    ['new/folders/a.txt', 'written'],
    ['-f', 'written'],
    ["it's new $HOME\n.txt", 'written'],
    ['tools/run.sh', 'written'],
    ['src', '"src" is a folder. Name a file in it.'],
    ['src/a.txt/x', 'Access to "src/a.txt/x" is denied.'],
    ['/proc/x', 'Access to "/proc/x" is denied.'],
    ['', '"" is a folder. Name a file in it.'],
    ['a\0b', 'A path must not contain a NUL character.'],
  ])('writes %j', async (path, said) => {
    expect(await tryWrite(sandbox, path, 'text')).toBe(said);
    if (said === 'written') expect(await tryRead(sandbox, path)).toEqual(['text', false]);
  });

  it('keeps the mode of a file, and a link', async () => {
    await exec(sandbox, 'printf old > new-target; chmod 750 new-target; ln -s new-target new-link');
    expect(await tryWrite(sandbox, 'new-link', 'new')).toBe('written');
    const look = 'stat -c %a new-target; cat new-target; readlink new-link';
    expect((await exec(sandbox, look)).output).toBe('750\nnewnew-target\n');
    await sandbox.write('src/mode.txt', Buffer.alloc(0));
    const list = 'stat -c %a src/mode.txt; ls -A src | grep -c edit';
    expect((await exec(sandbox, list)).output).toBe('644\n0\n');
  });

  it(`${mode === 'off' ? 'changes' : 'does not change'} the checkout`, async () => {
    await sandbox.close();
    if (mode !== 'off') return expect(manifest(workspace, () => false)).toEqual(before);
    expect(readFileSync(join(workspace, 'new/folders/a.txt'), 'utf8')).toBe('text');
    expect(statSync(join(workspace, 'tools/run.sh')).mode & 0o777).toBe(0o755);
  });
});

describe('with sandbox: auto, without a sandbox', async () => {
  const sandbox = await world.openReady({ mode: 'auto', detected: NO_SANDBOX });

  const closed = expect.stringMatching(/is closed: (?:\.git|config) can hold credentials/u);
  const outside = expect.stringMatching(/ is outside of the checkout, and without a sandbox nothing else /u);
  it.each<[path: string, seen: unknown]>([
    ['fine.txt', ['ok', false]],
    ['fine-link', ['ok', false]],
    ['.hidden', ['x']],
    ['missing', expect.stringMatching(/does not exist\.$/u)],
    ['outer', outside],
    ['outer-folder/passwd', outside],
    ['..', outside],
    [`${workspace}-beside`, outside],
    ['/etc/passwd', outside],
    ['/proc/self/environ', outside],
    ['.git', closed],
    ['git-link/config', closed],
    ['sub/.git/config', closed],
    ['a\0b', expect.stringContaining('NUL')],
  ])('reads %j', async (path, seen) => {
    expect(await tryRead(sandbox, path)).toEqual(seen);
  });

  it('runs and writes nothing, and shows the context', async () => {
    expect(() => world.open({ mode: 'required', detected: NO_SANDBOX })).toThrow('There is no sandbox.');
    expect(sandbox.shellOffered).toBe(false);
    expect(sandbox.weaknesses()[0]).toContain('There is no sandbox.');
    expect([sandbox.isolation(), sandbox.layer()]).toEqual(['none', null]);
    await expect(exec(sandbox, 'true')).rejects.toThrow('Without a sandbox, no commands can run.');
    expect(await tryWrite(sandbox, 'x', '')).toBe('Without a sandbox, no commands can run.');
    await sandbox.addContext('change.txt', Buffer.from('diff'));
    expect(await tryRead(sandbox, `${sandbox.contextFolder}/change.txt`)).toEqual(['diff', false]);
    expect(await tryRead(sandbox, join(sandbox.contextFolder, '../home'))).toEqual(outside);
  });
});
