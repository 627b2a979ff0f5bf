/** Environments in which a sandbox is hard to start: unusual paths, other owners, mounts, missing helpers. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { createWorld, exec, gitIn, isolatedWays, UNSHARE, type World } from './world.ts';

const isRoot = process.getuid?.() === 0;
const isolated = isolatedWays;
/** Names that a shell, a shell script or the mount table could misread. */
const ODD = [`it's "q" \`id\` $HOME $(id) \\040`, 'new\nline\ttab ', '-rf', '*?[a];#&|<>:,=%s ünï 😀'];

/** A workspace that is also the working directory. */
const at = (workspace: string) => ({ workspace, workingDirectory: workspace });

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

for (const way of isolated)
  describe(`behind ${way.name}`, () => {
    it('supports paths with special characters', async () => {
      for (const name of ODD) {
        const workspace = join(mkdtempSync(join(world.base, 'odd-')), name);
        mkdirSync(join(workspace, name), { recursive: true });
        gitIn(workspace, 'init', '-q', '.');
        const workingDirectory = join(workspace, name);
        const sandbox = await world.openReady({
          ...way.options,
          access: 'scratch',
          workspace,
          workingDirectory,
        });
        const command =
          'printf %s "$PWD"; echo x > file && git status --short | wc -l; touch ../.git/x 2>/dev/null || echo closed';
        expect((await exec(sandbox, command)).output).toBe(`${workingDirectory}1\nclosed\n`);
        expect((await sandbox.read('file', 10)).kind).toBe('file');
        await sandbox.close();
      }
    });

    it('sets limits for commands and starts a plain shell; reads a start file only if the user passes it', async () => {
      const own = join(world.base, 'own-start.sh');
      writeFileSync(own, 'own=read\n');
      const environment = { PATH: '/usr/bin:/bin', BASH_ENV: own };
      const passEnv = ['BASH_ENV'];
      const sandbox = await world.openReady({ ...way.options, environment, passEnv, readable: [own] });
      const bare = await world.openReady({ ...way.options, environment: { PATH: '/usr/bin:/bin' } });
      const limits = 'ulimit -c; ulimit -u; ulimit -f; echo "[$BASH_ENV] $# $own"; bash -c \'echo "[$own]"\'';
      expect((await exec(bare, limits)).output).toBe('0\n8192\n16777216\n[] 0 \n[]\n');
      expect((await exec(sandbox, limits)).output).toBe(`0\n8192\n16777216\n[${own}] 0 read\n[read]\n`);
      expect((await exec(bare, 'nosuch\necho "$LINENO"')).output).toMatch(/line 1: nosuch: .*\n2\n$/u);
      await sandbox.close();
      await bare.close();
    });

    it.runIf(isRoot)(
      'as root, runs commands as the owner of the workspace, who can write all of it',
      async () => {
        for (const access of ['in-place', 'scratch'] as const) {
          const workspace = mkdtempSync(join(world.base, 'owned-'));
          writeFileSync(join(workspace, 'file'), 'one\n');
          mkdirSync(join(workspace, 'folder'));
          execFileSync('chown', ['-R', '65533:65533', workspace]);
          const environment = { PATH: '/usr/bin:/bin' };
          const sandbox = await world.openReady({ ...way.options, ...at(workspace), environment, access });
          await sandbox.write('tool', Buffer.from('tool\n'));
          await sandbox.write('/tmp/tool', Buffer.from('tool\n'));
          const command =
            'set -e; id -u; for f in file tool new folder/new /tmp/tool /tmp/new ~/new; do echo x >> $f; done; git config --global a.b c; echo all';
          expect((await exec(sandbox, command)).output).toBe('65533\nall\n');
          const long = await exec(sandbox, "head -c 40000 /dev/zero | tr '\\0' x");
          expect((await exec(sandbox, `wc -c < ${long.fullOutputPath}`)).output).toBe('40000\n');
          expect(statSync(join(workspace, 'file')).uid).toBe(65533);
          expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe(
            access === 'scratch' ? 'one\n' : 'one\nx\n',
          );
        }
      },
    );

    it.runIf(isRoot)('shows a workspace that is a mount point with another mount inside', async () => {
      const workspace = mkdtempSync(join(world.base, 'mount-'));
      const inner = join(workspace, 'inner');
      const mount = (place: string) => execFileSync('/bin/mount', ['-t', 'tmpfs', 'none', place]);
      mount(workspace);
      mkdirSync(inner);
      mount(inner);
      try {
        writeFileSync(join(workspace, 'a'), 'a\n');
        writeFileSync(join(inner, 'b'), 'b\n');
        for (const access of ['in-place', 'scratch', 'read-only'] as const) {
          const sandbox = await world.openReady({ ...way.options, ...at(workspace), access });
          const command = 'cat a inner/b; touch c inner/d 2>/dev/null && echo wrote';
          const wrote = access === 'read-only' ? '' : 'wrote\n';
          expect((await exec(sandbox, command)).output).toBe(`a\nb\n${wrote}`);
          await sandbox.close();
        }
      } finally {
        for (const place of [inner, workspace]) execFileSync('/bin/umount', [place]);
      }
    });
  });

/** A directory of helpers: links to system programs with these names, and scripts. */
function helpers(names: readonly string[], scripts: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(world.base, 'helpers-'));
  for (const name of names) symlinkSync(join('/usr/bin', name), join(folder, name));
  for (const [name, body] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return folder;
}

describe('a machine without a requirement of the sandbox', () => {
  const grounds: (readonly [string, () => string, RegExp])[] = [
    ['unshare without nsenter', () => helpers(['unshare', 'setpriv', 'sudo']), /needs bubblewrap, or util/u],
    [
      'a bwrap that cannot create a namespace, without sudo',
      () => helpers([], { bwrap: 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1' }),
      /bwrap: .*uid map: Permission denied/u,
    ],
    [
      'an unshare that cannot create a namespace',
      () => helpers(['nsenter', 'setpriv', 'sudo'], { unshare: 'echo "unshare: not permitted" >&2; exit 1' }),
      isRoot || isolated.some(({ name }) => name === UNSHARE)
        ? /unshare: not permitted/u
        : /needs bubblewrap/u,
    ],
  ];
  if (!isRoot) {
    grounds.push([
      'a sudo that asks for a password',
      () => helpers(['unshare', 'nsenter', 'setpriv'], { sudo: 'echo "a password is required" >&2; exit 1' }),
      /sudo that asks for no password/u,
    ]);
  }
  for (const [name, make, why] of grounds)
    it(`${name}: fails in mode required with a fix, offers no shell in mode auto, runs nothing`, async () => {
      const helperFolders = [make()];
      const required = await world.open({ mode: 'required', helperFolders });
      const failure = await required.ready().then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(SandboxError);
      expect(failure).toMatchObject({ message: expect.stringMatching(why) });
      expect(failure).toMatchObject({ message: expect.stringMatching(/Fix[\s\S]*`sandbox: off`/u) });
      await expect(exec(required, 'touch ran')).rejects.toBeInstanceOf(SandboxError);
      const auto = await world.open({ mode: 'auto', helperFolders });
      expect([auto.shellOffered, auto.isolation()]).toEqual([false, 'none']);
      await expect(exec(auto, 'touch ran')).rejects.toBeInstanceOf(SandboxError);
      await expect(auto.read('ran', 10)).rejects.toMatchObject({ missing: true });
    });
});
