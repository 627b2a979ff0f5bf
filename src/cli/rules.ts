/** What cannot be meant on a command line, though each of its arguments can. */

import { InputError } from '../errors.ts';
import { suggest } from '../text/messages.ts';
import { COMMANDS, type Flag } from './flags.ts';
import type { ScannedLine, TypedFlag } from './scan.ts';

/** @throws InputError where a flag that is no list was typed with two meanings. */
export function refuseTwice(flags: readonly TypedFlag[]): void {
  const seen = new Map<Flag, TypedFlag>();
  for (const typed of flags) {
    const { flag, as, value } = typed;
    const before = seen.get(flag);
    if (before === undefined) seen.set(flag, typed);
    if (before === undefined || flag.kind === 'list') continue;
    if (flag.kind !== 'boolean')
      throw new InputError(
        flag.name,
        before.as === as
          ? `${as} is given twice. Keep one of them.`
          : `${before.as} and ${as} are both given, and mean the same. Keep one of them.`,
      );
    if (before.value !== value)
      throw new InputError(flag.name, `--${flag.name} is switched both on and off. Keep one of them.`);
  }
}

const COMMAND_LIST = `The commands are ${COMMANDS.slice(0, -1).join(', ')} and ${COMMANDS.at(-1)}`;

/** @throws InputError for `merge` as a command; behind it stand nothing, flags or a path, and no sentence. */
export function refuseMerge([first, second]: readonly string[]): void {
  if (first !== 'merge' || (second !== undefined && !/^-|[/\\]/u.test(second))) return;
  throw new InputError(
    null,
    'There is no command "merge": merging verdicts exists only as a GitHub Action, in the folder merge/ of this one (see docs/many-legs.md). As a task, write it after -p.',
  );
}

/** @throws InputError for one word and nothing else: without a model it is no task yet, and may have been meant as a command. */
export function refuseLoneWord([word = '', ...more]: readonly string[]): void {
  if (more.length > 0 || !/^[a-z][a-z-]*$/u.test(word) || suggest(word, COMMANDS, 1).length > 0) return;
  throw new InputError(
    null,
    `There is no command ${JSON.stringify(word.slice(0, 60))}. ${COMMAND_LIST}. A task of one word is written after -p.`,
  );
}

/** @throws InputError for a word that was rather meant as a command. */
export function refuseWords(words: readonly string[]): void {
  if (words.length === 1) refuseMerge(words);
  const [word = '', ...more] = words;
  const command = COMMANDS.find((each) => each === word);
  if (command !== undefined)
    throw new InputError(
      null,
      `${command} is a command, and comes first: structured-agent ${command}. As a task, write it after -p.`,
    );
  // A slip of the finger must not ask a model what it means.
  const near = more.length === 0 && /^[a-z]+$/u.test(word) ? suggest(word, COMMANDS, 1)[0] : undefined;
  if (near !== undefined)
    throw new InputError(
      null,
      `There is no command ${JSON.stringify(word.slice(0, 60))}. Did you mean ${near}? A task of one word is written after -p.`,
    );
}

/** @throws InputError for `help` and one word that is no command. */
export function refuseUnknownHelp([first, word, ...more]: readonly string[]): void {
  if (first !== 'help' || word === undefined || word.startsWith('-') || more.length > 0) return;
  refuseMerge([word]);
  const near = suggest(word, COMMANDS, 1)[0];
  const fix =
    near === undefined
      ? `${COMMAND_LIST}; structured-agent --help lists every flag.`
      : `Did you mean structured-agent help ${near}?`;
  throw new InputError(null, `There is no command ${JSON.stringify(word.slice(0, 60))}. ${fix}`);
}

/** @throws InputError for what is no single run with one verdict. */
export function refuseOtherModes(flags: readonly TypedFlag[]): void {
  const format = flags.find((each) => each.flag.name === 'input-format' && each.value !== 'text');
  if (format !== undefined)
    throw new InputError(
      'input-format',
      `${format.as} is refused: a run asks once and ends with one verdict, so stdin is one text and no stream of messages. Leave it out, and pipe the text in.`,
    );
  if (flags.some((each) => each.flag.name === 'bare' && each.value === 'false'))
    throw new InputError(
      'bare',
      'Every run is bare: nothing but what is typed counts, and that cannot be switched off. Leave --bare out.',
    );
  if (has(flags, 'record') && has(flags, 'replay'))
    throw new InputError(
      'record',
      '--record and --replay are both given: a replay asks no model, so there is nothing new to record. Keep one of them.',
    );
}

/** @throws InputError where the task comes from two places. */
export function refuseTwoTasks({ flags, words }: ScannedLine): void {
  const places = flags
    .filter(({ flag }) => flag.name === 'prompt' || flag.name === 'prompt-file')
    .map((each) => each.as);
  const [one, two] = words.length === 0 ? places : [...places, 'words that belong to no flag'];
  if (words.length > 0 && words.join('').trim() === '')
    throw new InputError('prompt', 'The task is empty. Write what is to be done.');
  if (one === undefined || two === undefined) return;
  const quote =
    words.length === 0 ? '' : ' A value with blanks is quoted, and a list takes one value a flag.';
  throw new InputError(
    'prompt',
    `The task is given twice: by ${one} and by ${two}. Keep one of them.${quote}`,
  );
}

function has(flags: readonly TypedFlag[], name: string): boolean {
  return flags.some((each) => each.flag.name === name);
}
