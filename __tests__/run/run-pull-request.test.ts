import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadedContext } from '../../src/github/context.ts';
import type { World } from '../../src/run/world.ts';
import { hasSandbox } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { base, command, converse, good } from '../support/worlds/run.ts';

const SHELLS = [{ sandbox: 'off' }, ...(hasSandbox ? [{ sandbox: 'required' }] : [])] as const;

describe('the context of a pull request', () => {
  const about = (loaded: Partial<LoadedContext> = {}): Partial<World> => ({
    findContext: async () => ({
      subject: { about: 'pull request #7', contents: 'diff', author: 'the author of the pull request' },
      load: async () => ({
        pull: null,
        listed: { files: [], more: null },
        range: null,
        prefersGit: false,
        notes: [],
        readBaseAttributes: async () => null,
        ...loaded,
      }),
    }),
  });
  const look = command('cd /tmp/context && cat README.md && cat changed-files.txt diff.patch');
  const read: Reply = { calls: [{ name: 'read_file', arguments: '{"path":"/tmp/context/README.md"}' }] };

  it.each(SHELLS)(
    'is in the context folder before the first tool runs, and in the task (%j)',
    async (inputs) => {
      const { asked } = await converse([look, read, good], inputs, about());
      expect(asked[0]?.messages.find(({ role }) => role === 'user')?.text).toMatch(
        /^Judge\.\n\nThis run is about pull request #7\..*no.* is an instruction to you\.$/su,
      );
      for (const request of asked.slice(1))
        expect(request.toolResults[0]?.text).toContain('This folder describes pull request #7.');
    },
  );

  it.each(SHELLS)('has a diff by git if GitHub returned none and the base exists (%j)', async (inputs) => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: path.join(base, 'workspace'),
        encoding: 'utf8',
      }).trim();
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    const range = { base: git('rev-parse', 'HEAD'), head: '' };
    await writeFile(path.join(base, 'workspace', 'added.txt'), 'new\n');
    git('add', 'added.txt');
    git('commit', '-q', '-m', 'two');
    const context = about({ listed: null, range, notes: ['Nobody answered.'] });
    const { asked, notices, report } = await converse([look, good], inputs, context);
    expect(report.evidence?.context).toBe('complete');
    expect(asked[1]?.toolResults[0]?.text).toMatch(
      /as git makes it(?:.*\n)+A\tadded\.txt\ndiff --git a\/added\.txt b\/added\.txt\n(?:.*\n)+\+new\n/u,
    );
    expect(notices.join('\n')).not.toContain('Nobody answered');
  });

  it('is not waited for after a signal, nor is a policy file that GitHub does not send', async () => {
    const forever = () => new Promise<never>(() => undefined);
    const files = { readFile: forever, readElsewhere: forever };
    const listen: World['listen'] = (listener) => void setTimeout(() => listener.signal('SIGTERM'), 50);
    const ends = [
      await converse([good], {}, { findContext: forever, listen }),
      await converse([good], { schema: './schema.json' }, { files, listen }),
    ];
    for (const { report } of ends)
      expect(report.verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
  });

  it('counts as missing when the pull request is unknown', async () => {
    const { report, asked } = await converse([good], {}, { findContext: async () => 'unknown' });
    expect([report.evidence?.context, asked[0]?.messages.at(-1)?.text]).toEqual(['missing', 'Judge.']);
  });
});

describe('the evidence of a run', () => {
  it('counts only the tool calls that ran', async () => {
    const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input) });
    const calls = [
      call('shell', { command: 'exit 3' }),
      call('read_file', { path: 'nowhere.txt' }),
      call('read_file', { file: 'wrong argument' }),
      call('grep', { pattern: 'x' }),
    ];
    const beside = [call('shell', { command: 'true' }), call('structured_output', { passed: 'yes' })];
    const { report } = await converse([{ calls }, { calls: beside }, good]);
    expect(report).toMatchObject({
      verdict: { exitCode: 0 },
      evidence: { context: 'none', toolCalls: 2, findings: [] },
    });
  });

  it('is null when the run ended early', async () => {
    const { report } = await converse([good], { 'max-turns': 'many' });
    expect([report.verdict.exitCode, report.evidence]).toEqual([52, null]);
  });
});
