import { describe, expect, it } from 'vitest';
import { checkIn, findingsOf, repository } from './workflow-world.ts';

const JUDGE = `
      - id: review
        uses: org/structured-agent@v1
        with: { prompt: Judge., model: claude-sonnet-4-5, api-key: "\${{ secrets.KEY }}" }
`;
const REUSABLE = `on:
  workflow_call:
    outputs:
      passed: { value: "\${{ jobs.judge.outputs.passed }}" }
      ok: { value: "\${{ jobs.judge.outputs.passed }}" }
      skip: { value: "\${{ jobs.judge.outputs.skip }}" }
permissions: { contents: read, pull-requests: read }
jobs:
  judge:
    runs-on: ubuntu-latest
    outputs:
      passed: \${{ steps.review.outputs.passed }}
      skip: \${{ steps.other.outputs.skip }}
    steps:
      - id: other
        run: echo skip=no >>"$GITHUB_OUTPUT"${JUDGE}`;
const caller = (condition: string, uses = './.github/workflows/judge.yml', more = '') => `on: push
permissions: { contents: read }
jobs:
  r:
    uses: ${uses}${more}
  deploy:
    needs: r
    if: ${condition}
    runs-on: ubuntu-latest
    steps:
      - run: ./deploy.sh
`;
const found = (condition: string, ...rest: readonly string[]) =>
  findingsOf(caller(condition, ...rest), { '.github/workflows/judge.yml': REUSABLE });

describe('a caller of a reusable workflow that uses the action', () => {
  it.each<[string, readonly string[]]>([
    ["needs.r.outputs.passed == 'true'", []],
    ["needs.r.outputs.ok == 'true'", []],
    ["needs.r.outputs.passed != 'false'", ['error fails-open at needs.r.outputs.passed']],
    ["needs.r.outputs.ok != 'false'", ['error fails-open at needs.r.outputs.ok']],
    ["!cancelled() && needs.r.outputs.passed != 'false'", ['error fails-open at needs.r.outputs.passed']],
    ["needs.r.outputs.skip != 'true'", []],
    ["needs.r.outputs.pased == 'true'", ['error unknown-output at needs.r.outputs.pased']],
    ['always()', ['warning runs-regardless at if:']],
  ])('the condition %s has the findings %j', async (condition, expected) => {
    expect(await found(condition)).toEqual(expected);
  });

  it('reports a matrix of calls, which keeps the output of one leg only', async () => {
    const matrix = '\n    strategy: { matrix: { a: [1, 2] } }';
    expect(await found("needs.r.outputs.passed == 'true'", './.github/workflows/judge.yml', matrix)).toEqual([
      'error output-of-matrix at needs.r.outputs.passed',
    ]);
  });

  it('finds the action behind two levels of called workflows', async () => {
    const between = `on:
  workflow_call:
    outputs:
      fine: { value: "\${{ jobs.inner.outputs.ok }}" }
jobs:
  inner:
    uses: ./.github/workflows/judge.yml
`;
    const files = { '.github/workflows/judge.yml': REUSABLE, '.github/workflows/between.yml': between };
    const text = caller("needs.r.outputs.fine != 'false'", './.github/workflows/between.yml');
    expect(await findingsOf(text, files)).toEqual(['error fails-open at needs.r.outputs.fine']);
  });

  it('stops at a workflow that calls itself', async () => {
    const uses = './.github/workflows/review.yml';
    expect(await findingsOf(caller("needs.r.outputs.passed != 'false'", uses))).toEqual([
      'error no-step at on:',
    ]);
  });

  it('ignores outputs of called workflows that do not use the action', async () => {
    const files = {
      '.github/workflows/judge.yml': REUSABLE.replace('org/structured-agent@v1', 'org/other@v1'),
    };
    const text = caller("needs.r.outputs.passed != 'false'");
    expect(await findingsOf(text, files)).toEqual(['error no-step at on:']);
    const folder = repository({ ...files, '.github/workflows/caller.yml': text });
    expect((await checkIn(folder)).err).toContain('No workflow in .github/workflows uses the action');
  });
});

describe('a caller of a workflow of another repository', () => {
  const remote = (condition: string) => found(condition, 'org/judges/.github/workflows/judge.yml@v1');

  it.each<[string, readonly string[]]>([
    ["needs.r.outputs.passed != 'false'", ['warning unknown-workflow at needs.r.outputs.passed']],
    ["needs.r.outputs.run-gate != 'not_met'", ['warning unknown-workflow at needs.r.outputs.run-gate']],
    ["needs.r.outputs.passed == 'true'", []],
    ["needs.r.outputs.skip != 'true'", []],
  ])('the condition %s has the findings %j', async (condition, expected) => {
    expect((await remote(condition)).filter((each) => !each.includes('no-step'))).toEqual(expected);
  });

  it('explains that workflows of other repositories are not read', async () => {
    const text = caller("needs.r.outputs.passed != 'false'", 'org/judges/.github/workflows/judge.yml@v1');
    const { out } = await checkIn(repository({ 'w.yml': text }), 'w.yml');
    expect(out).toContain(
      'Whether org/judges/.github/workflows/judge.yml@v1 takes it from the action is not known here: workflows of other repositories are not read.',
    );
  });
});

describe('a composite action', () => {
  const composite = (inputs: string, outputs = 'steps.review.outputs.passed', after = '') => `name: judge
inputs: { model: { required: true } }
outputs:
  passed: { value: "\${{ ${outputs} }}" }
runs:
  using: composite
  steps:
    - id: review
      uses: org/structured-agent@v1
      with:
        prompt: Judge.
        model: \${{ inputs.model }}
${inputs.replace(/^/gmu, '        ')}
${after}`;
  const name = '.github/actions/judge/action.yml';
  const check = async (text: string) => {
    const { out } = await checkIn(repository({ [name]: text }), name, '--output-format', 'json');
    const report: { findings: { severity: string; rule: string; line: number }[] } = JSON.parse(out);
    return report.findings.map(({ severity, rule, line }) => `${severity} ${rule} in line ${line}`);
  };

  it.each<[string, readonly string[]]>([
    ['max-turns: ${{ inputs.turns }}', []],
    ['max-turns: many', ['error input-max-turns in line 13']],
    ['promt: x', ['error unknown-input in line 13']],
    ['schema: ./in-the-checkout-of-the-caller.json', []],
    ['gate: pased', ['error gate-root in line 13']],
  ])('the input %s has the findings %j', async (inputs, expected) => {
    expect(await check(composite(inputs))).toEqual(expected);
  });

  it('checks its outputs and conditions', async () => {
    expect(await check(composite('gate: passed', 'steps.review.outputs.pased'))).toEqual([
      'error unknown-output in line 4',
    ]);
    const after = `    - if: steps.review.outputs.passed != 'false'
      shell: bash
      run: ./deploy.sh
`;
    expect(await check(composite('gate: passed', undefined, after))).toEqual(['error fails-open in line 14']);
  });

  it('is found in .github/actions', async () => {
    const { code, out } = await checkIn(repository({ [name]: composite('promt: x') }));
    expect([code, out]).toEqual([
      52,
      expect.stringContaining(`${name}:13:9: error: There is no input "promt".`),
    ]);
  });
});
