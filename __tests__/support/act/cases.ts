/** How the example workflows end on act, with a failing and a fixed repository where both matter. */
import { BREAK, type Edit, MEND } from '../../../examples/demo/demo.ts';

/** The action reference in the examples. */
export const ACTION = 'org/structured-agent@v1';

/** One run of one example, with the texts that the log of act and GitHub must or must not contain after it. */
export interface Case {
  readonly workflow: string;
  readonly title: string;
  readonly event: 'push' | 'pull_request' | 'merge_group' | 'workflow_run';
  readonly edits: readonly Edit[];
  readonly exitCode: 0 | 1;
  readonly has: readonly string[];
  readonly lacks: readonly string[];
  /** A text that a comment contains; null if there is no comment. */
  readonly comment: string | null;
  /** The states of `Agent review` on the judged commit, in the order they were set; none by default. */
  readonly states?: readonly string[];
  /** What the votes of each leg say, by leg; by default the tests of the repository decide. */
  readonly votes?: Readonly<Record<string, readonly boolean[]>>;
}

const GREEN = `Success - Main ${ACTION}`;
const RED = `Failure - Main ${ACTION}`;
const MERGE = 'Main org/structured-agent/merge@v1';
const NINE = 'Total of 9 artifact(s) downloaded';
const HAS_PASSED = '::set-output:: passed=true';
const HAS_FAILED = '::set-output:: passed=false';

/** The repository as it is committed: one of nine tests fails. */
const FAILING = { title: 'a failing test', edits: [], exitCode: 1, lacks: [HAS_PASSED] } as const;
const MENDED = { title: 'all tests pass', edits: [MEND], exitCode: 0, lacks: [HAS_FAILED] } as const;
const ONE_FAILS = '1 of 9 tests fails';
const ALL_PASS = 'All 9 tests pass.';

/** A pull request that breaks the code and relaxes its own policy. */
const RELAXED: readonly Edit[] = [
  BREAK,
  { file: '.github/verdict.schema.json', from: 'True only when every test passed.', to: 'Always true.' },
];

const gate = { workflow: 'gate.yml', event: 'push', comment: null } as const;
const verdict = { workflow: 'verdict.yml', event: 'pull_request', comment: null } as const;
const review = { workflow: 'pull-request-review.yml', event: 'pull_request' } as const;
const local = { workflow: 'local-model.yml', event: 'push', comment: null } as const;
const queue = { workflow: 'merge-queue.yml', event: 'merge_group' } as const;
const judge = { workflow: 'trusted-judge.yml', event: 'pull_request' } as const;
const afterCi = { workflow: 'after-ci.yml', event: 'workflow_run' } as const;
const legs = { workflow: 'many-legs.yml', event: 'pull_request', edits: [MEND] } as const;

const YES = [true, true, true];
const IN_FAVOUR = { correctness: YES, security: YES, compatibility: YES };

export const CASES: readonly Case[] = [
  {
    ...{ ...gate, ...FAILING },
    exitCode: 0,
    has: [GREEN, HAS_FAILED, `| Not released, 1 failing. ${ONE_FAILS}`],
    lacks: [HAS_PASSED, 'Main Announce the release', 'Main Release'],
  },
  { ...{ ...gate, ...MENDED }, has: [GREEN, HAS_PASSED, '| Cleared for release.', '| Releasing.'] },
  { ...{ ...verdict, ...FAILING }, has: [RED, HAS_FAILED, '| error: test/'] },
  {
    ...{ ...review, ...FAILING },
    has: [RED, '| review failure (gate_not_met)', '| uploaded 1 results'],
    comment: ONE_FAILS,
  },
  {
    ...{ ...review, ...MENDED },
    has: [GREEN, '| review success (accepted)', '| uploaded 0 results'],
    comment: ALL_PASS,
  },
  { ...{ ...local, ...FAILING }, has: [RED, '::set-output:: failure_count=1'], lacks: ['Main Count'] },
  { ...{ ...local, ...MENDED }, has: [GREEN, '::set-output:: failure_count=0', '| No test fails.'] },
  { ...{ ...queue, ...FAILING }, has: [RED, HAS_FAILED], comment: ONE_FAILS },
  { ...{ ...queue, ...MENDED }, has: [GREEN, HAS_PASSED], comment: null },
  {
    ...{ ...judge, ...FAILING },
    title: 'a change that relaxes its own policy',
    edits: RELAXED,
    has: [RED, HAS_FAILED, '| 2 tests fail.'],
    comment: '.github/verdict.schema.json',
  },
  { ...{ ...judge, ...MENDED }, has: [GREEN, HAS_PASSED], comment: ALL_PASS },
  { ...{ ...afterCi, ...FAILING }, has: [RED], comment: ONE_FAILS, states: ['pending', 'failure'] },
  { ...{ ...afterCi, ...MENDED }, has: [GREEN], comment: ALL_PASS, states: ['pending', 'success'] },
  {
    ...legs,
    title: 'one leg fails',
    votes: { ...IN_FAVOUR, security: [false, true, false], compatibility: [true, true, false] },
    ...{ exitCode: 1, has: [NINE, `Failure - ${MERGE}`, 'run-reason=gate_not_met'] },
    ...{ lacks: [`Success - ${MERGE}`], comment: 'The security suffers here.' },
  },
  {
    ...legs,
    title: 'a leg passes by two of three votes',
    votes: { ...IN_FAVOUR, security: [true, false, true] },
    ...{ exitCode: 0, has: [NINE, `Success - ${MERGE}`] },
    ...{ lacks: [`Failure - ${MERGE}`], comment: 'security' },
  },
];
