import { expect, it } from 'vitest';
import { findMisused, parseFlags, runCommand } from '../../src/commands/flags.ts';
import { InputError } from '../../src/errors.ts';

const specs = [
  { name: 'max-turns', also: ['turns', 't'] },
  { name: 'tools', kind: 'list' },
  { name: 'quiet', kind: 'boolean', also: ['q'] },
] as const;

it('reads flags in the order typed, under any of their names', () => {
  const argv = ['a', '--turns', '-1', '-t=b=c', '--tools', ' x ', '--tools=', '-q', 'd', '--', '-q'];
  const { flags, words, problems } = parseFlags(argv, specs, (as) => new InputError(null, as));
  expect(flags.map(({ flag, as, value }) => [flag.name, as, value])).toEqual([
    ['max-turns', '--turns', '-1'],
    ['max-turns', '-t', 'b=c'],
    ['tools', '--tools', 'x'],
    ['tools', '--tools', ''],
    ['quiet', '-q', 'true'],
  ]);
  expect([words, problems]).toEqual([['a', 'd', '-q'], []]);
  expect(findMisused(flags).map(({ input, message }) => `${input} ${message}`)).toEqual([
    'max-turns It is given twice, as --turns and as -t. Keep one of them.',
    expect.stringMatching(/^tools It is given an empty value/u),
  ]);
});

it('runs a command, shows its help, or says in one line what is wrong with its flags', async () => {
  const run = async (...argv: readonly string[]) => {
    const printed: unknown[] = [];
    const stdout = { write: (text: string) => printed.push(text) };
    const command = { name: 'look', flags: { at: 'list', all: 'boolean' }, help: 'HELP\n' } as const;
    const code = await runCommand(command, argv, { cwd: '/', stdout, stderr: stdout }, async (flags) => {
      printed.push(flags.positionals, flags.list('at'), flags.value('at'), flags.has('all'));
      return 3;
    });
    return [code, ...printed];
  };
  expect(await run('x', '--at', 'a', '--all', '--at=b')).toEqual([3, ['x'], ['a', 'b'], 'a', true]);
  expect(await run('-h')).toEqual([0, 'HELP\n']);
  const says =
    /^structured-agent look: 3 problems to fix: .*look has no flag "--al.*Its flags are --at, --all, --help\..*It needs a value.*It is given an empty value.*\n$/u;
  const wrong = await run('--al\u001b[31m\n::error::', '--at=', '--at');
  expect(wrong).toEqual([52, expect.stringMatching(says)]);
});
