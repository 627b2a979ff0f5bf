/** An answer to a bad quote passes nothing that did not pass, and without a gate loses none of the severe findings. */
import { expect, it } from 'vitest';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { submits } from '../support/fakes/model/server.ts';
import { judge } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { base } from '../support/worlds/run.ts';

const MET = '{"properties":{"findings":{"maxItems":1}}}';
const text = { type: 'string' };
const properties = { severity: text, message: text, path: text, line: { type: 'integer' }, quote: text };
const SCHEMA = JSON.stringify({
  type: 'object',
  properties: {
    passed: { type: 'boolean' },
    findings: { type: 'array', items: { type: 'object', properties } },
  },
});
const row = (severity: string) => ({
  ...{ severity, message: 'Look.', path: 'a.ts', line: 1 },
  quote: 'this is nowhere at all',
});

it.each<[string, string, boolean, readonly string[], readonly string[], 'first' | 'last']>([
  ['none, fewer severe ones', 'none', true, ['error', 'error'], ['error'], 'first'],
  ['none, milder ones', 'none', true, ['critical'], ['note'], 'first'],
  ['none, fewer notes', 'none', true, ['note', 'note'], ['note'], 'last'],
  ['none, fewer in a failed one', 'none', false, ['high', 'error'], ['error'], 'last'],
  ['passed, fewer in a failed one', 'passed', false, ['error', 'error'], ['error'], 'last'],
  ['passed, fewer in one that passes', 'passed', true, ['warning', 'error'], ['warning'], 'last'],
  ['a number, fewer, and still too many', MET, true, ['note', 'note', 'note'], ['note', 'note'], 'last'],
  ['a number, fewer, and few enough', MET, true, ['note', 'note'], ['note'], 'first'],
])('gate %s', async (_, gate, passed, first, last, kept) => {
  const workspace = `${base}/workspace`;
  commitChange(workspace, {}, { 'a.ts': 'export const a = 1;\n' });
  const locate = createLocator({ workspace, workingDirectory: '.', repositories: [] });
  const replies = [first, last].map((each) => submits({ passed, findings: each.map(row) }));
  const inputs = { schema: SCHEMA, gate, grounding: 'require' };
  const { report, rejections } = await judge([...replies, ...replies.slice(-1)], inputs, { locate });
  expect(rejections).toHaveLength(2);
  const { findings = [] }: { findings?: readonly JsonObject[] } = report.payload ?? {};
  expect(findings.map(({ severity }) => severity)).toEqual(kept === 'first' ? first : last);
});
