/** A directory descriptor that the parent process left open is not inherited by any program of the sandbox. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, hasBwrap, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const isRoot = process.getuid?.() === 0;
const owners = isRoot ? [0, 65534] : [process.getuid?.() ?? 0];

it.runIf(hasBwrap).each(owners)(
  'bubblewrap and its process 1 inherit no descriptor; workspace of user %i',
  (owner) => {
    const base = mkdtempSync(join(world.base, 'inherited-'));
    const at = (name: string) => join(base, name);
    for (const name of ['helpers', 'workspace', 'temp', 'run']) mkdirSync(at(name));
    if (isRoot) execFileSync('chown', [`${owner}:${owner}`, at('workspace')]);
    const seen = at('seen');
    // The probe of the sandbox runs no command of the model and has its arguments on its command line.
    writeFileSync(
      at('helpers/bwrap'),
      `#!/bin/sh\n[ "$1" != --args ] || ls -l /proc/$$/fd | sed -n 's/.* -> //p' >> ${seen}\nexec /usr/bin/bwrap "$@"\n`,
      { mode: 0o755 },
    );
    const open = JSON.stringify(join(import.meta.dirname, '../../src/sandbox/open.ts'));
    writeFileSync(
      at('step.mjs'),
      `import { openSandbox } from ${open};
       const at = (name) => ${JSON.stringify(base)} + '/' + name;
       const sandbox = await openSandbox({ workspace: at('workspace'), workingDirectory: at('workspace'),
         mode: 'required', kinds: ['bwrap'], access: 'in-place', shellNetwork: false, readable: [], passEnv: [],
         environment: { PATH: '/usr/bin:/bin' }, home: ${JSON.stringify(world.home)}, runnerTemp: at('temp'), isSecret: () => false,
         runFolder: at('run'), helperFolders: [at('helpers'), '/usr/bin', '/bin'] });
       await sandbox.ready();
       const limits = { timeoutMs: 80_000, maxOutputBytes: 1000, signal: new AbortController().signal };
       console.log((await sandbox.exec('echo ran', limits)).output);
       await sandbox.close();`,
    );
    const folder = openSync(world.home, 'r');
    // Node closes descriptors in its children only up to the first gap above 15.
    const stdio = ['ignore', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), folder] as const;
    const ran = spawnSync(process.execPath, [at('step.mjs')], { encoding: 'utf8', stdio: [...stdio] });
    closeSync(folder);
    expect([ran.stdout, ran.status]).toEqual(['ran\n\n', 0]);
    const held = readFileSync(seen, 'utf8').split('\n');
    expect(held).toContain('/dev/null');
    expect(held).not.toContain(world.home);
  },
);
