/**
 * Where a path leads that is to be written. The user who types it may name any place; a symbolic link that the checkout
 * brings along may not choose one: `out -> .git/hooks` would make a hook of a result file.
 */

import { existsSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { quote } from '../text/messages.ts';
import { isProtectedPath } from './protected-names.ts';

/** A symbolic link in the checkout that leads a path out of it, or into a place that is never written. */
export interface UnsafeLink {
  /** The first link of the checkout on the way, its own absolute path. */
  readonly link: string;
  /** Where the path ends, absolute. */
  readonly leadsTo: string;
  readonly isOutside: boolean;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/**
 * Follows a path, its last name included, as far as something is there.
 * @param wanted absolute.
 * @param checkout absolute and real; links outside of it are the user's own.
 * @returns null where no link of the checkout leads it out or into a protected place.
 */
export function findUnsafeLink(wanted: string, checkout: string): UnsafeLink | null {
  const { root } = path.parse(wanted);
  let real = root;
  let link: string | null = null;
  // The next name last: a target that is put in front costs its own length alone.
  const names = split(wanted.slice(root.length)).reverse();
  let links = 0;
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const place = path.join(real, name);
    const target = name === '..' ? null : readLink(place);
    if (target === null) {
      real = place;
      continue;
    }
    links += 1;
    if (isBelow(place, checkout)) link ??= place;
    if (links > MAX_LINKS) return link === null ? null : { link, leadsTo: place, isOutside: false };
    const start = path.parse(target).root;
    if (start !== '') real = start;
    names.push(...split(target.slice(start.length)).reverse());
  }
  if (link === null) return null;
  const isOutside = real !== checkout && !isBelow(real, checkout);
  const isProtected = isProtectedPath(split(path.relative(checkout, real)));
  return isOutside || isProtected ? { link, leadsTo: real, isOutside } : null;
}

/** The end of a sentence about a path: what leads it where, and what to do. */
export function describeUnsafeLink({ link, leadsTo, isOutside }: UnsafeLink, checkout: string): string {
  const why = isOutside ? 'outside the workspace' : 'where nothing is written';
  return `which the symbolic link ${quote(path.relative(checkout, link))} leads to ${quote(leadsTo)}, ${why}. Name another file, or one there without that link.`;
}

/** The folder that was checked out around a folder: the nearest with a `.git`, else the folder itself. */
export function findCheckout(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}

function split(text: string): string[] {
  return text.split(path.sep).filter((name) => name !== '' && name !== '.');
}

/** The target of a link; null where no link is. */
function readLink(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}
