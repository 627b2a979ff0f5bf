/** Each reader of the list of protected names, and of the kernel's folders, knows every one of them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireReadableFolders } from '../../../src/config/paths.ts';
import {
  isProtectedPath,
  KERNEL_FOLDERS,
  PROTECTED_NAMES,
  refuseComponents,
} from '../../../src/files/protected-names.ts';
import { findUnsafeLink } from '../../../src/files/unsafe-links.ts';
import { rootScript } from '../../../src/sandbox/isolation/unshare.ts';
import { filterPatch } from '../../../src/sandbox/workspace/patch.ts';
import { protectedAtTops } from '../../../src/sandbox/workspace/protected-roots.ts';
import { createTamperCheck } from '../../../src/sandbox/workspace/tamper.ts';

const NAMES = ['.git', 'git~1', '.github', 'action.yml', 'action.yaml'];
const ACTIONS = NAMES.filter((name) => name.startsWith('action'));

let workspace: string;
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'protected-')));
});
afterEach(() => rmSync(workspace, { recursive: true }));

it('the list has the names that it should have', () => {
  expect([...PROTECTED_NAMES].sort()).toEqual([...NAMES].sort());
});

describe.each(NAMES)('%s', (name) => {
  const other = name.toUpperCase();

  it('is not edited, under another spelling either', () => {
    for (const spelling of [name, other]) {
      expect(refuseComponents([spelling], 'edit', true)).not.toBeNull();
      expect(isProtectedPath(['a', spelling])).toBe(!ACTIONS.includes(name));
    }
  });

  it('is what no link of the checkout leads a written file to', () => {
    symlinkSync(name, join(workspace, 'out'));
    expect(findUnsafeLink(join(workspace, 'out'), workspace)).toMatchObject({ isOutside: false });
  });

  it.each([name, other])('is mounted read-only, as %s', async (spelling) => {
    writeFileSync(join(workspace, spelling), '');
    expect(await protectedAtTops(workspace, [])).toEqual([
      { path: join(workspace, spelling), isSecret: false },
    ]);
  });

  it.each([name, other])('is seen by the tamper check where it is new, as %s', async (spelling) => {
    const check = createTamperCheck({ workspace, extra: [], inPlace: false });
    await check.snapshot();
    writeFileSync(join(workspace, spelling), 'x');
    expect((await check.compare())?.file).toBe(spelling);
  });

  it('is left out of the patch', async () => {
    const patch = `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
    const noSecret = { holdsSecret: () => false, asText: null };
    const { leftOut } = await filterPatch(Buffer.from(patch), noSecret, new AbortController().signal);
    expect(leftOut).toEqual([{ name, why: 'protected' }]);
  });
});

describe.each(['/proc', '/dev', '/sys'])('%s', (folder) => {
  it('is the kernel’s, and sandbox-read does not open it', async () => {
    expect(KERNEL_FOLDERS).toContain(folder);
    await expect(requireReadableFolders([folder])).rejects.toThrow(/has of its own/u);
  });

  it('is made anew behind util-linux, with what is mounted in it', () => {
    mkdirSync(join(workspace, 'root'));
    const script = rootScript({
      mounts: [],
      root: join(workspace, 'root'),
      mountPoints: [folder, `${folder}/inside`, '/srv/shown'].map((at) => ({ at, options: [] })),
      shellNetwork: false,
      mark: 'mark',
    });
    expect(script).toContain("submount '/srv/shown'");
    expect(script).not.toContain(`submount '${folder}`);
  });
});
