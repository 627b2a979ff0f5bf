/** The example workflows on act. `.ci/run` runs two of them; all of them run with `npm run test:all`. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CASES } from '../support/act/cases.ts';
import { testAll } from '../support/all.ts';

const ROOT = path.join(import.meta.dirname, '../..');

it('every example has a case', () => {
  const examples = readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.yml'));
  expect([...new Set(CASES.map(({ workflow }) => workflow))].toSorted()).toEqual(examples.toSorted());
});

it.runIf(testAll)(
  'every example ends as expected on act, which has to be on PATH',
  () => {
    const script = path.join(ROOT, '__tests__/support/act/run.ts');
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  },
  1_200_000,
);
