/** The expected results of the example workflows on act, with a failing and a fixed repository where both matter. */
import { BREAK, type Edit, MEND } from '../../../examples/demo/demo.ts';
import { ACTION, type Case } from './world.ts';

/** The repository as it is committed: one of nine tests fails. */
const FAILING = { edits: [], title: 'the failing repository' } as const;
const MENDED = { edits: [MEND], title: 'the fixed repository' } as const;
/** A pull request that breaks the code and relaxes its own policy. */
const EASED: readonly Edit[] = [
  BREAK,
  { file: '.github/verdict.schema.json', from: 'True only when every test passed.', to: 'Always true.' },
];

const GREEN = `Success - Main ${ACTION}`;
const RED = `Failure - Main ${ACTION}`;
const HAS_PASSED = '::set-output:: passed=true';
const HAS_FAILED = '::set-output:: passed=false';

const MERGED = 'Main org/structured-agent/merge@v1';
const [PASS, FAIL, KILLED] = ['pass', 'fail', 'killed'] as const;

const MANY_LEGS_RUN = {
  workflow: 'many-legs.yml',
  event: 'pull_request',
  edits: [MEND],
  secrets: true,
  inTurn: true,
} as const;

/** A deciding failure, a repeated vote, unanimous votes and no votes. */
const MANY_LEGS: readonly Case[] = [
  {
    ...MANY_LEGS_RUN,
    title: 'a failing leg, and a leg with different votes and a missing one',
    votes: {
      correctness: [PASS, PASS, PASS],
      security: [FAIL, PASS, FAIL],
      compatibility: [PASS, KILLED, FAIL],
    },
    exitCode: 1,
    holds: [
      `Failure - Main ${ACTION}`,
      '::error::Input required and not supplied: path',
      'Total of 8 artifact(s) downloaded',
      `Failure - ${MERGED}`,
      '::set-output:: run-reason=gate_not_met',
      tally(1, 1, 1),
      '## ❌ Failure: 1 of 3 legs passes, 1 fails, 1 is undecided',
    ],
    lacks: [`Success - ${MERGED}`],
    comments: ['❌ Failure', '1 of 3 legs passes, 1 fails, 1 is undecided', 'The security suffers here.'],
  },
  {
    ...MANY_LEGS_RUN,
    title: 'a repeated vote decides after the first was cut off',
    votes: {
      correctness: [PASS, PASS, PASS],
      security: [PASS, PASS, FAIL],
      compatibility: [PASS, KILLED, FAIL, PASS],
    },
    again: [{ leg: 'compatibility', vote: '2' }],
    exitCode: 0,
    holds: [
      'Total of 8 artifact(s) downloaded',
      `Failure - ${MERGED}`,
      '::set-output:: run-reason=undecided',
      tally(2, 0, 1),
      'Total of 9 artifact(s) downloaded',
      `Success - ${MERGED}`,
      tally(3, 0, 0),
    ],
    lacks: ['::set-output:: run-reason=gate_not_met'],
    comments: ['✅ Success'],
  },
  {
    ...MANY_LEGS_RUN,
    title: 'every vote passes',
    votes: {
      correctness: [PASS, PASS, PASS],
      security: [PASS, PASS, PASS],
      compatibility: [PASS, PASS, PASS],
    },
    exitCode: 0,
    holds: ['Total of 9 artifact(s) downloaded', `Success - ${MERGED}`, tally(3, 0, 0)],
    lacks: ['Failure - Main'],
    comments: ['✅ Success'],
  },
  {
    ...MANY_LEGS_RUN,
    title: 'a fork without secrets',
    secrets: false,
    inTurn: false,
    votes: {},
    exitCode: 1,
    holds: ['::set-output:: run-exit-code=52', 'Total of 9 artifact(s) downloaded', `Failure - ${MERGED}`],
    lacks: ['::set-output:: passed=', `Success - ${MERGED}`],
    comments: ['⚠️'],
  },
];

/** All cases. */
export const CASES: readonly Case[] = [
  failing(
    'gate.yml',
    'push',
    0,
    [
      GREEN,
      HAS_FAILED,
      '::set-output:: failure_count=1',
      'Success - Main Say what is in the way',
      '| Not released, 1 failing. 1 of 9 tests fails: an order of exactly 100.00 gets the discount.',
    ],
    ['Main Announce the release', 'Main Release'],
  ),
  mended('gate.yml', 'push', [
    'Success - Main Announce the release',
    '| Cleared for release.',
    'Success - Main Release',
    '| Releasing.',
  ]),
  {
    ...failing('pull-request-review.yml', 'pull_request', 1, [
      RED,
      HAS_FAILED,
      '::set-output:: run-gate=not_met',
      '| review failure (gate_not_met) after 4 turns',
      '| uploaded 1 of structured-agent/',
      'an order of exactly 100.00 gets the discount',
    ]),
    comments: ['❌ Failure', '1 of 9 tests fails'],
  },
  {
    ...mended('pull-request-review.yml', 'pull_request', [
      '| review success (accepted) after 6 turns',
      '| uploaded 0 of structured-agent/',
    ]),
    comments: ['✅ Success', 'All 9 tests pass.'],
  },
  failing(
    'local-model.yml',
    'push',
    1,
    [RED, '::set-output:: failure_count=1', '::set-output:: run-gate=not_met'],
    ['Main Count'],
  ),
  { ...mended('local-model.yml', 'push', ['::set-output:: failure_count=0', '| No test fails.']), lacks: [] },
  failing('verdict.yml', 'pull_request', 1, [
    RED,
    HAS_FAILED,
    'Success - Main Say what is wrong',
    '| error: test/',
  ]),
  {
    ...failing('code-review.yml', 'pull_request', 1, [
      RED,
      HAS_FAILED,
      '| review failure, complete true, https://',
    ]),
    comments: ['❌ Failure', 'A test fails'],
  },
  {
    ...mended('code-review.yml', 'pull_request', ['| review success, complete true, https://']),
    comments: ['✅ Success'],
  },
  // The scripted model runs the tests, but this example offers no shell, so its payload says that it could not.
  failing('security-review.yml', 'pull_request', 1, [
    RED,
    '::set-output:: complete=false',
    '| uploaded 0 of structured-agent/',
  ]),
  failing(
    'test-report.yml',
    'push',
    1,
    [RED, '::set-output:: failure_count=1', '::set-output:: test_count=9'],
    ['Main Count'],
  ),
  mended('test-report.yml', 'push', ['| 9 tests ran, none failed, 0 skipped.']),
  {
    ...failing('matrix.yml', 'pull_request', 1, [
      '| correctness failure',
      '| security failure',
      '| compatibility failure',
      'Failure - Main Every leg is green',
    ]),
    comments: ['correctness', 'security', 'compatibility'],
  },
  mended('matrix.yml', 'pull_request', ['| correctness success', 'Success - Main Every leg is green']),
  mended('forks.yml', 'pull_request', ['::set-output:: run-conclusion=success'], ['Main Nobody looked']),
  {
    ...mended('forks.yml', 'pull_request', ['::set-output:: run-conclusion=skipped', 'Main Nobody looked']),
    title: 'a fork without secrets',
    secrets: false,
    lacks: [HAS_PASSED],
  },
  { ...failing('merge-queue.yml', 'merge_group', 1, [RED, HAS_FAILED]), comments: ['❌ Failure'] },
  mended('merge-queue.yml', 'merge_group', [HAS_PASSED]),
  {
    ...failing('trusted-judge.yml', 'pull_request', 1, [RED, HAS_FAILED, '| 2 tests fail.']),
    title: 'a change that relaxes its own policy',
    edits: EASED,
    comments: [
      'This pull request changes what judges it',
      '.github/verdict.schema.json',
      'not the changed version judged',
    ],
  },
  { ...mended('trusted-judge.yml', 'pull_request', [HAS_PASSED]), comments: ['✅ Success'] },
  {
    ...failing('after-ci.yml', 'workflow_run', 1, [RED, HAS_FAILED, '| review failure']),
    comments: ['❌ Failure'],
    statuses: ['head: Agent review pending', 'head: Agent review failure'],
  },
  {
    ...mended('after-ci.yml', 'workflow_run', [HAS_PASSED, '| review success']),
    comments: ['✅ Success'],
    statuses: ['head: Agent review pending', 'head: Agent review success'],
  },
  {
    ...failing('review-command.yml', 'issue_comment', 1, [RED, HAS_FAILED, '| review failure']),
    comments: ['❌ Failure'],
    statuses: ['head: Agent review pending', 'head: Agent review failure'],
  },
  {
    ...mended('review-command.yml', 'issue_comment', [HAS_PASSED, '| review success']),
    comments: ['✅ Success'],
    statuses: ['head: Agent review pending', 'head: Agent review success'],
  },
  // A replay gives the same payload for any repository and needs no key.
  ...[MENDED, FAILING].map((repository) => ({
    ...mended('replay.yml', 'pull_request', [
      HAS_PASSED,
      '::set-output:: run-model=replay of claude-sonnet-4-5',
      'Success - Main Read what the next job would read',
    ]),
    ...repository,
    secrets: false,
  })),
  ...MANY_LEGS,
];

function failing(
  workflow: string,
  event: Case['event'],
  exitCode: 0 | 1,
  holds: readonly string[],
  lacks: readonly string[] = [],
): Case {
  return { ...FAILING, workflow, event, secrets: true, exitCode, holds, lacks: [HAS_PASSED, ...lacks] };
}

function mended(
  workflow: string,
  event: Case['event'],
  holds: readonly string[],
  lacks: readonly string[] = [],
): Case {
  return {
    ...MENDED,
    workflow,
    event,
    secrets: true,
    exitCode: 0,
    holds: [GREEN, ...holds],
    lacks: [HAS_FAILED, ...lacks],
  };
}

function tally(pass: number, fail: number, abstain: number): string {
  return `::set-output:: run-tally=${JSON.stringify({ pass, fail, abstain, expected: 3 })}`;
}
