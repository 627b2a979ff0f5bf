/** Every user of the list of protected names and of kernel directories handles every entry. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requireReadableFolders } from '../../../src/config/paths.ts';
import { KERNEL_FOLDERS } from '../../../src/files/names.ts';
import { rootScript } from '../../../src/sandbox/isolation/unshare.ts';
import { filterPatch } from '../../../src/sandbox/workspace/patch.ts';
import { isProtectedPath, refuseComponents } from '../../../src/sandbox/workspace/protected-names.ts';
import { protectedAtTops } from '../../../src/sandbox/workspace/protected-roots.ts';
import { createTamperCheck } from '../../../src/sandbox/workspace/tamper.ts';
import { makeFolder } from '../../support/surroundings.ts';

const NAMES = ['.git', '.github', 'action.yml', 'action.yaml'];
const folder = makeFolder();

it.each(NAMES.flatMap((name) => [name, name.toUpperCase()]))('%s is protected everywhere', async (name) => {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  const path = join(workspace, name);
  const check = createTamperCheck({ workspace, extra: [], inPlace: false });
  await check.snapshot();
  writeFileSync(path, 'x');
  expect((await check.compare())?.file).toBe(name);
  expect(await protectedAtTops(workspace, [])).toEqual([{ path, isSecret: false }]);
  expect(refuseComponents([name], 'edit', true)).not.toBeNull();
  expect(isProtectedPath(['a', name])).toBe(!/^action/iu.test(name));
  const patch = `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..1\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
  const noSecret = { holdsSecret: () => false, asText: null };
  const { leftOut } = await filterPatch(Buffer.from(patch), noSecret, new AbortController().signal);
  expect(leftOut).toEqual([{ name, why: 'protected' }]);
});

it.each(['/proc', '/dev', '/sys'])(
  '%s is rejected by sandbox-read, and util-linux creates it again',
  async (at) => {
    expect(KERNEL_FOLDERS).toContain(at);
    await expect(requireReadableFolders([at])).rejects.toThrow(/has a ".*" of its own/u);
    const mountPoints = [at, `${at}/inside`, '/srv/shown'].map((place) => ({ at: place, options: [] }));
    const script = rootScript({ mounts: [], root: folder, mountPoints, shellNetwork: false, mark: 'mark' });
    expect(script).toContain("submount '/srv/shown'");
    expect(script).not.toContain(`submount '${at}`);
  },
);
