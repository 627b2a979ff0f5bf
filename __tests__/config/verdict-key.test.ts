import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { verdictKey } from '../../src/config/reporting.ts';

const runner = { GITHUB_WORKFLOW: 'CI  checks', GITHUB_JOB: 'review', GITHUB_ACTION: '__org_agent' };

/** The default of action.yml as the runner evaluates it, read like any input. */
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

describe('what tells one verdict from another', () => {
  it.each([[null], [{}], [{ os: 'linux', 'odd / key': ['a / b'] }]])(
    'is the default with leg and vote, matrix %j',
    (matrix) => {
      const commentKey = evaluated(matrix);
      expect(verdictKey(runner, { commentKey, leg: null, vote: null })).toBe(commentKey);
      expect(verdictKey(runner, { commentKey, leg: 'api', vote: null })).toBe(`${commentKey} / leg "api"`);
      expect(verdictKey(runner, { commentKey, leg: 'api', vote: '2' })).toBe(
        `${commentKey} / leg "api" / vote "2"`,
      );
    },
  );

  it('no name looks like another name and a vote', () => {
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
  ])('%s was typed and stays as it is', (commentKey) => {
    expect(verdictKey(runner, { commentKey, leg: 'api', vote: '2' })).toBe(commentKey);
  });

  it('without the input it is workflow, job and step, leg and vote', () => {
    expect(verdictKey(runner, { commentKey: null, leg: 'api', vote: '2' })).toBe(
      'CI checks / review / __org_agent / leg "api" / vote "2"',
    );
    expect(verdictKey(runner, { commentKey: null, leg: null, vote: null })).toBe(
      'CI checks / review / __org_agent',
    );
  });

  it('in an environment without the runner a key that was given stays, and none is no crash', () => {
    expect(verdictKey({}, { commentKey: 'mine', leg: 'api', vote: '2' })).toBe('mine');
    expect(verdictKey({}, { commentKey: null, leg: 'api', vote: null })).toBe(' /  /  / leg "api"');
  });
});
