/** Toolchains in a hidden home, as their installers lay them out: they work, and their credentials cannot be read. */
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { putFiles } from '../../support/local.ts';
import { CANARY, exec, isolatedWays, useWorld } from '../world.ts';

interface Layout {
  /** The directory on PATH. */
  readonly path: string;
  /** The program file if it is outside `path`, which then contains a link or a script that leads to it. */
  readonly installed?: string;
  /** A file that the program reads. */
  readonly reads: string;
  /** A file with mode 0600 and an unlisted name. */
  readonly secret: string;
}

/** All paths are below home. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  nvm: {
    path: '.nvm/versions/node/v22.1.0/bin',
    reads: '.nvm/versions/node/v22.1.0/lib/node_modules/npm/package.json',
    secret: '.nvm/mirror.auth',
  },
  cargo: {
    path: '.cargo/bin',
    installed: '.rustup/toolchains/stable/bin/cargo',
    reads: '.rustup/settings.toml',
    secret: '.cargo/registry.login',
  },
  sdkman: {
    path: '.sdkman/candidates/java/current/bin',
    installed: '.sdkman/candidates/java/21/bin/java-main',
    reads: '.sdkman/candidates/java/21/release',
    secret: '.sdkman/etc/login',
  },
  volta: {
    path: '.volta/bin',
    installed: '.volta/tools/image/node/22.1.0/bin/node',
    reads: '.volta/tools/user/platform.json',
    secret: '.volta/hooks.auth',
  },
  pulumi: { path: '.pulumi/bin', reads: '.pulumi/plugins/x', secret: '.pulumi/credentials.json' },
};
const NAMES = Object.keys(LAYOUTS);

function put(home: string, name: string, text: string, mode: number): string {
  putFiles(home, { [name]: text });
  chmodSync(join(home, name), mode);
  return join(home, name);
}

const programOf = (name: string) => `tool-of-${name}`;

function install(home: string, name: string, { path, installed, reads, secret }: Layout): void {
  put(home, reads, `${name} works\n`, 0o644);
  put(home, secret, `${CANARY}\n`, 0o600);
  if (name === 'sdkman') {
    mkdirSync(join(home, dirname(installed ?? '')), { recursive: true });
    symlinkSync('21', join(home, '.sdkman/candidates/java/current'));
  }
  const script = `#!/bin/sh\nexec cat '${home}/${reads}'\n`;
  // Pulumi is installed with umask 077.
  const mode = name === 'pulumi' ? 0o700 : 0o755;
  const program = put(home, installed ?? join(path, programOf(name)), script, mode);
  if (name === 'volta') {
    mkdirSync(join(home, path), { recursive: true });
    symlinkSync(relative(join(home, path), program), join(home, path, programOf(name)));
  } else if (installed !== undefined)
    put(home, join(path, programOf(name)), `#!/bin/sh\nexec '${program}'\n`, 0o755);
}

describe.each(isolatedWays)('behind $name', async ({ options }) => {
  const world = await useWorld();
  const open = (folders: readonly string[]) => {
    const path = [...folders.map((folder) => join(world.home, folder)), '/usr/bin', '/bin'].join(':');
    return world.open({ ...options, environment: { PATH: path, HOME: world.home } });
  };
  beforeAll(async () => {
    for (const name of NAMES) install(world.home, name, LAYOUTS[name] as Layout);
    put(world.home, '.cargo/credentials.toml', CANARY, 0o600);
  });

  it('every toolchain works, and files private to the user cannot be read', async () => {
    const sandbox = await open(NAMES.map((name) => LAYOUTS[name]?.path ?? ''));
    await sandbox.ready();
    const works = await exec(sandbox, NAMES.map(programOf).join('; '));
    expect(works.output).toBe(NAMES.map((name) => `${name} works\n`).join(''));
    const look = `grep -rlF ${CANARY} '${world.home}'; touch '${world.home}/.cargo/bin/x' || echo closed`;
    expect((await exec(sandbox, `(${look}) 2>/dev/null`)).output).toBe('closed\n');
    expect(sandbox.notes().join('\n')).toMatch(
      /only the user of this step may read them: .*\.pulumi\/credentials\.json/u,
    );
    await sandbox.close();
  });
});
