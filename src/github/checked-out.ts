/** Which commit is checked out, as git's own files say: no program is run in what a stranger wrote. */
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, readdirSync, readSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { openRegular, readBoundedText } from '../files/read-bounded.ts';

/** A commit whose files were judged. */
export interface JudgedCommit {
  readonly sha: string;
  /** null where its object could not be read. */
  readonly parents: readonly string[] | null;
}

/** HEAD, a loose ref, the file of a worktree or submodule: in bytes. */
const MAX_SMALL_FILE = 4_096;
const MAX_PACKED_REFS_BYTES = 64 * 1024 * 1024;
/** Refs that name another one; git follows five. */
const MAX_HOPS = 5;

/**
 * The commit of the checkout at a folder: on a branch, on none, in a worktree or a submodule, its ref loose or packed.
 * null where there is none, or its files do not say it plainly.
 */
export function readCheckedOut(folder: string): JudgedCommit | null {
  const own = findGitFolder(folder);
  if (own === null) return null;
  const common = path.resolve(own, readShort(path.join(own, 'commondir')) || '.');
  let value = readShort(path.join(own, 'HEAD'));
  for (let hops = 0; hops < MAX_HOPS && value.startsWith('ref: '); hops += 1) {
    const ref = value.slice('ref: '.length);
    value = isRefName(ref) ? readShort(path.join(common, ref)) || findPacked(common, ref) : '';
  }
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(value)) return null;
  return { sha: value, parents: readParents(path.join(common, 'objects'), value) };
}

/** Git's own folder of a checkout: `.git`, or what it names where it is a link or the file of a worktree or submodule. */
function findGitFolder(root: string): string | null {
  const git = path.join(root, '.git');
  try {
    if (!lstatSync(git).isFile()) return realpathSync(git);
    const named = /^gitdir: (.+)$/u.exec(readShort(git))?.[1];
    return named === undefined ? null : realpathSync(path.resolve(root, named));
  } catch {
    return null;
  }
}

/** Whether a name is one of a ref (git-check-ref-format(1)), so that it leads nowhere else. */
function isRefName(ref: string): boolean {
  return /^refs\/[^\p{Cc} ~^:?*[\\]+$/u.test(ref) && !/\.\.|\/[./]|\/$|\.lock(?:\/|$)/u.test(ref);
}

function findPacked(common: string, ref: string): string {
  const text = `\n${readBoundedText(path.join(common, 'packed-refs'), MAX_PACKED_REFS_BYTES) ?? ''}`;
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? '' : text.slice(text.lastIndexOf('\n', at) + 1, at);
}

/** The text of a small file on one line; empty for anything else. */
function readShort(file: string): string {
  return (readBoundedText(file, MAX_SMALL_FILE) ?? '').trim();
}

/** The largest commit object and delta that is read, in bytes. */
const MAX_OBJECT = 1024 * 1024;
/** The most pack files that are looked through; git packs them together when there are more than 50. */
const MAX_PACKS = 1_000;
/** The bytes of all entries of packs that are read for one commit; an entry counts as at least `MIN_ENTRY`. */
const MAX_WORK = 16 * 1024 * 1024;
const MIN_ENTRY = 4 * 1024;
/** The longest chain of deltas; git's own limit is 4,095, and its default is 50. */
const MAX_DELTAS = 100;

/**
 * The parents of a commit, in order; null where its object is not there, cannot be read, or does not hash to its name.
 * @param objects the `objects` folder of a repository.
 * @param commit 40 or 64 hexadecimal digits.
 */
function readParents(objects: string, commit: string): readonly string[] | null {
  const body = readLoose(objects, commit) ?? readPacked(objects, commit);
  if (body === null || hashOf(body, commit) !== commit) return null;
  const lines = body.toString('latin1').split('\n');
  if (!/^tree [0-9a-f]+$/u.test(lines[0] ?? '')) return null;
  const parents: string[] = [];
  for (const line of lines.slice(1)) {
    const parent = /^parent ([0-9a-f]{40,64})$/u.exec(line)?.[1];
    if (parent === undefined) break;
    parents.push(parent);
  }
  return parents;
}

function hashOf(body: Buffer, commit: string): string {
  const hash = createHash(commit.length === 40 ? 'sha1' : 'sha256');
  return hash.update(`commit ${body.length}\0`).update(body).digest('hex');
}

function inflate(bytes: Buffer, most = MAX_OBJECT): Buffer {
  return inflateSync(bytes, { maxOutputLength: most });
}

function readLoose(objects: string, commit: string): Buffer | null {
  return withGitFile(path.join(objects, commit.slice(0, 2), commit.slice(2)), ({ size, read }) => {
    if (size > MAX_OBJECT) return null;
    const object = inflate(read(0, size));
    return object.toString('latin1', 0, 7) === 'commit ' ? object.subarray(object.indexOf(0) + 1) : null;
  });
}

function readPacked(objects: string, commit: string): Buffer | null {
  const folder = path.join(objects, 'pack');
  const name = Buffer.from(commit, 'hex');
  const work = { left: MAX_WORK };
  for (const index of listIndexes(folder)) {
    const found = withGitFile(path.join(folder, index), (file) => findOffset(file, name));
    if (work.left <= 0) return null;
    if (found === null) continue;
    const entry = withGitFile(path.join(folder, index.replace(/idx$/u, 'pack')), (pack) => {
      const offsetOf = (base: Buffer) =>
        withGitFile(path.join(folder, index), (file) => findOffset(file, base));
      return readEntry({ pack, nameBytes: name.length, offsetOf, work }, found, 0);
    });
    if (entry !== null) return entry;
  }
  return null;
}

function listIndexes(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.idx'))
      .toSorted()
      .slice(0, MAX_PACKS);
  } catch {
    return [];
  }
}

const INDEX_HEADER = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
/** The header and 256 counts of the names whose first byte is at most so large. */
const NAMES_AT = 8 + 256 * 4;

/** Where an object begins in its pack, by a version 2 index (gitformat-pack(5)); null where it is not in it. */
function findOffset({ read }: GitFile, name: Buffer): number | null {
  const head = read(0, NAMES_AT);
  if (!head.subarray(0, 8).equals(INDEX_HEADER)) return null;
  const countUpTo = (byte: number) => (byte < 0 ? 0 : head.readUInt32BE(8 + byte * 4));
  const total = countUpTo(255);
  const first = name[0] ?? 0;
  let [low, high] = [countUpTo(first - 1), countUpTo(first)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const order = Buffer.compare(name, read(NAMES_AT + middle * name.length, name.length));
    if (order === 0) return offsetAt(read, name.length, total, middle);
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return null;
}

/** The offsets of small packs have 31 bits; a set highest bit leads to a table of larger ones. */
function offsetAt(read: GitFile['read'], nameBytes: number, total: number, at: number): number {
  const small = NAMES_AT + total * (nameBytes + 4);
  const offset = read(small + at * 4, 4).readUInt32BE();
  if (offset < 0x80000000) return offset;
  return Number(read(small + total * 4 + (offset - 0x80000000) * 8, 8).readBigUInt64BE());
}

interface Pack {
  readonly pack: GitFile;
  readonly nameBytes: number;
  readonly offsetOf: (name: Buffer) => number | null;
  /** Of one commit, in all packs. */
  readonly work: { left: number };
}

const COMMIT = 1;
const DELTA_BY_OFFSET = 6;
const DELTA_BY_NAME = 7;
/** The longest header of an entry: a size, and an offset or a name. */
const MAX_ENTRY_HEADER = 64;

/** The content of a commit in a pack, put together from its deltas. */
function readEntry(world: Pack, offset: number, deltas: number): Buffer | null {
  const { pack, nameBytes, offsetOf, work } = world;
  const header = pack.read(offset, MAX_ENTRY_HEADER);
  let at = 0;
  const next = () => header.readUInt8(at++);
  let byte = next();
  const type = (byte >> 4) & 7;
  let size = byte & 0xf;
  for (let scale = 16; byte >= 0x80; scale *= 128) {
    byte = next();
    size += (byte & 0x7f) * scale;
  }
  work.left -= Math.max(MIN_ENTRY, size);
  if (size > MAX_OBJECT || work.left < 0) return null;
  // What does not compress grows by a few bytes.
  const content = () => inflate(pack.read(offset + at, size + (size >> 6) + 1_024), Math.max(1, size));
  if (type === COMMIT) return content();
  if (deltas === MAX_DELTAS) return null;
  let base: number | null = null;
  if (type === DELTA_BY_OFFSET) {
    byte = next();
    let back = byte & 0x7f;
    while (byte >= 0x80) {
      byte = next();
      back = (back + 1) * 128 + (byte & 0x7f);
    }
    base = offset - back;
  } else if (type === DELTA_BY_NAME) {
    base = offsetOf(header.subarray(at, at + nameBytes));
    at += nameBytes;
  }
  if (base === null || base < 0) return null;
  const from = readEntry(world, base, deltas + 1);
  return from === null ? null : applyDelta(from, content());
}

/** Copies from the base and inserts of the delta's own, as gitformat-pack(5) has them; null where they do not fit. */
function applyDelta(base: Buffer, delta: Buffer): Buffer | null {
  let at = 0;
  const next = () => delta.readUInt8(at++);
  const readSize = () => {
    let [size, scale, byte] = [0, 1, 0x80];
    while (byte >= 0x80) {
      byte = next();
      size += (byte & 0x7f) * scale;
      scale *= 128;
    }
    return size;
  };
  if (readSize() !== base.length) return null;
  const size = readSize();
  if (size > MAX_OBJECT) return null;
  const made = Buffer.alloc(size);
  let length = 0;
  while (at < delta.length) {
    const command = next();
    const isCopy = command >= 0x80;
    const start = isCopy ? readPart(command, 0, 4) : at;
    const count = isCopy ? readPart(command, 4, 3) || 0x10000 : command;
    if (!isCopy) at += command;
    const from = isCopy ? base : delta;
    // A command of no length is reserved.
    if (count === 0 || start + count > from.length || length + count > size) return null;
    length += from.copy(made, length, start, start + count);
  }
  return length === size ? made : null;

  /** A number of which only those bytes are there whose bit is set. */
  function readPart(command: number, firstBit: number, count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      if ((command & (1 << (firstBit + index))) !== 0) value += next() * 256 ** index;
    }
    return value;
  }
}

/** An index or a pack, which may be larger than memory: parts of it are read. */
interface GitFile {
  readonly size: number;
  /** Bytes from a position on; fewer where the file ends before. */
  read(position: number, length: number): Buffer;
}

/** Opens a regular file for as long as `use` runs; null where there is none, or where `use` throws. */
function withGitFile<T>(file: string, use: (opened: GitFile) => T | null): T | null {
  const opened = openRegular(file, { links: 'refuse' });
  if (!opened.ok) return null;
  const { handle, size } = opened;
  try {
    return use({
      size,
      read(position, length) {
        const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - position)));
        let filled = 0;
        for (let count = 1; count > 0 && filled < bytes.length; filled += count) {
          count = readSync(handle, bytes, filled, bytes.length - filled, position + filled);
        }
        return bytes.subarray(0, filled);
      },
    });
  } catch {
    return null;
  } finally {
    closeSync(handle);
  }
}
