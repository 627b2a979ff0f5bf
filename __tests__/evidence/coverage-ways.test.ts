/** Ways to read a change, with the texts that real programs and the tools of the agent give of a real repository. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseDiff } from '../../src/evidence/change.ts';
import { createCoverageMeter, type SeenResult } from '../../src/evidence/coverage.ts';
import { createReadFile } from '../../src/tools/read-file.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { changeOf } from './files.ts';

const root = makeFolder();
const lineOf = (name: string, at: number) => `  const ${name}${at} = ${at};${at % 9 === 0 ? '\n\n}' : ''}\n`;
const body = (name: string) => Array.from({ length: 40 }, (_, at) => lineOf(name, at)).join('');
const [a, b] = [body('a'), body('b').replaceAll('\n', '\r\n')];
const before = { 'src/a.ts': a, 'b c.ts': b, 'src/gone.ts': body('gone') };
commitChange(root, before, {
  'src/a.ts': a.replace('a5 = 5', 'a5 = 55').replace('const a30 = 30', 'let added30 = 30'),
  'b c.ts': b.replace('b5 = 5', 'b5 = "x"'),
  'src/new.ts': body('fresh'),
  'src/gone.ts': null,
});
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: root };
const shell = (command: string) =>
  execFileSync('bash', ['-c', command], { encoding: 'utf8', cwd: root, env });
const text = shell('git diff main HEAD');
const DIFF = path.join(putFiles(makeFolder(), { 'diff.patch': text }), 'diff.patch');
const change = changeOf(...parseDiff(text));
const all = change.files.map((file) => file.path);

function shownBy(results: readonly SeenResult[], workingDirectory = root): readonly string[] {
  const diff = { path: DIFF, text };
  const meter = createCoverageMeter(change, { root, workingDirectory, subject: '', diff });
  for (const result of results) meter.observe(result);
  const { unseen } = meter.measure().files;
  return all.filter((name) => !unseen.includes(name));
}
const run = (target: string) => ({ tool: 'shell', target, text: `${shell(target)}[exit code 0]` });
const view = async (name: string) =>
  ({ kind: 'file', bytes: readFileSync(path.resolve(root, name)), truncated: false }) as const;
const readFile = createReadFile({ read: view }, 25_000);
async function read(target: string, page = {}): Promise<SeenResult> {
  const { content } = await readFile.run({ path: target, ...page }, new AbortController().signal);
  return { tool: 'read_file', target, text: content };
}

const changed = ['src/a.ts'];
it.each<[commands: string, shown: readonly string[]]>([
  ['git diff main HEAD', all],
  ['git diff -U0 main HEAD', all],
  ['git diff -U20 main', all],
  ['git diff --color=always main HEAD', all],
  ['git diff --no-prefix main HEAD', all],
  ['git -c diff.mnemonicPrefix=true diff main HEAD', all],
  ['git show HEAD', all],
  ['git log -p -1', all],
  [`cat ${DIFF}`, all],
  [`cat -n ${DIFF}`, all],
  ['git diff main HEAD -- src/a.ts', changed],
  ['cat src/a.ts', changed],
  ['cat ./src/../src/a.ts', changed],
  ['cd src && cat a.ts', changed],
  ['cat "b c.ts"', ['b c.ts']],
  ['cat $(git diff --name-only main -- src/a.ts)', changed],
  ["sed -n '1,12p;30,40p' src/a.ts", changed],
  ['cat -n src/a.ts', changed],
  ['nl -ba src/a.ts', changed],
  ["grep -n '= 55\\|added' src/a.ts", changed],
  ["grep -rn -A1 '= 55\\|added30' .", changed],
  ["git grep -n -C2 '= 55\\|added30'", changed],
  ["cd src && grep -rn '= 55\\|added30' .", changed],
  ['git show HEAD:src/a.ts', changed],
  ['git show main:src/gone.ts', ['src/gone.ts']],
  ['cat src/new.ts', ['src/new.ts']],
  ['cat src/a.ts | awk \'{ printf "%4d | %s\\n", NR, $0 }\'', changed],
  ['cat src/a.ts | awk \'{ printf "%4d   │ %s\\n", NR, $0 }\'', changed],
  ['cat src/a.ts | awk \'{ printf "%s %4d | %s\\n", NR == 6 ? ">" : " ", NR, $0 }\'', changed],
  ['cat src/a.ts | sed "s/$/\\r/"', changed],
  // The numbers or the names of the lines are missing, or not those of the file.
  ['git diff main HEAD | grep "^[-+]"', []],
  ['git diff main HEAD -- src/a.ts | tail -n +6', []],
  ['for f in src/*.ts; do cat $f; done', []],
  ["grep -r '= 55\\|added30' src", []],
  // A part only.
  ['git diff main HEAD | sed -n "60,80p"', []],
  [`grep -v '= 55\\|added' ${DIFF} | tail -n +20`, ['src/gone.ts', 'src/new.ts']],
  ["sed -n '1,12p' src/a.ts", []],
  ['head -2 src/new.ts', []],
  // No line.
  ['git diff --stat main HEAD', []],
  ['git diff --name-status main HEAD', []],
  ['git show main:src/a.ts >/dev/null; git log --oneline', []],
  // Two pages, and the last of them.
  ["sed -n '1,25p' src/new.ts\nsed -n '26,$p' src/new.ts", ['src/new.ts']],
  ["sed -n '26,$p' src/new.ts", []],
  [`sed -n '1,25p' ${DIFF}\nsed -n '26,$p' ${DIFF}`, all],
  [`sed -n '26,$p' ${DIFF}`, ['src/gone.ts', 'src/new.ts']],
])('a change is shown by %s', (commands, shown) => {
  expect(shownBy(commands.split('\n').map(run))).toEqual(shown);
});

it.each<[string, file: string, offsets: readonly number[], shown: readonly string[], folder?: string]>([
  ['src/a.ts', 'src/a.ts', [1, 31], changed],
  ['src/a.ts', 'src/a.ts', [1], []],
  ['src/x/../a.ts', 'src/a.ts', [1, 31], changed],
  [path.join(root, 'src/a.ts'), 'src/a.ts', [1, 31], changed],
  ['a.ts', 'src/a.ts', [1, 31], changed, path.join(root, 'src')],
  ['a.ts', 'src/a.ts', [1, 31], []],
  [DIFF, DIFF, [1, 31, 61, 91, 121], all],
  [DIFF, DIFF, [31, 61, 91, 121], ['src/gone.ts', 'src/new.ts']],
])('read_file of %s, which is %s, from %j', async (target, file, offsets, shown, folder = root) => {
  const pages = await Promise.all(offsets.map((offset) => read(file, { offset, limit: 30 })));
  const results = pages.map((page) => ({ ...page, target }));
  expect(shownBy(results, folder)).toEqual(shown);
});

it('a change is shown by no diff.patch that was written over', async () => {
  const whole = await read(DIFF);
  const other = whole.text.replaceAll(/\+ .*55.*|\+.*"x".*/g, '+nothing');
  expect(shownBy([{ ...whole, text: other }])).toEqual(['src/gone.ts', 'src/new.ts']);
  const blank = whole.text.replaceAll(/(?<=\t).*/g, '+  const fresh1 = 1;');
  expect(shownBy([{ ...whole, text: blank }])).toEqual([]);
});
