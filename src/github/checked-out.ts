/** Determines the checked-out commit from git's own files, without running a program in an untrusted checkout. */
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, readdirSync, readSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { openRegular, readBoundedText } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';

/** The commit whose files were judged. */
export interface JudgedCommit {
  readonly sha: string;
  /** null if the commit object could not be read. */
  readonly parents: readonly string[] | null;
}

/** Maximum depth of symbolic refs; git follows five. */
const MAX_HOPS = 5;

/**
 * Returns the commit of the checkout at a folder: on a branch or detached, in a worktree or a submodule, with a loose
 * or packed ref. Returns null if there is none or its files are ambiguous.
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

/**
 * Returns the git directory of a checkout: `.git`, or its target if it is a link or the file of a worktree or
 * submodule.
 */
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

/** Whether a name is a valid ref name (git-check-ref-format(1)), so that it cannot lead to another path. */
function isRefName(ref: string): boolean {
  return /^refs\/[^\p{Cc} ~^:?*[\\]+$/u.test(ref) && !/\.\.|\/[./]|\/$|\.lock(?:\/|$)/u.test(ref);
}

function findPacked(common: string, ref: string): string {
  const text = `\n${readBoundedText(path.join(common, 'packed-refs'), READ.packedRefs) ?? ''}`;
  const at = text.indexOf(` ${ref}\n`);
  return at < 0 ? '' : text.slice(text.lastIndexOf('\n', at) + 1, at);
}

/** Returns the trimmed text of a small file; empty if it cannot be read. */
function readShort(file: string): string {
  return (readBoundedText(file, READ.pointer) ?? '').trim();
}

/** Maximum size in bytes of a commit object or delta. */
const MAX_OBJECT = 1024 * 1024;
/** Maximum number of pack files searched; git repacks when there are more than 50. */
const MAX_PACKS = 1_000;
/** Maximum total bytes of pack entries read for one commit; an entry counts as at least `MIN_ENTRY`. */
const MAX_WORK = 16 * 1024 * 1024;
const MIN_ENTRY = 4 * 1024;
/** Maximum length of a delta chain; git's own limit is 4,095, and its default is 50. */
const MAX_DELTAS = 100;

/**
 * Returns the parents of a commit, in order; null if its object is missing, unreadable, or does not match its hash.
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
/**
 * Offset of the names: after the header and the fan-out table, 256 counts of names whose first byte is at most the
 * index.
 */
const NAMES_AT = 8 + 256 * 4;

/**
 * Returns the offset of an object in its pack from a version 2 index (gitformat-pack(5)); null if it is not in the
 * index.
 */
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

/** Offsets below 2 GiB have 31 bits; the highest bit marks an index into the table of 64-bit offsets. */
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
  /** Remaining work for one commit, across all packs. */
  readonly work: { left: number };
}

const COMMIT = 1;
const DELTA_BY_OFFSET = 6;
const DELTA_BY_NAME = 7;
/** Maximum length of an entry header: a size, and an offset or a name. */
const MAX_ENTRY_HEADER = 64;

/** Returns the content of a commit in a pack, reconstructed from its deltas. */
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
  // Incompressible data grows by a few bytes.
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

/** Applies a delta of copy and insert instructions (gitformat-pack(5)); null if it is invalid for the base. */
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
    // An instruction of length zero is reserved.
    if (count === 0 || start + count > from.length || length + count > size) return null;
    length += from.copy(made, length, start, start + count);
  }
  return length === size ? made : null;

  /** Reads a number of which only the bytes whose bit is set are present. */
  function readPart(command: number, firstBit: number, count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      if ((command & (1 << (firstBit + index))) !== 0) value += next() * 256 ** index;
    }
    return value;
  }
}

/** An index or a pack, read in parts because it may be larger than memory. */
interface GitFile {
  readonly size: number;
  /** Reads bytes from a position; returns fewer at the end of the file. */
  read(position: number, length: number): Buffer;
}

/** Opens a regular file while `use` runs; returns null if there is none or `use` throws. */
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
