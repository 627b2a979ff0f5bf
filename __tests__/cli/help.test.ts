import { expect, it } from 'vitest';
import { COMMANDS, FLAGS } from '../../src/cli/args.ts';
import { helpText, usageText } from '../../src/cli/help.ts';

const flags = Object.values(FLAGS).flat();

it('--help lists every flag under unique names, with its default and no word of a workflow', () => {
  const text = helpText();
  for (const { name, also = [], default: value, description } of flags) {
    for (const each of [name, ...also]) expect(text).toMatch(new RegExp(`^ .*(?<!-)--?${each}\\b`, 'mu'));
    expect(text).toContain(description);
    expect(text).toContain(value === '' ? '' : `default: ${value})`);
    expect(description).not.toMatch(/RUNNER_|github|workflow|runner/iu);
  }
  const names = flags.flatMap(({ name, also = [] }) => [name, ...also]);
  expect([new Set(names).size, names.includes('api-key')]).toEqual([names.length, false]);
  for (const command of Object.keys(COMMANDS)) expect(text).toContain(`\n  ${command}`);
  expect(text.match(/^ {2}\d+/gmu)?.map(Number)).toEqual([0, 1, 44, 52, 53, 55, 130]);
  expect(usageText()).toMatch(/^Usage: structured-agent \[FLAGS\] TASK\n[\s\S]*--model/u);
});
