import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { verdictKey } from '../../src/config/reporting.ts';

const runner = { GITHUB_WORKFLOW: 'CI  checks', GITHUB_JOB: 'review', GITHUB_ACTION: '__org_agent' };

/** The default of action.yml as evaluated by the runner and parsed as an input. */
const evaluated = (matrix: unknown) => {
  const key = `CI  checks / review / ${JSON.stringify(matrix, null, 2)} / __org_agent`;
  const raw = new Map([
    ['prompt', 'x'],
    ['model', 'claude-3'],
    ['api-key', 'k'],
    ['comment-key', key],
  ] as const);
  return parseConfig(raw, { environment: {} }).config.commentKey;
};

describe('verdictKey', () => {
  it.each([[null], [{}], [{ os: 'linux', 'odd / key': ['a / b'] }]])(
    'appends leg and vote to the default for the matrix %j',
    (matrix) => {
      const commentKey = evaluated(matrix);
      expect(verdictKey(runner, { commentKey, leg: null, vote: null })).toBe(commentKey);
      expect(verdictKey(runner, { commentKey, leg: 'api', vote: null })).toBe(`${commentKey} / leg "api"`);
      expect(verdictKey(runner, { commentKey, leg: 'api', vote: '2' })).toBe(
        `${commentKey} / leg "api" / vote "2"`,
      );
    },
  );

  it('escapes names, so that no leg name looks like a leg and a vote', () => {
    const commentKey = evaluated({});
    const one = verdictKey(runner, { commentKey, leg: 'a" / vote "2', vote: null });
    expect(one).not.toBe(verdictKey(runner, { commentKey, leg: 'a', vote: '2' }));
  });

  it.each([
    'mine',
    'CI checks / review / mine / __org_agent',
    'CI checks / review / {} / other',
    'CI checks / review / 5 / __org_agent',
    'CI checks / review / __org_agent',
  ])('keeps %s, which is not the default', (commentKey) => {
    expect(verdictKey(runner, { commentKey, leg: 'api', vote: '2' })).toBe(commentKey);
  });

  it('uses workflow, job, step, leg and vote when the input is absent', () => {
    expect(verdictKey(runner, { commentKey: null, leg: 'api', vote: '2' })).toBe(
      'CI checks / review / __org_agent / leg "api" / vote "2"',
    );
    expect(verdictKey(runner, { commentKey: null, leg: null, vote: null })).toBe(
      'CI checks / review / __org_agent',
    );
  });

  it('handles an environment without runner variables', () => {
    expect(verdictKey({}, { commentKey: 'mine', leg: 'api', vote: '2' })).toBe('mine');
    expect(verdictKey({}, { commentKey: null, leg: 'api', vote: null })).toBe(' /  /  / leg "api"');
  });
});
