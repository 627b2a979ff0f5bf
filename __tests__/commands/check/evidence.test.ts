import { describe, expect, it } from 'vitest';
import { findingsOf, foundIn, workflowOf } from './workflow-world.ts';

const checkout = (depth: string) =>
  `- uses: actions/checkout@v5\n  with: { persist-credentials: false${depth === '' ? '' : `, fetch-depth: ${depth}`} }`;
const withShare = (share: string, more = '') => `prompt: Judge.\nmin-coverage: ${share}${more}`;

describe('the values of', () => {
  it.each<[string, string]>([
    ['min-coverage: auto', ''],
    ['min-coverage: off', ''],
    ['min-coverage: 1', ''],
    ['min-coverage: "0.9"', ''],
    ['min-coverage: ${{ vars.SHARE }}', ''],
    ['min-coverage: 90%', 'error input-min-coverage at min-coverage:'],
    ['min-coverage: 1.1', 'error input-min-coverage at min-coverage:'],
    ['min-coverage: -1', 'error input-min-coverage at min-coverage:'],
    ['min-coverage: lines:1', 'error input-min-coverage at min-coverage:'],
    ['grounding: require', ''],
    ['grounding: ${{ vars.GROUNDING }}', ''],
    ['grounding: strict', 'error input-grounding at grounding:'],
  ])('%s have the findings %j', async (input, expected) => {
    const text = workflowOf({ on: 'pull_request', inputs: `prompt: Judge.\n${input}` });
    expect(await foundIn(text)).toBe(expected);
  });
});

describe('a share in min-coverage', () => {
  const UNKNOWN = 'warning coverage-unknown at min-coverage:';
  it.each<[string, string, string]>([
    ['pull_request', '1', ''],
    ['[pull_request, merge_group]', '1', ''],
    ['schedule', '1', UNKNOWN],
    ['[pull_request, schedule]', '1', UNKNOWN],
    ['{ pull_request: , workflow_dispatch: { } }', '0.5', UNKNOWN],
    ['release', '0.5', UNKNOWN],
    ['issues', '0.5', UNKNOWN],
    ['schedule', 'auto', ''],
    ['schedule', 'AUTO', ''],
    ['schedule', 'off', ''],
    ['schedule', '${{ vars.SHARE }}', ''],
    ['schedule', '90%', 'error input-min-coverage at min-coverage:'],
    ['workflow_call', '1', ''],
    ['issue_comment', '1', ''],
    ['pull_request_target', '1', ''],
    ['workflow_run', '1', ''],
  ])('on %s, %s has the findings %j', async (on, share, expected) => {
    expect(await foundIn(workflowOf({ on, inputs: withShare(share) }))).toBe(expected);
  });

  it('is not reported for a job or a step that chooses by the event', async () => {
    const parts = { on: '[pull_request, schedule]', inputs: withShare('1') };
    const condition = "if: github.event_name == 'pull_request'";
    expect(await findingsOf(workflowOf({ ...parts, step: condition }))).toEqual([]);
    expect(await findingsOf(workflowOf({ ...parts, job: condition }))).toEqual([]);
    expect(await findingsOf(workflowOf({ ...parts, job: 'if: ${{ always() }}' }))).toEqual([UNKNOWN]);
  });

  it.each<[string, string, string]>([
    ['pull_request', '1', 'warning coverage-unknown at context:'],
    ['schedule', '1', 'warning coverage-unknown at context:'],
    ['pull_request', 'auto', ''],
    ['pull_request', 'off', ''],
  ])('on %s with context: none, %s has the findings %j', async (on, share, expected) => {
    expect(await foundIn(workflowOf({ on, inputs: withShare(share, '\ncontext: none') }))).toBe(expected);
  });

  const SHALLOW = ['warning coverage-unknown at'];
  it.each<[string, string, string, readonly string[]]>([
    ['push', '1', checkout(''), SHALLOW],
    ['push', '1', checkout('1'), SHALLOW],
    ['merge_group', '1', checkout(''), SHALLOW],
    ['[pull_request, push]', '1', checkout(''), SHALLOW],
    ['push', '1', checkout('0'), []],
    ['push', '1', checkout('2'), []],
    ['push', '1', checkout("'0'"), []],
    ['push', '1', checkout("'${{ vars.DEPTH }}'"), []],
    ['push', '1', `${checkout('')}\n- run: git fetch --unshallow`, []],
    ['push', '1', `${checkout('')}\n- run: npm ci`, SHALLOW],
    ['push', '1', `${checkout('0')}\n${checkout('')}`, []],
    ['push', '1', '', []],
    ['push', 'auto', checkout(''), []],
    ['pull_request', '1', checkout(''), []],
  ])('on %s, %s after the checkout %j has the findings %j', async (on, share, before, expected) => {
    const found = await findingsOf(workflowOf({ on, before, inputs: withShare(share) }));
    expect(found.map((each) => each.replace(/(?<=at) .*/u, ''))).toEqual(expected);
  });
});
