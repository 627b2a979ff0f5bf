import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeUnsafeLink, findCheckout, findUnsafeLink } from '../../src/files/unsafe-links.ts';

let base = '';
let checkout = '';

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'leaving-')));
  checkout = path.join(base, 'checkout');
  for (const folder of ['checkout/.git/hooks', 'checkout/.github', 'checkout/sub/deep', 'checkout2', 'own'])
    mkdirSync(path.join(base, folder), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function link(target: string, place: string) {
  symlinkSync(target, path.join(base, place));
}
function leaving(wanted: string) {
  return findUnsafeLink(path.join(base, wanted), checkout);
}

describe('a link of the checkout on the way to a file that is written', () => {
  it.each([
    ['../own', 'own'],
    ['/nowhere/yet', '/nowhere/yet'],
    ['../checkout2', 'checkout2'],
    ['sub/../../own/new', 'own/new'],
    ['/', '/'],
  ])('to %s leads outside', (target, end) => {
    link(target, 'checkout/out');
    const leadsTo = path.join(path.resolve(base, end), 'f');
    expect(leaving('checkout/out/f')).toEqual({
      link: path.join(checkout, 'out'),
      leadsTo,
      isOutside: true,
    });
  });

  it.each(['.git/hooks', '.git', '.github', 'sub/../.GIT', '.git/not-yet', 'sub/.git./x', 'git~1'])(
    'to %s leads into a protected place',
    (target) => {
      link(target, 'checkout/out');
      expect(leaving('checkout/out/f')).toMatchObject({ isOutside: false });
    },
  );

  it('is found behind others, inside the checkout and on the way into it', () => {
    link('checkout', 'way');
    link('sub/deep', 'checkout/one');
    link('../../../own', 'checkout/sub/deep/two');
    expect(leaving('way/one/two/f')).toMatchObject({ leadsTo: path.join(base, 'own/f'), isOutside: true });
    link('checkout/sub/deep/two', 'mine');
    expect(leaving('mine/f')).toMatchObject({ link: path.join(checkout, 'sub/deep/two') });
  });

  it('that never ends is refused', () => {
    link('b', 'checkout/a');
    link('a', 'checkout/b');
    expect(leaving('checkout/a/f')).toMatchObject({ isOutside: false });
    link('own', 'own/own');
    expect(leaving('own/own/f')).toBeNull();
  });

  it('is no trouble where it stays inside, and where the user named the place', () => {
    link('sub', 'checkout/in');
    link('../checkout/sub', 'checkout/round');
    link('own', 'mine');
    const fine = [
      'checkout/in/new/f',
      'checkout/round/f',
      'mine/f',
      'own/f',
      'checkout2/f',
      'checkout/.git/f',
    ];
    expect(fine.filter((file) => leaving(file) !== null)).toEqual([]);
  });

  it('is named with its target, without the line breaks of its name', () => {
    link('../own', 'checkout/a\n::b');
    const found = leaving('checkout/a\n::b/f');
    expect(found === null ? '' : describeUnsafeLink(found, checkout)).toBe(
      `which the symbolic link "a\\n::b" leads to "${base}/own/f", outside the workspace. Name another file, or one there without that link.`,
    );
  });
});

it('the checkout around a folder is the nearest with a .git, else the folder', () => {
  expect(findCheckout(path.join(checkout, 'sub/deep'))).toBe(checkout);
  expect(findCheckout('/')).toBe('/');
});
