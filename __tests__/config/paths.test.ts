import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isInside,
  requireReadableFolders,
  resolveOutputFile,
  resolveOwnFile,
  resolveReuseFolder,
  resolveWorkingDirectory,
} from '../../src/config/paths.ts';
import { InputError } from '../../src/errors.ts';

let base = '';
let workspace = '';
let temp = '';

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'paths-')));
  workspace = path.join(base, 'workspace');
  temp = path.join(base, 'temp');
  for (const folder of ['workspace/sub', 'workspace/..odd', 'temp', 'outside'])
    mkdirSync(path.join(base, folder), { recursive: true });
  symlinkSync(path.join(base, 'outside'), path.join(workspace, 'way-out'));
  symlinkSync('sub', path.join(workspace, 'way-in'));
  writeFileSync(path.join(workspace, 'file'), '');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** The resolved value, or the input and the message of the error. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof InputError) return `${error.input}! ${error.message}`;
    throw error;
  }
}

describe('isInside', () => {
  it.each([
    ['/a', '/a', true],
    ['/a/b/c', '/a', true],
    ['/a/..b', '/a', true],
    ['/ab', '/a', false],
    ['/', '/a', false],
    ['/b/a', '/a', false],
  ])('isInside(%s, %s) is %s', (inner, outer, expected) => {
    expect(isInside(inner, outer)).toBe(expected);
  });
});

describe('the working directory', () => {
  const resolve = (folder: string) => outcome(resolveWorkingDirectory(folder, workspace));

  it('resolves to a real folder of the workspace, or the workspace itself', async () => {
    expect(await resolve('.')).toBe(workspace);
    expect(await resolve('way-in')).toBe(path.join(workspace, 'sub'));
    expect(await resolve('..odd')).toBe(path.join(workspace, '..odd'));
    expect(await resolve(path.join(workspace, 'sub'))).toBe(path.join(workspace, 'sub'));
  });

  it.each(['way-out', '..', '../outside', '/'])('is refused outside the workspace: %s', async (folder) => {
    expect(await resolve(folder)).toMatch(/^working-directory! .*leaves the workspace/u);
  });

  it.each(['nowhere', 'file', 'a\0b'])('is refused when it is not a folder: %j', async (folder) => {
    expect(await resolve(folder)).toMatch(/^working-directory! .*no folder in the workspace/u);
  });
});

describe('the reuse-from folder', () => {
  const resolve = (folder: string, signed = false) => {
    const roots = { workspace, temp, runFolder: path.join(temp, 'run') };
    return outcome(resolveReuseFolder(folder, roots, signed));
  };

  it('resolves to a real folder in RUNNER_TEMP, or null when it does not exist yet', async () => {
    mkdirSync(path.join(temp, 'verdicts'));
    expect(await resolve(path.join(temp, 'verdicts/'))).toBe(path.join(temp, 'verdicts'));
    expect(await resolve(path.join(temp, 'nowhere', 'yet'))).toBeNull();
  });

  it('may be in the workspace only with a signing key, so that a change cannot bring its own verdict', async () => {
    expect(await resolve('sub')).toMatch(/^reuse-from! .*bring a verdict of its own.*signing-key/u);
    expect(await resolve('nowhere')).toMatch(/^reuse-from! .*bring a verdict of its own/u);
    expect(await resolve('sub', true)).toBe(path.join(workspace, 'sub'));
    expect(await resolve('nowhere', true)).toBeNull();
  });

  it.each(['way-out', 'way-out/deeper', '..', '../outside', '/'])(
    'is refused elsewhere: %s',
    async (folder) => {
      expect(await resolve(folder, true)).toMatch(/^reuse-from! .*(?:lies outside|files that are judged)/u);
    },
  );

  it('counts as the workspace when a link in RUNNER_TEMP leads there', async () => {
    symlinkSync(path.join(workspace, 'sub'), path.join(temp, 'link'));
    expect(await resolve(path.join(temp, 'link'))).toMatch(/^reuse-from! .*lies in the workspace/u);
  });

  it('cannot contain the workspace or this run’s copy of it', async () => {
    mkdirSync(path.join(temp, 'run', 'workspace'), { recursive: true });
    for (const folder of ['.', temp, path.join(temp, 'run'), path.join(temp, 'run', 'workspace')])
      expect(await resolve(folder, true)).toMatch(/^reuse-from! .*files that are judged/u);
  });

  it('is refused when it is a file', async () => {
    expect(await resolve('file', true)).toMatch(/^reuse-from! .*is no folder/u);
  });
});

describe('an output file', () => {
  const resolve = (file: string) =>
    outcome(resolveOutputFile('result-file', file, workspace, [workspace, temp]));

  it('resolves to its real path in the workspace or RUNNER_TEMP, and its folder is created', async () => {
    expect(await resolve('new/deep/r.json')).toBe(path.join(workspace, 'new', 'deep', 'r.json'));
    expect(existsSync(path.join(workspace, 'new', 'deep'))).toBe(true);
    expect(await resolve('way-in/r.json')).toBe(path.join(workspace, 'sub', 'r.json'));
    expect(await resolve(path.join(temp, 'r.json'))).toBe(path.join(temp, 'r.json'));
    expect(await resolve('file')).toBe(path.join(workspace, 'file'));
  });

  it.each(['way-out/r.json', 'way-out/new/r.json', '../r.json', '/etc/r.json', '.'])(
    'is refused outside the workspace, and nothing is created there: %s',
    async (file) => {
      expect(await resolve(file)).toMatch(/^result-file! .*outside the workspace/u);
      expect(existsSync(path.join(base, 'outside', 'new'))).toBe(false);
    },
  );

  it.each(['.git/r.json', 'sub/.git/hooks/r', '.github/workflows/ci.yml', '.GitHub/x', '.git'])(
    'is refused in a protected folder: %s',
    async (file) => {
      expect(await resolve(file)).toMatch(/^result-file! .*Nothing is written into \.git or \.github/u);
      expect(existsSync(path.join(workspace, path.dirname(file), path.basename(file)))).toBe(false);
    },
  );

  it('is refused when it is a folder, a pipe, or below a file', async () => {
    execFileSync('mkfifo', [path.join(workspace, 'pipe')]);
    expect(await resolve('sub')).toMatch(/^result-file! .*no regular file/u);
    expect(await resolve('pipe')).toMatch(/^result-file! .*no regular file/u);
    expect(await resolve('file/r.json')).toMatch(/^result-file! .*cannot be written to/u);
  });

  it('is not resolved to the target of a symbolic link that is named itself', async () => {
    writeFileSync(path.join(base, 'outside', 'there'), '');
    symlinkSync(path.join(base, 'outside', 'there'), path.join(workspace, 'link'));
    expect(await resolve('link')).not.toBe(path.join(base, 'outside', 'there'));
  });
});

describe('an output file behind a symbolic link of the checkout', () => {
  const LINKS = { hooks: '.git/hooks', away: '../outside', temp: '../temp', 'sub/hooks': '../.git/hooks' };
  const entries: Record<string, (file: string, from: string) => Promise<string>> = {
    'in the action': (file) => resolveOutputFile('result-file', file, workspace, [workspace, temp]),
    'on the command line': (file, from) => resolveOwnFile('result-file', file, from),
  };
  beforeEach(() => {
    mkdirSync(path.join(workspace, '.git/hooks'), { recursive: true });
    for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, path.join(workspace, name));
  });

  describe.each(Object.keys(entries))('%s', (entry) => {
    const resolve = (file: string, from = workspace) =>
      outcome(entries[entry]?.(file, from) ?? Promise.reject());

    it.each(Object.keys(LINKS))('%s/f is refused with the target of the link', async (name) => {
      for (const typed of [`${name}/f`, path.join(workspace, name, 'f')]) {
        const target = path.resolve(workspace, path.dirname(name), LINKS[name as keyof typeof LINKS]);
        expect(await resolve(typed)).toContain(`"${name}" leads to "${target}"`);
        expect(await resolve(typed)).toMatch(/^result-file! .*symbolic link/u);
      }
    });

    it('is resolved when the link stays inside the workspace', async () => {
      expect(await resolve('way-in/f')).toBe(path.join(workspace, 'sub/f'));
    });
  });

  it('on the command line, a path outside the workspace is allowed', async () => {
    const outside = path.join(base, 'outside', 'f');
    expect(await resolveOwnFile('record', outside, workspace)).toBe(outside);
    expect(await resolveOwnFile('record', '../outside/f', workspace)).toBe(outside);
    symlinkSync('outside', path.join(base, 'own-link'));
    expect(await resolveOwnFile('record', '../own-link/f', workspace)).toBe(outside);
  });

  it('on the command line, links of the whole checkout are checked, not only of the current folder', async () => {
    const message = await outcome(resolveOwnFile('record', '../hooks/f', path.join(workspace, 'sub')));
    expect(message).toContain('"hooks" leads to');
  });
});

describe('sandbox-read folders', () => {
  const check = (...folders: string[]) => outcome(requireReadableFolders(folders));

  it('may be any folder of the host', async () => {
    expect(await check(workspace, '/usr')).toBeUndefined();
    expect(await check()).toBeUndefined();
  });

  it('are refused by name when missing or a file, even after valid ones', async () => {
    expect(await check('/usr', '/nonexistent/x')).toMatch(/^sandbox-read! .*"\/nonexistent\/x".*no folder/u);
    expect(await check(path.join(workspace, 'file'))).toMatch(/^sandbox-read! .*no folder/u);
  });

  it('are refused when they are the root or a kernel folder, also through a link', async () => {
    symlinkSync('/', path.join(workspace, 'root'));
    for (const folder of ['/', '/proc', '/proc/self', '/sys', '/dev', path.join(workspace, 'root')])
      expect(await check(folder)).toMatch(/^sandbox-read! .*has of its own/u);
  });
});
