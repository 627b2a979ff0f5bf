import { expect, it } from 'vitest';
import { COMMANDS, FLAGS } from '../../src/cli/flags.ts';
import { helpText, usageText } from '../../src/cli/help.ts';
import { INPUTS } from '../../src/config/inputs.ts';

const flags = Object.values(FLAGS).flat();

it('--help lists every flag once, with its other names and its default', () => {
  const text = helpText();
  for (const { name, also = [], default: value, description } of flags) {
    expect(text.split(`\n  --${name}`).length, name).toBeGreaterThan(1);
    for (const other of also) expect(text).toMatch(new RegExp(` --?${other}\\b`, 'u'));
    expect(text).toContain(description);
    expect(text).toContain(value === '' ? '' : `default: ${value})`);
  }
  for (const command of Object.keys(COMMANDS)) expect(text).toContain(`\n  ${command}`);
  expect(text.match(/^ {2}\d+/gmu)?.map(Number)).toEqual([0, 1, 44, 52, 53, 55, 130]);
  expect(usageText()).toMatch(/^Usage: structured-agent \[FLAGS\] TASK\n[\s\S]*--model/u);
});

it('the flags are the inputs that apply off GitHub, except the key, under unique names', () => {
  const names = flags.flatMap(({ name, also = [] }) => [name, ...also]);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, where } of INPUTS)
    expect(names.includes(name), name).toBe(where !== 'github' && name !== 'api-key');
  for (const { description } of flags) expect(description).not.toMatch(/RUNNER_|github|workflow|runner/iu);
});
