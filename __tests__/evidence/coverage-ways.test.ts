/** Ways to read a change, with the texts that real programs and the tools of the agent give of a real repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Hunk, parseDiff } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import { inlineDiff } from '../../src/run/inline-diff.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { createReadFile } from '../../src/tools/read-file.ts';

const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'coverage-')));
afterAll(() => rmSync(root, { recursive: true }));

const shell = (command: string) =>
  execFileSync('bash', ['-c', command], {
    encoding: 'utf8',
    cwd: root,
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: root },
  });
const write = (name: string, text: string) => {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  writeFileSync(path.join(root, name), text);
};
const body = (name: string, crlf = false) =>
  Array.from({ length: 40 }, (_, at) => `  const ${name}${at} = ${at};${at % 9 === 0 ? '\n\n}' : ''}\n`)
    .join('')
    .replaceAll('\n', crlf ? '\r\n' : '\n');

const files = { 'src/a.ts': body('a'), 'b c.ts': body('b', true), 'src/gone.ts': body('gone') };
for (const [name, text] of Object.entries(files)) write(name, text);
shell('git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && git tag base');
write(
  'src/a.ts',
  files['src/a.ts'].replace('a5 = 5', 'a5 = 55').replace('const a30 = 30', 'let added30 = 30'),
);
write('b c.ts', files['b c.ts'].replace('b5 = 5', 'b5 = "x"'));
write('src/new.ts', body('fresh'));
rmSync(path.join(root, 'src/gone.ts'));
shell('git add -A && git -c user.name=a -c user.email=a@b commit -qm two');
const text = shell('git diff base HEAD');
write('.git/context/diff.patch', text);

const change = { files: parseDiff(text), incomplete: null, marked: new Map() };
const diffs = new Map([['/tmp/context/diff.patch', text]]);
const all = ['b c.ts', 'src/a.ts', 'src/gone.ts', 'src/new.ts'];

function patchOf({ oldStart, newStart, lines }: Hunk): string {
  const [old, now] = ['+', '-'].map((mark) => lines.filter((line) => !line.startsWith(mark)).length);
  return [`@@ -${oldStart},${old} +${newStart},${now} @@`, ...lines].join('\n');
}

function shownBy(results: readonly SeenResult[], workingDirectory = root): readonly string[] {
  const meter = createCoverageMeter(change, { root, workingDirectory, subject: '', diffs });
  for (const result of results) meter.observe(result);
  const { unseen } = meter.measure().files;
  return all.filter((name) => !unseen.includes(name));
}
const run = (command: string, target = command): SeenResult => ({
  ...{ tool: 'shell', target },
  text: `${shell(command)}[exit code 0]`,
});

const sandbox = {
  read: async (file: string) => {
    const bytes = execFileSync('cat', [path.resolve(root, file.replace('/tmp/context', '.git/context'))]);
    return { kind: 'file', bytes, truncated: false };
  },
} as unknown as Sandbox;
const readFile = createReadFile(sandbox, 25_000);
async function read(input: { path: string; offset?: number; limit?: number }): Promise<SeenResult> {
  const { content } = await readFile.run(input, new AbortController().signal);
  return { tool: 'read_file', target: input.path, text: content };
}

const changed = ['src/a.ts'];
describe('a change is shown by', () => {
  it.each<[command: string, shown: readonly string[]]>([
    ['git diff base HEAD', all],
    ['git diff -U0 base HEAD', all],
    ['git diff -U20 base', all],
    ['git diff --color=always base HEAD', all],
    ['git diff --no-prefix base HEAD', all],
    ['git -c diff.mnemonicPrefix=true diff base HEAD', all],
    ['git show HEAD', all],
    ['git log -p -1', all],
    ['cat .git/context/diff.patch', all],
    ['git diff base HEAD -- src/a.ts', changed],
    ['cat src/a.ts', changed],
    ['cat ./src/../src/a.ts', changed],
    ['cd src && cat a.ts', changed],
    ['cat "b c.ts"', ['b c.ts']],
    ['cat $(git diff --name-only base -- src/a.ts)', changed],
    ["sed -n '1,12p;30,40p' src/a.ts", changed],
    ['cat -n src/a.ts', changed],
    ['nl -ba src/a.ts', changed],
    ["grep -n '= 55\\|added' src/a.ts", changed],
    ["grep -rn -A1 '= 55\\|added30' .", changed],
    ["grep -rn -A1 '= 55\\|added30' src", changed],
    ["git grep -n -C2 '= 55\\|added30'", changed],
    ["cd src && grep -rn '= 55\\|added30' .", changed],
    ['git show HEAD:src/a.ts', changed],
    ['git show base:src/gone.ts', ['src/gone.ts']],
    ['cat src/new.ts', ['src/new.ts']],
    ['cat src/a.ts | awk \'{ printf "%4d | %s\\n", NR, $0 }\'', changed],
    ['cat src/a.ts | awk \'{ printf "%4d   │ %s\\n", NR, $0 }\'', changed],
    ['cat src/a.ts | awk \'{ printf "%s %4d | %s\\n", NR == 6 ? ">" : " ", NR, $0 }\'', changed],
    ['cat src/a.ts | sed "s/$/\\r/"', changed],
    // The numbers or the names of the lines are missing, or not those of the file.
    ['cat -n .git/context/diff.patch', []],
    ['git diff base HEAD | grep "^[-+]"', []],
    ['git diff base HEAD -- src/a.ts | tail -n +6', []],
    ['for f in src/*.ts; do cat $f; done', []],
    ["grep -r '= 55\\|added30' src", []],
    // A part only.
    ['git diff base HEAD | sed -n "60,80p"', []],
    ["sed -n '1,12p' src/a.ts", []],
    ['head -2 src/new.ts', []],
    // No line.
    ['git diff --stat base HEAD', []],
    ['git diff --name-status base HEAD', []],
    ['git show base:src/a.ts >/dev/null; git log --oneline', []],
  ])('%s', (command, shown) => {
    expect(shownBy([run(command)])).toEqual(shown);
  });

  it('the diff in the first message', () => {
    const files = change.files.map(({ path: name, hunks, isRemoved }) => ({
      ...{ path: name, previous: '', status: isRemoved ? 'removed' : 'modified', blob: '' },
      ...{ additions: 0, deletions: 0, patch: hunks.map(patchOf).join('\n') },
    }));
    const inlined = inlineDiff({ files, more: null }, '') ?? '';
    expect(shownBy([{ tool: 'message', target: '', text: inlined }])).toEqual(all);
  });

  it('pages of sed', () => {
    const pages = ["sed -n '1,25p' src/new.ts", "sed -n '26,$p' src/new.ts"].map((command) => run(command));
    expect(shownBy(pages)).toEqual(['src/new.ts']);
    expect(shownBy([...pages.slice(1), ...pages.slice(1)])).toEqual([]);
  });

  it.each([['src/a.ts'], ['./src/a.ts'], [path.join(root, 'src/a.ts')], ['src/x/../a.ts']])(
    'read_file of %s',
    async (name) => {
      expect(shownBy([{ ...(await read({ path: 'src/a.ts' })), target: name }])).toEqual(changed);
    },
  );

  it('read_file in pages, in the folder in which tools run', async () => {
    const pages = [await read({ path: 'src/a.ts', limit: 20 }), await read({ path: 'src/a.ts', offset: 21 })];
    expect(shownBy(pages.slice(0, 1))).toEqual([]);
    expect(shownBy(pages)).toEqual(changed);
    const inside = pages.map((page) => ({ ...page, target: 'a.ts' }));
    expect(shownBy(inside, path.join(root, 'src'))).toEqual(changed);
    expect(shownBy(inside)).toEqual([]);
  });

  it('pages of the context', async () => {
    const whole = { path: '/tmp/context/diff.patch' };
    expect(shownBy([await read(whole)])).toEqual(all);
    const pages = [1, 31, 61, 91, 121].map((offset) => read({ ...whole, offset, limit: 30 }));
    expect(shownBy(await Promise.all(pages))).toEqual(all);
  });

  it('no diff.patch that was written over', async () => {
    const whole = await read({ path: '/tmp/context/diff.patch' });
    const other = whole.text.replaceAll(/\+ .*55.*|\+.*"x".*/g, '+nothing');
    expect(shownBy([{ ...whole, text: other }])).toEqual(['src/gone.ts', 'src/new.ts']);
    const blank = whole.text.replaceAll(/(?<=\t).*/g, '+  const fresh1 = 1;');
    expect(shownBy([{ ...whole, text: blank }])).toEqual([]);
  });

  it('read_file of another file with the same lines does not', async () => {
    expect(shownBy([{ ...(await read({ path: 'src/a.ts' })), target: 'src/copy.ts' }])).toEqual([]);
  });
});
