import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import {
  createPolicyFiles,
  findPolicyChanges,
  type PolicyOptions,
  type ReadChange,
} from '../../src/github/policy-files.ts';
import type { ChangedFile, ListedChange, PolicyFile } from '../../src/types.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';
import { eventOf, openHub, pullAs, queue } from './world.ts';

const workspace = makeFolder();
for (const folder of ['sub', 'sub/judges'])
  mkdirSync(path.join(workspace, folder, '.git'), { recursive: true });

const tip = { '/repos/o/r/commits/heads/main': { sha: 'tip1' } };
const at = (file: string, ref = 'tip1') => `/repos/o/r/contents/${file}?ref=${ref}`;
const ofPull = eventOf('pull_request', { pull_request: pullAs(7) });

function open(answers: Answers | null, event = ofPull, more: Partial<PolicyOptions> = {}) {
  const { hub, asked } = openHub(event, answers);
  const options: PolicyOptions = {
    ...{ hub, trusted: 'base', workspace, workflowRef: 'o/r/.github/workflows/ci.yml@refs/pull/7/merge' },
    readLocal: async (file) => ({ ok: true, text: `local ${file}` }),
    elsewhere: answering(answers ?? {}).github,
    ...more,
  };
  return { ...createPolicyFiles(options), options, asked };
}

it('with trusted-files: workspace nothing is requested', async () => {
  const { readFile, asked } = open({}, ofPull, { trusted: 'workspace' });
  expect(await readFile('x.json')).toEqual({ ok: true, text: 'local x.json' });
  expect(asked).toEqual([]);
});

it('the tip of the base branch is looked up once, and a file is one of the outermost repository', async () => {
  const typed = ['a/judge.json', './b.json', 'sub/x.json', 'sub/judges/x.json'];
  const paths = ['a/judge.json', 'b.json', 'x.json', 'judges/x.json'].map((name) => at(name));
  const contents = paths.map((each) => [each, `\xef\xbb\xbf${each}`]);
  const { readFile, asked } = open({ ...tip, ...Object.fromEntries(contents) });
  const texts = await Promise.all(typed.map(readFile));
  expect(texts).toEqual(paths.map((text) => ({ ok: true, text })));
  expect(asked).toEqual(['/repos/o/r/commits/heads/main', ...paths]);
});

const group = eventOf('merge_group', { merge_group: { head_sha: 'g', base_sha: 'm1' } }, queue);
const runOf = (event: string) => eventOf('workflow_run', { workflow_run: { event, head_sha: 'a1' } });
const none = { '/repos/o/r/commits/a1/pulls': [] };
const one = { '/repos/o/r/commits/a1/pulls': [pullAs(7)], ...tip };
it.each<[string, string, ReturnType<typeof eventOf>, Answers]>([
  ['a merge group', 'm1', group, { '/repos/o/r/pulls/7': pullAs(7) }],
  ['a push of a pull request', 'tip1', eventOf('push', {}, { sha: 'a1' }), one],
  ['a run after a push of a pull request', 'tip1', runOf('push'), one],
  ['a push without a pull request', 'a1', eventOf('push', {}, { sha: 'a1' }), none],
  ['a run after a push without one', 'merge1', runOf('push'), none],
  ['a check suite', 'merge1', eventOf('check_suite'), {}],
])('trusted-files: base: %s uses the commit %s, whatever is checked out', async (_, sha, event, answers) => {
  const { readFile } = open({ ...answers, [at('x.json', sha)]: '{"judge":"own"}' }, event);
  expect(await readFile('x.json')).toEqual({ ok: true, text: '{"judge":"own"}' });
});

const ofFile = (answer: unknown) => ({ ...tip, [at('x.json')]: answer });
const missing = /^could not read "x\.json" in o\/r at tip1: GitHub answered 404 .*contents: read/u;
it.each<[string, string, Answers | null, RegExp]>([
  ['a missing file', 'x.json', tip, missing],
  ['a file outside the repository', '../x.json', tip, /leaves the repository/u],
  ['the workspace itself', '.', tip, /leaves the repository/u],
  ['invalid UTF-8', 'x.json', ofFile('\xff'), /not valid UTF-8/u],
  ['a large file', 'x.json', ofFile('x'.repeat(4 * 1024 ** 2 + 1)), /larger than 4 MiB/u],
])('trusted-files: base refuses %s, and never reads it from the checkout', async (_, file, answers, says) => {
  const expected = { ok: false, problem: expect.stringMatching(says) };
  expect(await open(answers).readFile(file)).toEqual(expected);
});

it.each<readonly [string, ReturnType<typeof eventOf>, Answers | null, string]>([
  ['without a token', ofPull, null, 'could not be read: GitHub was not asked: github-token is empty.'],
  ['for an unknown base', ofPull, {}, 'could not be read: GitHub answered 404'],
  ...['pull_request', 'pull_request_review', 'merge_group'].map(
    (name) => [`after a lost ${name}`, runOf(name), none, 'could not be found. Give'] as const,
  ),
])('trusted-files: base ends the run %s', async (_, event, answers, says) => {
  await expect(open(answers, event).readFile('x.json')).rejects.toMatchObject({
    name: 'InputError',
    message: expect.stringContaining(`The value is base, but the pull request's base ${says}`),
  });
});

it('a file of another repository is read at its ref, or refused', async () => {
  const place = { owner: 'org', repo: 'judges', path: 'a/x.json', ref: 'v1' };
  const answers = { '/repos/org/judges/contents/a/x.json?ref=v1': '{}' };
  expect(await open(answers).readElsewhere(place)).toEqual({ ok: true, text: '{}' });
  const problem = expect.stringMatching(/^could not read "a\/x\.json" in org\/judges at v1: /u);
  expect(await open({}).readElsewhere(place)).toEqual({ ok: false, problem });
});

const policy: readonly PolicyFile[] = [
  { what: 'schema', path: './schema.json' },
  { what: 'gate', path: 'policy/gate.json' },
  { what: 'prompt-file', path: 'task.md' },
  { what: 'prompt-file', path: 'loop/x' },
];
const changed = (path: string, previous = ''): ChangedFile => ({
  ...{ path, previous, status: 'modified', additions: 1, deletions: 1, patch: null, blob: '' },
});
const listed = (...files: readonly ChangedFile[]) => ({ files, more: null });
const CI = '.github/workflows/ci.yml';
const three = listed(changed('schema.json'), changed('renamed.md', 'task.md'), changed(CI));

/** What GitHub lists, if it does not refuse, and what was read for the run. */
type Setting = Partial<PolicyOptions> & {
  list?: ListedChange | null;
  read?: ReadChange;
  event?: typeof ofPull;
};

/** The policy files that are found; a minus before those that are not applied. */
async function find({ list, read, event = ofPull, ...more }: Setting) {
  const listChangedFiles = () =>
    list === undefined ? Promise.reject(new Error('403')) : Promise.resolve(list);
  const hub = { ...openHub(event).hub, listChangedFiles };
  const { options } = open({}, event, { workspace: '/nowhere', trusted: 'workspace', hub, ...more });
  const found = await findPolicyChanges(policy, options, read ?? null);
  return found.map(({ path: name, applied }) => `${applied ? '' : '-'}${name}`);
}

const part = { files: [changed('task.md')], more: 'cut' };
const gate = { files: [{ path: 'policy/gate.json', previous: null }] };
const BOTH = ['schema.json', 'task.md'];
it.each<[string, Setting, readonly string[]]>([
  ['GitHub lists it', { list: three }, [...BOTH, CI]],
  ['GitHub refuses, and git knows it', { read: three }, [...BOTH, CI]],
  ['neither knows it', {}, []],
  ['GitHub lists other files, and all of them', { list: listed(changed('a.js')), read: three }, []],
  ['GitHub lists a part, and git another', { list: part, read: gate }, ['policy/gate.json', 'task.md']],
  ['there is no pull request', { list: null, read: three }, []],
  ['git knows a push', { read: three, event: eventOf('push') }, []],
  ['the workflow is that of the base', { read: three, event: eventOf('pull_request_target') }, BOTH],
  ['the workflow is another one', { read: three, workflowRef: 'o/other/x.yml@main' }, BOTH],
  ['the base applies', { read: three, trusted: 'base' }, ['-schema.json', '-task.md', CI]],
])('a changed policy is found, or not, if %s', async (_, setting, expected) => {
  expect(await find(setting)).toEqual(expected);
});

it('a changed policy is found if it is a symlink on the path of a policy file, or its target', async () => {
  const judge = mkdtempSync(path.join(workspace, 'judge-'));
  putFiles(judge, { 'strict/gate.json': '{}', 'mild/deep/gate.json': '{}' });
  symlinkSync('./mild/deep', path.join(judge, 'policy'));
  symlinkSync('loop', path.join(judge, 'loop'));
  const among = (...names: readonly string[]) =>
    find({ list: listed(...names.map((name) => changed(name))), workspace: judge });
  for (const name of ['policy', 'mild/deep/gate.json', 'policy/gate.json', 'mild', 'loop'])
    expect(await among(name)).toEqual([name]);
  expect(await among('strict/gate.json', 'polic', 'gate.json', 'mild/deep/other.json')).toEqual([]);
});
