import { describe, expect, it } from 'vitest';
import { parseRun, refusal } from './lines.ts';

const run = ['-m', 'm', '-p', 'x'];

describe('what cannot be meant', () => {
  it.each([
    [['--max-turns', '3', '--max-turns', '3'], /^--max-turns is given twice/u],
    [
      ['--max-turns', '3', '--max-session-turns=4'],
      /^--max-turns and --max-session-turns are both given, and mean the same/u,
    ],
    [['--quiet', '--no-quiet'], /^--quiet is switched both on and off/u],
    [['--force-output=false', '--force-output'], /^--force-output is switched both on and off/u],
    [['--no-bare'], /^Every run is bare/u],
    [['--bare=false'], /^Every run is bare/u],
    [['--record', 'a', '--replay', 'b'], /^--record and --replay are both given/u],
    [['--input-format', 'stream-json'], /^--input-format is refused: a run asks once/u],
  ])('%j is refused with its reason', (argv, sentence) => {
    expect(refusal([...run, ...argv])).toMatch(sentence);
  });

  it.each([
    [['chek'], /There is no command "chek"\. Did you mean check\?/u],
    [['int'], /There is no command "int"\. Did you mean init\?/u],
    [['check'], /^check is a command, and comes first/u],
    [['check', 'the', 'tests'], /^check is a command, and comes first/u],
  ])('the words %j are rather a command than a task', (words, sentence) => {
    expect(refusal(['-m', 'm', ...words])).toMatch(sentence);
  });

  it('a switch that is given twice with one meaning is one', () => {
    expect(parseRun(['-p', 'x', '-q', '--quiet', '--bare', '--bare=true']).options.quiet).toBe(true);
  });
});
