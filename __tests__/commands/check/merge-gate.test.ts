import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingsOf } from './workflow-world.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../examples/many-legs.yml'), 'utf8');
const GATE = '          gate: none # the merge asks for `passed`\n';
const VOTES = '          votes: majority of 3\n';

/** The example with another schema and gate in its legs, and another gate of the merge. */
function gated(schema: object, own: string, merge: string): string {
  const legs = `          schema: '${JSON.stringify(schema)}'\n${own}`;
  return EXAMPLE.replace(GATE, () => legs).replace(VOTES, () => `${VOTES}${merge}`);
}

const closed = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
  additionalProperties: false,
};
const open = { type: 'object', properties: { ok: { type: 'boolean' } } };
const OWN = '          gate: none\n';
const of = (gate: string) => `          gate: ${gate}\n`;

describe('the gate of a merge', () => {
  it.each<[string, string, readonly string[]]>([
    ['nobody has', gated(closed, OWN, ''), ['error leg-ungated at schema:']],
    [
      'is auto, and the payload may say more',
      gated(open, OWN, of('auto')),
      ['warning leg-ungated at schema:'],
    ],
    ['is a property', gated(closed, OWN, of('ok')), []],
    ['is a property that no leg has', gated(closed, OWN, of('okay')), ['error leg-ungated at schema:']],
    ['is none', gated(closed, OWN, of('none')), []],
    ['is a schema', gated(closed, OWN, of(`'{"properties": {"ok": {"const": true}}}'`)), []],
    ['is decided by an expression', gated(closed, OWN, of('${{ vars.GATE }}')), []],
    ['is that of the legs', gated(closed, of('ok'), ''), ['warning leg-gate at gate:']],
    [
      'is asked of a payload with passed',
      gated({ ...closed, properties: { passed: { type: 'boolean' } }, required: ['passed'] }, OWN, ''),
      [],
    ],
    ['a leg alone may know', gated(closed, of('${{ vars.GATE }}'), ''), ['warning leg-gate at gate:']],
  ])('which %s', async (_, text, expected) => {
    expect(await findingsOf(text)).toEqual(expected);
  });
});

describe('the gate of a merge that is a schema, or none', () => {
  const passed = {
    ...closed,
    properties: { passed: { type: 'boolean' } },
    required: ['passed'],
  };
  it.each<[string, string, readonly string[]]>([
    ['asks', `'{"properties": {"passed": {"const": true}}}'`, []],
    ['asks nothing', `'{"properties": {"passed": {}}}'`, ['error gate-root at gate:']],
    ['asks nothing at all', `'{}'`, ['error gate-root at gate:']],
    [
      'asks for what no leg has',
      `'{"properties": {"pased": {"const": true}}}'`,
      ['error gate-root at gate:'],
    ],
    [
      'every payload of the legs meets',
      `'{"properties": {"passed": {"type": "boolean"}}}'`,
      ['error gate-root at gate:'],
    ],
    [
      'no payload of the legs can meet',
      `'{"properties": {"passed": {"const": "true"}}}'`,
      ['error gate-root at gate:'],
    ],
    ['is no JSON', `'{"properties": '`, ['error gate-source at gate:']],
    ['is a file that is not there', `'@gate.json'`, ['error gate-source at gate:']],
    ['is a file', `'@.github/gate.json'`, []],
    ['is read from another repository', `'@org/judges/gate.json@v1'`, []],
    ['is none, and the legs have none', 'none', ['warning merge-ungated at gate:']],
  ])('%s', async (_, gate, expected) => {
    const files = { '.github/gate.json': '{"properties": {"passed": {"const": true}}}' };
    expect(await findingsOf(gated(passed, OWN, of(gate)), files)).toEqual(expected);
  });

  it('is none, and the legs have their own', async () => {
    expect(await findingsOf(gated(passed, of('passed'), of('none')))).toEqual(['warning leg-gate at gate:']);
  });
});
