import { describe, expect, it } from 'vitest';
import { createConsole } from '../../../examples/demo/console.ts';

function show(...lines: readonly string[]): readonly (string | null)[] {
  const render = createConsole();
  return lines.map(render);
}

describe('the console of the demo', () => {
  it('prints a line that is not a command unchanged', () => {
    expect(show('turn 1', ' ::not a command', '')).toEqual(['turn 1', ' ::not a command', '']);
  });

  it('prints annotations with their text decoded', () => {
    expect(show('::error title=t::100%25 wrong%0Atwice', '::warning::w', '::notice file=a::n')).toEqual([
      'Error: 100% wrong\ntwice',
      'Warning: w',
      'Notice: n',
    ]);
  });

  it('never prints a value to mask', () => {
    expect(show('::add-mask::sk-secret')).toEqual([null]);
  });

  it('prints the title of a group and drops its end', () => {
    expect(show('::group::shell npm test', 'inside', '::endgroup::')).toEqual([
      '▼ shell npm test',
      'inside',
      null,
    ]);
  });

  it('ignores commands while they are stopped', () => {
    expect(show('::stop-commands::t0ken', '::error::from the model', '::t0ken::', '::error::ours')).toEqual([
      null,
      '::error::from the model',
      null,
      'Error: ours',
    ]);
  });
});
