/** Quotes of files that git ignores prove nothing, whatever else a payload names. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { World } from '../../src/run/world.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { endOf, judge, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { base } from '../support/worlds/run.ts';

const LINE = 'this line is in one file only';
const finding = (name: string, quote = 'there is no such text') => ({
  ...{ severity: 'warning', message: 'Look.', path: name, line: 1, quote },
});
const locate: World['locate'] = ({ path: name, ...lines }) => ({ ...lines, path: name, source: null });
const folder = Array.from({ length: 12 }, () => 'd'.repeat(240)).join('/');

describe.each(HAS_BWRAP ? ['required', 'off'] : ['off'])(
  'a quote of an ignored file (sandbox: %s)',
  (sandbox) => {
    it.each<[string, readonly string[]]>([
      ['alone', []],
      [
        'beside more paths than a command can hold',
        Array.from({ length: 60 }, (_, at) => `${folder}/${at}.ts`),
      ],
      [
        'beside paths of which each character has three bytes',
        Array.from({ length: 90 }, (_, at) => `あ${'い'.repeat(70)}${at}`),
      ],
      ['beside a path beyond a link', ['link/a.ts']],
      ['beside a path that is an option', ['--no-index', '-v']],
    ])('proves nothing: %s', async (_, others) => {
      const workspace = path.join(base, 'workspace');
      commitChange(workspace, { 'a.ts': 'a\n', '.gitignore': '/ignored*\nあ*\n' }, { 'a.ts': 'b\n' });
      symlinkSync('.', path.join(workspace, 'link'));
      const names = ['ignored.txt', `ignored/${'い'.repeat(60)}.txt`];
      mkdirSync(path.join(workspace, 'ignored'));
      for (const name of names) writeFileSync(path.join(workspace, name), `${LINE}\n`);
      const findings = [...others.map((name) => finding(name)), ...names.map((name) => finding(name, LINE))];
      const judged = await judge(
        [submit('verdict', { findings })],
        { sandbox, grounding: 'mark' },
        { locate },
      );
      expect(endOf(judged)).toBe('success accepted 0');
      expect(judged.report.evidence?.grounding).toMatchObject({ exact: 0, moved: 0 });
    });

    it('takes the proof from no file that git lists, whatever the agent made of its folder', async () => {
      const workspace = path.join(base, 'workspace');
      const files = { 'src/c.ts': `${LINE}\n`, 'd.ts': 'd\n' };
      commitChange(workspace, files, { ...files, 'd.ts': 'e\n' });
      const findings = [finding('src/c.ts', LINE)];
      const judged = await judge(
        [
          { calls: [{ name: 'shell', arguments: JSON.stringify({ command: 'mv src was && ln -s . src' }) }] },
          submit('verdict', { findings }),
        ],
        { sandbox, grounding: 'mark' },
        { locate },
      );
      expect(judged.report.evidence?.findings.map(({ grounding }) => grounding)).toEqual(['exact']);
    });

    it('is what another file proves', async () => {
      const workspace = path.join(base, 'workspace');
      commitChange(workspace, { 'a.ts': 'a\n', '.gitignore': 'ignored*\n' }, { 'b.ts': `${LINE}\n` });
      const findings = [finding('ignored.txt', LINE), finding('b.ts', LINE)];
      const judged = await judge(
        [submit('verdict', { findings })],
        { sandbox, grounding: 'mark' },
        { locate },
      );
      expect(judged.report.evidence?.findings.map(({ grounding }) => grounding)).toEqual([
        'unproven',
        'exact',
      ]);
    });
  },
);
