/**
 * Determines where an output path leads. The user who types it may name any location, but a symbolic link in the
 * checkout must not redirect it: `out -> .git/hooks` would turn a result file into a hook.
 */

import { existsSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { SEARCH } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import { isProtectedPath } from './protected-names.ts';

/** A symbolic link in the checkout that redirects a path out of it, or to a location that is never written. */
export interface UnsafeLink {
  /** The absolute path of the first link of the checkout on the way. */
  readonly link: string;
  /** The absolute path that the original path resolves to. */
  readonly leadsTo: string;
  readonly isOutside: boolean;
}

/**
 * Resolves a path, including its last component, as far as it exists.
 * @param wanted an absolute path.
 * @param checkout an absolute, real path; links outside it belong to the user.
 * @returns null if no link of the checkout redirects the path out of it or to a protected location.
 */
export function findUnsafeLink(wanted: string, checkout: string): UnsafeLink | null {
  const { root } = path.parse(wanted);
  let real = root;
  let link: string | null = null;
  // In reverse order, so that inserting the target of a link costs only its own length.
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
    if (links > SEARCH.symlinks) return link === null ? null : { link, leadsTo: place, isOutside: false };
    const start = path.parse(target).root;
    if (start !== '') real = start;
    names.push(...split(target.slice(start.length)).reverse());
  }
  if (link === null) return null;
  const isOutside = real !== checkout && !isBelow(real, checkout);
  const isProtected = isProtectedPath(split(path.relative(checkout, real)));
  return isOutside || isProtected ? { link, leadsTo: real, isOutside } : null;
}

/** Returns the end of a sentence about a path: which link redirects it where, and what to do. */
export function describeUnsafeLink({ link, leadsTo, isOutside }: UnsafeLink, checkout: string): string {
  const why = isOutside ? 'outside the workspace' : 'where nothing is written';
  return `which the symbolic link ${quote(path.relative(checkout, link))} leads to ${quote(leadsTo)}, ${why}. Name another file, or one there without that link.`;
}

/** Finds the checkout that contains a folder: the nearest parent with a `.git`, or the folder itself. */
export function findCheckout(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}

function split(text: string): string[] {
  return text.split(path.sep).filter((name) => name !== '' && name !== '.');
}

/** Returns the target of a link; null if the path is not a link. */
export function readLink(place: string): string | null {
  try {
    return readlinkSync(place);
  } catch {
    return null;
  }
}

function isBelow(inner: string, outer: string): boolean {
  return inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}
