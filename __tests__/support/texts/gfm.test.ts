import { expect, it } from 'vitest';
import { actionsIn } from './gfm.ts';

const OURS = 'https://github.com/octo/demo/';

it.each([
  ['a script', '<object data=x></object>', ['object']],
  ['an image', '![x](https://example.com/x.png)', ['img']],
  ['a comment', '<!-- x -->', ['!--']],
  ['an external link', '[x](https://github.com/octo/other)', ['https://github.com/octo/other']],
  ['a bare URL', 'https://github.com/octo/other', ['https://github.com/octo/other', 'https://']],
  ['a mention', 'thanks, @octocat', ['@o']],
  ['a reference', 'closes #1', ['#1']],
  ['a GH- reference', 'see gh-1', ['gh-1']],
  ['a bare URL in HTML', '<p>see http://a.b</p>', ['http://']],
  ['a bare www address', '<p>see www.a.b</p>', ['www.']],
  ['an email address', '<p>write to x@a.b</p>', ['x@a.b']],
  ['a commit', 'since deadbeef', ['deadbeef']],
  ['an emoji', 'fine :tada:', [':tada:']],
  ['an advisory', 'fixes CVE-2020-1', ['CVE-2']],
  ['a second verdict', '## ✅\n\n## ✅ Success', ['✅ Success']],
  [
    'an end tag without its element',
    '<details><summary>x</summary>\n\n</details>\n</details>',
    ['</details>'],
  ],
  ['an element without an end tag', '<details><summary>x</summary>', ['details']],
  ['nothing in code', '`@octocat #1 <script>`\n\n```\n@octocat\n```', []],
  [
    'nothing in a report',
    `## ✅\n\n| a |\n| :--- |\n| [x](${OURS}blob/x) <code>&#64;octocat</code><br>y |\n`,
    [],
  ],
])('actionsIn finds %s', (_, markdown, found) => {
  expect(actionsIn(markdown, OURS)).toEqual(found);
});
