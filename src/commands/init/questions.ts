/** Asks on a terminal. */

import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { InputError } from '../../errors.ts';
import { suggest } from '../../text/messages.ts';
import type { Ask } from './plan.ts';

/** Somebody who can be asked, until that is closed. */
export interface Questions {
  readonly ask: Ask;
  close(): void;
}

const SHORT_ANSWERS: ReadonlyMap<string, string> = new Map([
  ['y', 'yes'],
  ['n', 'no'],
]);

/** Asks line by line; an answer that is none of the values is asked for again. */
export function askOn(stdin: Readable, stderr: { write(text: string): unknown }): Questions {
  const output = new Writable({
    write(chunk: unknown, _encoding, done) {
      stderr.write(String(chunk));
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: false });
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask(question, standard, values) {
      const choices = values.length === 0 ? '' : ` (${values.join(', ')})`;
      for (;;) {
        stderr.write(`${question}${choices} ${standard === null ? '' : `[${standard}] `}`);
        const { value, done } = await answers.next();
        if (done === true) {
          stderr.write('\n');
          throw new InputError(
            null,
            'No answer came, and nothing was written. Give flags, or --yes for the defaults.',
          );
        }
        const answer = String(value).trim();
        if (answer === '' && standard !== null) return standard;
        if (answer !== '' && values.length === 0) return answer;
        const word = SHORT_ANSWERS.get(answer.toLowerCase()) ?? answer.toLowerCase();
        const found = values.find((each) => each === word);
        if (found !== undefined) return found;
        const near = suggest(answer, values);
        const choice =
          near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `Answer ${values.join(', ')}.`;
        stderr.write(`${choice}\n`);
      }
    },
    close() {
      lines.close();
    },
  };
}
