import { describe, expect, it } from 'vitest';
import { FLAGS, REFUSED_FLAGS } from '../../src/cli/flags.ts';
import { INPUTS, LOCAL_INPUTS } from '../../src/config/inputs.ts';

describe('the flags', () => {
  it('are every input that applies off GitHub except api-key, and no other input', () => {
    const wanted = [...INPUTS, ...LOCAL_INPUTS].filter(
      ({ where, name }) => where !== 'github' && name !== 'api-key',
    );
    expect(FLAGS.flatMap(({ input }) => (input === null ? [] : [input]))).toEqual(
      wanted.map(({ name }) => name),
    );
  });

  it('have unique names, none of which is refused', () => {
    const names = FLAGS.flatMap(({ name, aliases, short }) => [name, ...aliases, ...short]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(REFUSED_FLAGS.has(name), name).toBe(false);
    for (const { name } of INPUTS) expect(REFUSED_FLAGS.has(name), name).toBe(false);
  });

  it('have a one-sentence description, and name a value unless they are boolean', () => {
    for (const { name, help, kind, value } of FLAGS) {
      expect(help, name).toMatch(/^\S[^\n]{5,330}\.$/u);
      expect(value === '', name).toBe(kind === 'boolean');
    }
  });

  it('never mention a runner or a workflow in their descriptions', () => {
    for (const { name, help } of FLAGS) expect(help, name).not.toMatch(/RUNNER_|github|workflow|runner/iu);
  });
});
