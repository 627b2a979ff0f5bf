import { expect, it } from 'vitest';
import { isClosedPath, isProtectedPath } from '../../src/text/file-names.ts';

it.each([
  ['.git', true, true],
  ['.git/config', true, true],
  ['a/.GIT/HEAD', true, true],
  ['a\\.git\\HEAD', true, true],
  ['.github/workflows/ci.yml', false, true],
  ['a/.GitHub/x', false, true],
  ['action.yml', false, true],
  ['a/Action.YAML', false, true],
  ['.gitmodules', false, true],
  ['.netrc', true, false],
  ['a/_netrc', true, false],
  ['.git-credentials', true, false],
  ['gha-creds-0a1b.json', true, false],
  ['.gitignore', false, false],
  ['.gitattributes', false, false],
  ['x.git/github', false, false],
  ['action.yml/x', false, false],
  ['', false, false],
])('%j is closed: %j, protected: %j', (path, closed, isProtected) => {
  expect([isClosedPath(path), isProtectedPath(path)]).toEqual([closed, isProtected]);
});
