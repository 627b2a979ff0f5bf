import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeUnsafeLink, findCheckout, findUnsafeLink } from '../../src/files/unsafe-links.ts';
import { makeFolder } from '../support/surroundings.ts';

let base = '';
let checkout = '';

const parent = makeFolder();
beforeEach(() => {
  base = mkdtempSync(path.join(parent, 'leaving-'));
  checkout = path.join(base, 'checkout');
  for (const folder of ['checkout/.git/hooks', 'checkout/.github', 'checkout/sub/deep', 'checkout2', 'own'])
    mkdirSync(path.join(base, folder), { recursive: true });
});

function link(target: string, place: string) {
  symlinkSync(target, path.join(base, place));
}
function unsafeLink(wanted: string) {
  return findUnsafeLink(path.join(base, wanted), checkout);
}

describe('a symlink of the checkout on the path of an output file', () => {
  it.each([
    ['../own', 'own'],
    ['/nowhere/yet', '/nowhere/yet'],
    ['../checkout2', 'checkout2'],
    ['sub/../../own/new', 'own/new'],
    ['/', '/'],
  ])('to %s leads outside', (target, end) => {
    link(target, 'checkout/out');
    const leadsTo = path.join(path.resolve(base, end), 'f');
    expect(unsafeLink('checkout/out/f')).toEqual({
      link: path.join(checkout, 'out'),
      leadsTo,
      isOutside: true,
    });
  });

  it.each(['.git/hooks', '.git', '.github', 'sub/../.GIT', '.git/not-yet', 'sub/.git./x', 'git~1'])(
    'to %s leads into a protected folder',
    (target) => {
      link(target, 'checkout/out');
      expect(unsafeLink('checkout/out/f')).toMatchObject({ isOutside: false });
    },
  );

  it('is found behind other symlinks, inside the checkout and on the path into it', () => {
    link('checkout', 'way');
    link('sub/deep', 'checkout/one');
    link('../../../own', 'checkout/sub/deep/two');
    expect(unsafeLink('way/one/two/f')).toMatchObject({ leadsTo: path.join(base, 'own/f'), isOutside: true });
    link('checkout/sub/deep/two', 'mine');
    expect(unsafeLink('mine/f')).toMatchObject({ link: path.join(checkout, 'sub/deep/two') });
  });

  it('is refused when it never ends', () => {
    link('b', 'checkout/a');
    link('a', 'checkout/b');
    expect(unsafeLink('checkout/a/f')).toMatchObject({ isOutside: false });
    link('own', 'own/own');
    expect(unsafeLink('own/own/f')).toBeNull();
  });

  it('is accepted when it stays inside, or when the user named the path', () => {
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
    expect(fine.filter((file) => unsafeLink(file) !== null)).toEqual([]);
  });

  it('is reported with its target, without the line breaks of its name', () => {
    link('../own', 'checkout/a\n::b');
    const found = unsafeLink('checkout/a\n::b/f');
    expect(found === null ? '' : describeUnsafeLink(found, checkout)).toBe(
      `which the symbolic link "a\\n::b" leads to "${base}/own/f", outside the workspace. Name another file, or one there without that link.`,
    );
  });
});

it('findCheckout returns the nearest folder with a .git, or the folder itself', () => {
  expect(findCheckout(path.join(checkout, 'sub/deep'))).toBe(checkout);
  expect(findCheckout('/')).toBe('/');
});
