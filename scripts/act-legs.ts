/** The example with many legs on act. The votes are scripted: what counts here is how they come together. */
import { ACTION, type Case } from './act-world.ts';

const MERGED = 'Main org/structured-agent/merge@v1';
const [PASS, FAIL, KILLED] = ['pass', 'fail', 'killed'] as const;

const BASE = {
  workflow: 'many-legs.yml',
  event: 'pull_request',
  edits: [],
  secrets: true,
  inTurn: true,
} as const;

/** A decisive failure, a vote that is cast again, none that differs, and none at all. */
export const MANY_LEGS: readonly Case[] = [
  {
    ...BASE,
    title: 'a leg that fails, and one whose votes differ and are one too few',
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
    ...BASE,
    title: 'the vote that was cut off is cast again, and decides',
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
    ...BASE,
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
    ...BASE,
    title: 'a fork, which gets no secrets',
    secrets: false,
    inTurn: false,
    votes: {},
    exitCode: 1,
    holds: ['::set-output:: run-exit-code=52', 'Total of 9 artifact(s) downloaded', `Failure - ${MERGED}`],
    lacks: ['::set-output:: passed=', `Success - ${MERGED}`],
    comments: ['⚠️'],
  },
];

function tally(pass: number, fail: number, abstain: number): string {
  return `::set-output:: run-tally=${JSON.stringify({ pass, fail, abstain, expected: 3 })}`;
}
