/** Transcripts to look at as pages: a review with a rejected verdict, one cut off, a very long one. */

/** One transcript and, where the run came to an end, its envelope. */
export interface ReportSample {
  readonly lines: readonly string[];
  readonly envelope: object | null;
}

const OUTPUT = `> cart@1.0.0 test
> node --test

✔ adds one line (1.2ms)
✔ sums quantities (0.3ms)
✖ discount of 100 % is free (0.9ms)
  AssertionError: Expected values to be strictly equal:
  0.01 !== 0
      at discount.test.js:14:10

ℹ tests 12
ℹ pass 11
ℹ fail 1
[exit code 1]`;

/** What a call is about, what it was told, and what it gave. */
interface Step {
  readonly name: string;
  readonly target: string;
  readonly raw: object;
  readonly decision: string;
  readonly ms: number;
  readonly content: string;
}

const step = (
  name: string,
  target: string,
  raw: object,
  content: string,
  decision = 'ok',
  ms = 12,
): Step => ({
  name,
  target,
  raw,
  decision,
  ms,
  content,
});

const output = (decision: string, content: string) =>
  step('structured_output', '', { redacted: 'these arguments are not recorded' }, content, decision, 1);

const REVIEW: readonly { readonly says: string; readonly steps: readonly Step[] }[] = [
  {
    says: 'I will look at the change and run the test suite first.',
    steps: [
      step(
        'shell',
        'git diff --stat HEAD~1',
        { command: 'git diff --stat HEAD~1' },
        ' src/discount.js | 4 ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)\n[exit code 0]',
        'ok',
        41,
      ),
      step(
        'read_file',
        'src/discounts.js',
        { path: 'src/discounts.js' },
        'There is no file src/discounts.js. Did you mean src/discount.js?',
        'error',
        2,
      ),
    ],
  },
  {
    says: '',
    steps: [
      step(
        'read_file',
        'src/discount.js',
        { path: 'src/discount.js' },
        '1  // Discounts in percent.\n2  export function discount(price, percent) {\n3    return Math.max(0.01, price * (1 - percent / 100));\n4  }',
      ),
      step(
        'shell',
        'npm test',
        { command: 'npm test 2>&1 |\n  tail -40', timeout_seconds: 300 },
        OUTPUT,
        'ok',
        2_140,
      ),
    ],
  },
  {
    says: 'One test fails: a discount of 100 % leaves one cent. The change introduced the lower bound of 0.01.',
    steps: [output('rejected', 'Rejected: /findings/0/severity (enum), /summary (minLength)')],
  },
  { says: '', steps: [output('accepted', 'Accepted.')] },
];

const GATE = {
  gate: {
    status: 'not_met',
    issues: [{ path: '/passed', keyword: 'const', message: 'must be true' }],
    words: ['wants `passed` to be true; the payload says false'],
  },
};

const PAYLOAD = {
  passed: false,
  summary:
    'One of 12 tests fails: a discount of 100 % leaves one cent, because the change sets a lower bound.',
  findings: [
    { severity: 'note', path: 'src/cart.js', line: 40, message: 'The comment names the old function.' },
    {
      severity: 'error',
      path: 'src/discount.js',
      line: 3,
      message: 'Math.max(0.01, …) makes a price of nothing impossible: a discount of 100 % costs one cent.',
      suggestion: 'Math.max(0, price * (1 - percent / 100))',
    },
    { severity: 'warning', path: 'test/discount.test.js', message: 'No test has a discount above 100 %.' },
  ],
  risk: 'medium',
};

/** Every sample by its name. */
export function reportSamples(): Readonly<Record<string, ReportSample>> {
  const long = Array.from({ length: 2_500 }, (_, at) => ({
    says: at % 7 === 0 ? `Now file ${at}.` : '',
    steps: [0, 1].map((n) =>
      step(
        'read_file',
        `src/module-${at}-${n}.ts`,
        { path: `src/module-${at}-${n}.ts` },
        `1  export const x${at} = ${n};\n`.repeat(12),
        at % 50 === 9 ? 'error' : 'ok',
      ),
    ),
  }));
  const review = told(REVIEW, 'Run the test suite and review this pull request. Is it safe to merge?');
  const red = { conclusion: 'failure', reason: 'gate_not_met', exit_code: 1 };
  const lost = { conclusion: 'inconclusive', reason: 'max_turns', exit_code: 53 };
  return {
    review: { lines: [...review.lines, finished(red, review.end)], envelope: envelope(red, review.end) },
    cut: { lines: review.lines.slice(0, 9), envelope: null },
    long: sampleOf(told(long, 'Read every file.'), lost),
  };
}

interface Verdict {
  readonly conclusion: string;
  readonly reason: string;
  readonly exit_code: number;
}

interface End {
  readonly turns: number;
  readonly rejections: number;
  readonly usage: object;
  readonly costUsd: number;
}

function sampleOf({ lines, end }: ReturnType<typeof told>, verdict: Verdict): ReportSample {
  return { lines: [...lines, finished(verdict, end)], envelope: null };
}

function told(turns: typeof REVIEW, prompt: string) {
  const entries: object[] = [
    { type: 'run_started', model: 'claude-sonnet-4-5', provider: 'anthropic', prompt },
    { type: 'notice', level: 'warning', text: 'The network is on inside the shell (shell-network: on).' },
  ];
  let costUsd = 0;
  const sums = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0 };
  for (const [at, { says, steps }] of turns.entries()) {
    const turn = at + 1;
    const usage = {
      input_tokens: 2_400 + (at % 40) * 900,
      output_tokens: 120 + ((at * 71) % 300),
      cached_input_tokens: at === 0 ? 0 : 2_000 + (at % 40) * 800,
      cache_write_tokens: 900,
    };
    costUsd += (usage.input_tokens - usage.cached_input_tokens) * 3e-6 + usage.output_tokens * 15e-6;
    sums.input_tokens += usage.input_tokens;
    sums.output_tokens += usage.output_tokens;
    sums.cached_input_tokens += usage.cached_input_tokens;
    sums.cache_write_tokens += usage.cache_write_tokens;
    const totals = { turns: turn, usage: { ...sums }, cost_usd: costUsd };
    const calls = steps.map(({ name, raw }, n) => ({
      id: `c${n}`,
      name,
      raw_arguments: JSON.stringify(raw),
      status: 'complete',
    }));
    const message = { role: 'assistant', text: says, tool_calls: calls };
    entries.push({ type: 'turn_started', turn, forced: false });
    entries.push({
      type: 'turn_completed',
      turn,
      duration_ms: 1_800 + (at % 9) * 130,
      usage,
      totals,
      stop_reason: 'tool_calls',
      message,
    });
    for (const [n, { name, target, decision, ms, content }] of steps.entries()) {
      const call = { id: `c${n}`, name, target };
      entries.push({ type: 'tool_started', turn, call });
      entries.push({
        type: 'tool_finished',
        turn,
        call,
        decision,
        duration_ms: ms,
        result: { call_id: `c${n}`, content, is_error: decision !== 'ok' },
        totals,
      });
    }
  }
  const rejections = turns
    .flatMap((turn) => turn.steps)
    .filter((each) => each.decision === 'rejected').length;
  return {
    lines: entries.map((entry) => JSON.stringify(entry)),
    end: { turns: turns.length, rejections, usage: sums, costUsd },
  };
}

function finished(verdict: Verdict, { turns, rejections, usage, costUsd }: End): string {
  const spent = { usage, cost_usd: costUsd, duration_ms: turns * 2_950 };
  return JSON.stringify({ type: 'run_finished', ...verdict, turn_count: turns, rejections, ...spent });
}

function envelope(verdict: Verdict, { turns, rejections, usage, costUsd }: End) {
  return {
    type: 'result',
    ...verdict,
    ...(verdict.reason === 'gate_not_met' ? { structured_output: PAYLOAD, ...GATE } : { gate: null }),
    num_turns: turns,
    rejections,
    usage,
    total_cost_usd: costUsd,
    duration_ms: turns * 2_950,
    model: 'claude-sonnet-4-5',
    provider: 'anthropic',
    sandbox: 'bwrap',
    subject: {
      repository: 'octo/cart',
      sha: '6f0c8e2b51a94d3d8a7b0f4c2e9d1a3b5c7e9f01',
      ref: 'refs/pull/17/merge',
      event: 'pull_request',
      pull_request: 17,
      run_id: '4211',
      run_attempt: 1,
    },
    judge: { schema_sha256: 'b3a1c0de', gate_sha256: null, prompt_sha256: '77aa01fe', version: '0.1.0' },
  };
}
