import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  hasCredentials,
  includedPaths,
  withoutCredentials,
  worktreeOf,
} from '../../../src/sandbox/workspace/git-config.ts';
import { putFiles } from '../../support/local.ts';
import { makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();
const SECRET = 'c2VjcmV0LXRva2Vu';

it('withoutCredentials keeps the keys that git needs and drops dangerous ones', () => {
  const config = `[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = /evil
	sshCommand = ssh -i /key ${SECRET}
[remote "origin"]
	url = https://x-access-token:${SECRET}@github.com/o/r
	fetch = +refs/heads/*:refs/remotes/origin/*
[http "https://github.com/"]
	extraheader = AUTHORIZATION: basic ${SECRET}
[credential]
	helper = store --file ${SECRET}
[includeIf "gitdir:/w/.git"]
	path = /tmp/${SECRET}
[url "https://u:${SECRET}@github.com/"]
	insteadOf = https://github.com/
[branch "main"]
	remote = origin
`;
  expect(withoutCredentials(config)).toBe(`[core]
	repositoryformatversion = "0"
	bare = "false"
[remote "origin"]
	url = "https://github.com/o/r"
	fetch = "+refs/heads/*:refs/remotes/origin/*"
[http "https://github.com/"]
[credential]
[includeif "gitdir:/w/.git"]
[branch "main"]
	remote = "origin"
`);
});

it('withoutCredentials does not change how git reads the kept keys', () => {
  const read = (name: string, key: string) =>
    execFileSync('git', ['config', '--file', join(folder, name), '--get', key], { encoding: 'utf8' }).trim();
  const config =
    '[core] bare = false ; note\n[remote "o\\"x"]\n url = "a b" # note\n[user]\n name = J \\"R\\" D\n';
  putFiles(folder, { a: config, b: withoutCredentials(config) });
  const keys = ['core.bare', 'remote.o"x.url', 'user.name'];
  expect(keys.map((key) => read('b', key))).toEqual(keys.map((key) => read('a', key)));
});

const entries = [
  `[http]\textraheader = ${SECRET}`,
  `[HTTP "x"] ExtraHeader = ${SECRET}`,
  `[core][http]\n\textraheader = ${SECRET}`,
  `[core]\n\tbare = fal\\\nse\n[http "a]b"]\n\textraheader=${SECRET}`,
  `[http.https://github.com/]\n\textraheader = ${SECRET}`,
  `[url "https://${SECRET}@h/"]\n\tinsteadOf = x`,
  `[remote "a"]\n\turl = https://${SECRET}@h/r\n\tpushurl = https://u:${SECRET}@h/r`,
  `[remote "https://u:${SECRET}@h/"]\n\tfetch = x`,
];

it('withoutCredentials drops tokens for any order and form of sections', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...entries), { minLength: 1 }),
      fc.constantFrom('\n', '\r\n'),
      (parts, end) => {
        expect(withoutCredentials(parts.join(end))).not.toContain(SECRET);
      },
    ),
  );
});

it('hasCredentials detects credentials in a config', () => {
  expect([...entries.slice(0, 3), entries[6] ?? ''].map(hasCredentials)).toEqual([true, true, true, true]);
  expect(hasCredentials('[core]\n\tbare = false\n[remote "origin"]\n\turl = https://github.com/o/r\n')).toBe(
    false,
  );
});

it('hasCredentials and withoutCredentials handle escaped characters in a quoted value', () => {
  const config = `[remote "o"]\n\turl = "https://user:to\\"ken${SECRET}@h/r"\n`;
  expect([hasCredentials(config), withoutCredentials(config)]).toEqual([
    true,
    '[remote "o"]\n\turl = "https://h/r"\n',
  ]);
});

it('includedPaths and worktreeOf parse a config as git does', () => {
  const config =
    '[include]\n\tpath = one\n[IncludeIf "x"] PATH = "t w o" # note\n[core]\n\tworktree = /a\n\tworktree = ../b\n';
  expect([includedPaths(config), worktreeOf(config), worktreeOf('')]).toEqual([
    ['one', 't w o'],
    '../b',
    null,
  ]);
});
