/** Every user of the list of protected names and of kernel directories handles every entry. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireReadableFolders } from '../../../src/config/paths.ts';
import { isProtectedPath, KERNEL_FOLDERS, refuseComponents } from '../../../src/files/protected-names.ts';
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

describe.each(NAMES)('%s', (name) => {
  const other = name.toUpperCase();

  it('cannot be edited, also with another spelling', () => {
    for (const spelling of [name, other]) {
      expect(refuseComponents([spelling], 'edit', true)).not.toBeNull();
      expect(isProtectedPath(['a', spelling])).toBe(!ACTIONS.includes(name));
    }
  });

  it('cannot be the target of a link at a written path', () => {
    symlinkSync(name, join(workspace, 'out'));
    expect(findUnsafeLink(join(workspace, 'out'), workspace)).toMatchObject({ isOutside: false });
  });

  it.each([name, other])('is mounted read-only as %s', async (spelling) => {
    writeFileSync(join(workspace, spelling), '');
    expect(await protectedAtTops(workspace, [])).toEqual([
      { path: join(workspace, spelling), isSecret: false },
    ]);
  });

  it.each([name, other])('is reported by the tamper check when it is new, as %s', async (spelling) => {
    const check = createTamperCheck({ workspace, extra: [], inPlace: false });
    await check.snapshot();
    writeFileSync(join(workspace, spelling), 'x');
    expect((await check.compare())?.file).toBe(spelling);
  });

  it('is removed from the patch', async () => {
    const patch = `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
    const noSecret = { holdsSecret: () => false, asText: null };
    const { leftOut } = await filterPatch(Buffer.from(patch), noSecret, new AbortController().signal);
    expect(leftOut).toEqual([{ name, why: 'protected' }]);
  });
});

describe.each(['/proc', '/dev', '/sys'])('%s', (folder) => {
  it('is a kernel directory that sandbox-read rejects', async () => {
    expect(KERNEL_FOLDERS).toContain(folder);
    await expect(requireReadableFolders([folder])).rejects.toThrow(/has a "[^"]+" of its own/u);
  });

  it('is created by util-linux again, with its mounts', () => {
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
