import { expect, it } from 'vitest';
import { actionsIn } from './gfm.ts';

const OURS = 'https://github.com/octo/demo/';

it.each([
  ['a script', '<object data=x></object>', ['object']],
  ['an image', '![x](https://example.com/x.png)', ['img']],
  ['a comment', '<!-- x -->', ['!--']],
  ['a link elsewhere', '[x](https://github.com/octo/other)', ['https://github.com/octo/other']],
  ['a link without brackets', 'https://github.com/octo/other', ['https://github.com/octo/other', 'https://']],
  ['a mention', 'thanks, @octocat', ['@o']],
  ['a reference', 'closes #1', ['#1']],
  ['a reference by GH-', 'see gh-1', ['gh-1']],
  ['an address of a text in HTML', '<p>see http://a.b</p>', ['http://']],
  ['an address that begins with www', '<p>see www.a.b</p>', ['www.']],
  ['an address of mail', '<p>write to x@a.b</p>', ['x@a.b']],
  ['a commit', 'since deadbeef', ['deadbeef']],
  ['an emoji', 'fine :tada:', [':tada:']],
  ['an advisory', 'fixes CVE-2020-1', ['CVE-2']],
  ['a second verdict', '## ✅\n\n## ✅ Success', ['✅ Success']],
  [
    'an element that is ended early',
    '<details><summary>x</summary>\n\n</details>\n</details>',
    ['</details>'],
  ],
  ['an element that is left open', '<details><summary>x</summary>', ['details']],
  ['nothing in code', '`@octocat #1 <script>`\n\n```\n@octocat\n```', []],
  [
    'nothing: a page of ours',
    `## ✅\n\n| a |\n| :--- |\n| [x](${OURS}blob/x) <code>&#64;octocat</code><br>y |\n`,
    [],
  ],
])('actionsIn finds %s', (_, markdown, found) => {
  expect(actionsIn(markdown, OURS)).toEqual(found);
});
