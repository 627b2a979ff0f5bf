/** The example workflows on act, which has to be on PATH. `.ci/run` runs two of them, and `npm run test:all` all. */
import { mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { CASES } from '../support/act/cases.ts';
import { runExample } from '../support/act/run.ts';
import { testAll } from '../support/all.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();

it('every example has a case', () => {
  const examples = readdirSync(path.join(import.meta.dirname, '../../examples'));
  const workflows = examples.filter((name) => name.endsWith('.yml'));
  expect([...new Set(CASES.map(({ workflow }) => workflow))].toSorted()).toEqual(workflows.toSorted());
});

it.each(testAll ? CASES : [])('$workflow: $title', { timeout: 300_000 }, async (each) => {
  const { exitCode, log, comments, states } = await runExample(each, mkdtempSync(path.join(folders, 'act-')));
  expect(exitCode, log).toBe(each.exitCode);
  for (const text of each.has) expect(log).toContain(text);
  for (const text of each.lacks) expect(log).not.toContain(text);
  const comment = each.comment === null ? [] : [expect.stringContaining(each.comment)];
  expect({ comments, states }).toEqual({ comments: comment, states: each.states ?? [] });
});
