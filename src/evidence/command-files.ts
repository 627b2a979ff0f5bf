/** The changed files that a command names. */
import { posix } from 'node:path';

/** More files are not named one by one but listed, and what each of them shows would be looked for in each line. */
const MAX_FILES = 16;

/** A changed file that a command reads, by its index. */
export interface NamedFile {
  readonly file: number;
  /** Whether the command reads it from another commit than HEAD, too. */
  readonly isOld: boolean;
}

export interface CommandFiles {
  /** Empty if the command names more files than can be looked for. */
  readonly files: readonly NamedFile[];
  /** Whether all that it prints are lines of files of the repository, without their paths, and none of a diff. */
  readonly isPlain: boolean;
  /** The folder that the command changes to, to which paths in its output are relative; null if unknown. */
  readonly folder: string | null;
}

/** Programs that print lines of the files they are given, or nothing of files. */
const READERS = new Set([
  ...['cat', 'head', 'tail', 'sed', 'nl', 'less', 'more', 'bat', 'batcat'],
  ...['cd', 'pushd', 'echo', 'printf', 'wc', 'true'],
]);
/** What may name any file: an expansion, standard input. */
const ANY_FILE = /[$`*?~[{]|^-$/u;
/** A stored diff, such as the model makes one; one that the change brings along is a file like any other. */
const STORED_DIFF = /\.(?:diff|patch)(?!\w)/u;

/**
 * Finds the changed files in a command by its words, in linear time. A path is relative to the last folder of `cd`; after
 * one that only the shell can know (`cd "$dir"`), only absolute paths count.
 * @param resolve returns the index of the changed file with an absolute path, or null.
 * @param root of the repository, for `REVISION:path`.
 */
export function findCommandFiles(
  command: string,
  {
    root,
    workingDirectory,
    resolve,
  }: { root: string; workingDirectory: string; resolve: (path: string) => number | null },
): CommandFiles {
  const files = new Map<number, boolean>();
  let folder: string | null = workingDirectory;
  let [previous, beforeThat] = ['', ''];
  let isPlain = command.trim() !== '';
  for (const { word, isProgram } of wordsOf(command)) {
    if (isProgram ? !READERS.has(word) : ANY_FILE.test(word)) isPlain = false;
    if (word.startsWith('/') && word !== '/dev/null' && word !== root && !word.startsWith(`${root}/`))
      isPlain = false;
    if (word.startsWith('../')) isPlain = false;
    if (previous === 'cd' || previous === 'pushd' || (previous === '-C' && beforeThat === 'git'))
      folder =
        /[$`*?~]/u.test(word) || (folder === null && !word.startsWith('/'))
          ? null
          : posix.resolve(folder ?? '/', word);
    [previous, beforeThat] = [word, previous];
    if (STORED_DIFF.test(word) && (folder === null || resolve(posix.resolve(folder, word)) === null))
      isPlain = false;
    const name = (path: string, from: string | null, isOld: boolean) => {
      if (path === '' || (from === null && !path.startsWith('/'))) return;
      const file = resolve(posix.resolve(from ?? '/', path));
      if (file !== null) files.set(file, isOld || (files.get(file) ?? false));
    };
    name(word, folder, false);
    const colon = word.indexOf(':');
    if (colon !== -1) {
      const [revision, path] = [word.slice(0, colon), word.slice(colon + 1)];
      const isRelative = path.startsWith('./') || path.startsWith('../');
      if (!path.startsWith('/'))
        name(path, isRelative ? folder : root, revision !== '' && revision !== 'HEAD' && revision !== '@');
    }
    // In a script for another shell, `cd` is not followed.
    if (/(?<!\w)cd\s/u.test(word)) continue;
    for (const part of word.split(/[\s'"`;|&()<>=,]/u)) if (part !== word) name(part, folder, false);
    if (files.size > MAX_FILES) return { files: [], folder, isPlain: false };
  }
  return { files: [...files].map(([file, isOld]) => ({ file, isOld })), folder, isPlain };
}

interface Word {
  readonly word: string;
  /** Whether it is the first word of a command. */
  readonly isProgram: boolean;
}

/** Splits a command into words at blanks and operators outside of quotes. */
function wordsOf(command: string): readonly Word[] {
  const words: Word[] = [];
  let [word, quote] = ['', ''];
  let isProgram = true;
  const end = () => {
    if (word === '') return;
    words.push({ word, isProgram });
    [word, isProgram] = ['', false];
  };
  for (let at = 0; at < command.length; at++) {
    const character = command[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
    } else if (character === '\\') {
      at += 1;
      word += command[at] ?? '';
    } else if (/[\s;|&()<>]/u.test(character)) {
      end();
      if (/[\n;|&(]/u.test(character) && command[at - 1] !== '>') isProgram = true;
    } else {
      word += character;
    }
  }
  end();
  return words;
}
