import { describe, expect, it } from 'vitest';
import { foundIn, type Parts, workflowOf } from './world.ts';

const FILES = {
  'task.md': 'Judge.',
  'empty.md': ' ',
  'judge/s.json': '{"type": "object", "properties": {"safe": {"type": "boolean"}}, "required": ["safe"]}',
  'judge/passed.json': '{"properties": {"passed": {"type": "boolean"}}, "required": ["passed"]}',
  'judge/optional.json': '{"properties": {"passed": {"type": "boolean"}}}',
  'judge/g.json': '{"properties": {"safe": {"const": true}}}',
  'own/action.yml': 'name: structured-agent\n',
};
const OWN = 'schema: ./judge/s.json';
const next = (condition: string) =>
  `deploy:\n  needs: judge\n  if: ${condition}\n  runs-on: ubuntu-latest\n  steps: [{ run: ./deploy }]`;
const TARGET = { inputs: 'prompt-file: task.md', on: 'pull_request_target' };
const HEAD = '- uses: actions/checkout@v7\n  with: { ref: "${{ github.event.pull_request.head.sha }}" }';

const OUTPUTS = 'steps.review.outputs';
const SCRIPT = `- uses: actions/github-script@v8\n  with:\n    script: f(\${{ ${OUTPUTS}.summary }})`;
const MATRIX = 'strategy: { matrix: { a: [1, 2] } }\n';
const IS_OK = `outputs: { isOk: "\${{ ${OUTPUTS}.passed }}" }`;
const ASKS = next("needs.judge.outputs.isOk == 'true'");
const FORGIVEN = 'continue-on-error: true';
const isRed = (property: string) => `- if: steps.review.${property} != 'success'\n  run: exit 1`;

const [PASSED, ENDED] = [`${OUTPUTS}.passed`, `${OUTPUTS}.run-conclusion`];
const when = (condition: string): Parts => ({ after: `- if: ${condition}\n  run: ./deploy` });
const count = `always() && ${OUTPUTS}.failure_count`;
const tests = 'schema: test-report';
const notFalse = `- if: ${PASSED} != 'false'`;

const ALWAYS = 'needs: judge\n  if: always()';
/** A workflow with a job that merges the verdict of its leg. */
const merge = (job: string, inputs = 'verdicts: v, expect: a', step = '') => ({
  inputs: 'leg: a',
  jobs: `merge:\n  runs-on: x\n  ${job}\n  steps:\n  - uses: $/own/merge\n    ${step}\n    with: { ${inputs} }`,
});

/** For each rule, workflows that break it and workflows that nearly do. */
const RULES: Readonly<Record<string, readonly (readonly [Parts, string])[]>> = {
  'an input is what a run takes': [
    [{ inputs: 'max-turns: ${{ inputs.turns }}\nPROMPT-file: ${{ x }}\nprompt: ${{ y }}' }, ''],
    [{ inputs: 'max-turns: many\nsandbox: maybe' }, 'error input at max-turns\nerror input at sandbox'],
    [{ inputs: 'tools: [shell]' }, 'error input at tools'],
    [{ inputs: 'model: my-model' }, 'error input at with'],
    [{ inputs: 'model: my-model\nbase-url: ${{ vars.URL }}' }, ''],
    [{ inputs: '# no api-key' }, 'error input at with'],
    [{ inputs: '# no api-key', job: 'env: { ANTHROPIC_API_KEY: "${{ secrets.KEY }}" }' }, ''],
    [{ inputs: '# no api-key', before: '- run: ./login >>"$GITHUB_ENV"' }, ''],
    [{ inputs: '# no api-key\nheaders: "Authorization: Bearer ${{ secrets.KEY }}"' }, ''],
    [{ inputs: 'max-cost-usd: 1' }, ''],
    [{ inputs: 'max-cost-usd: 1\nmodel: claude-sonnet-9-9' }, 'error input at max-cost-usd'],
    [{ inputs: 'max-cost-usd: 1\nmodel: ${{ vars.MODEL }}' }, ''],
  ],
  'an input exists': [
    [{ inputs: 'promt: &a x\nmax-turns: *a' }, 'error unknown-input at promt\nerror input at max-turns'],
  ],
  'schema and gate are what a run takes': [
    [{ inputs: 'schema: verdit' }, 'error schema at schema'],
    [{ inputs: 'gate: pased' }, 'error gate at gate'],
    [{ inputs: `${OWN}\ngate: "@judge/g.json"` }, ''],
    [{ inputs: 'schema: "@org/judges/s.json@v1"\ngate: anything' }, ''],
    [{ inputs: 'schema: ${{ inputs.schema }}' }, ''],
  ],
  'a schema of one’s own has a gate': [
    [{ inputs: OWN }, 'warning no-gate at schema'],
    [{ inputs: `${OWN}\ngate: auto` }, 'warning no-gate at schema'],
    [{ inputs: `${OWN}\ngate: \${{ vars.GATE }}` }, ''],
    [{ inputs: 'schema: ./judge/passed.json' }, ''],
    [{ inputs: 'schema: ./judge/optional.json' }, 'warning no-gate at schema'],
  ],
  'a file is in the repository, and checked out': [
    [{ inputs: 'prompt-file: empty.md' }, 'error missing-file at prompt-file'],
    [{ inputs: 'prompt-file: no.md' }, 'error missing-file at prompt-file'],
    [{ inputs: 'schema: ./no.json' }, 'error missing-file at schema'],
    [{ inputs: 'gate: "@no.json"' }, 'error missing-file at gate'],
    [{ inputs: 'working-directory: judge' }, ''],
    [{ inputs: 'working-directory: ../up' }, 'error missing-file at working-directory'],
    [{ inputs: 'schema: ./no.json', before: '- run: make no.json' }, 'warning missing-file at schema'],
    [{ inputs: 'schema: ./no.json', before: '- uses: my/fetch@v1' }, 'warning missing-file at schema'],
    [{ inputs: 'prompt-file: no.md\ntrusted-files: base' }, 'warning missing-file at prompt-file'],
    [{ inputs: 'prompt-file: task.md', before: '' }, 'error missing-file at prompt-file'],
    [{ inputs: 'gate: "@g.json"', before: '- uses: actions/setup-node@v5' }, 'error missing-file at gate'],
    [{ inputs: 'prompt-file: task.md', before: '- run: git clone https://x.test/y .' }, ''],
    [{ inputs: 'prompt-file: task.md', before: '', runsOn: 'self-hosted' }, ''],
    [{ inputs: 'prompt-file: task.md', before: '', job: 'container: node' }, ''],
    [{ inputs: 'prompt-file: task.md\ntrusted-files: base', before: '' }, ''],
  ],
  'a secret is not written out': [
    [{ inputs: 'api-key: sk-very-secret' }, 'error secret-in-file at api-key'],
    [{ inputs: 'api-key: ""', job: 'env: { ANTHROPIC_API_KEY: x }' }, ''],
    [{ inputs: 'github-token: ghp_1' }, 'error secret-in-file at github-token'],
  ],
  'an output exists': [
    [{ after: `- if: ${OUTPUTS}.pased == 'true'` }, `error unknown-output at ${OUTPUTS}.pased`],
    [{ after: `- if: ${OUTPUTS}.run-coclusion` }, `error unknown-output at ${OUTPUTS}.run-coclusion`],
    [{ after: "- if: STEPS.Review.outputs['Passed'] == 'true'" }, ''],
    [{ after: '- env: { A: "${{ steps.review.outputs.x }}" }', inputs: 'schema: ${{ vars.S }}' }, ''],
    [{ after: '- env: { A: "${{ steps.other.outputs.x }}" }' }, ''],
  ],
  'text of the model is not a part of a script': [
    [
      { after: `- run: |\n    echo\n    echo "\${{ ${OUTPUTS}.summary }}"` },
      `error text-in-script at ${OUTPUTS}.summary`,
    ],
    [{ after: `- run: f(\${{ toJSON(${OUTPUTS}) }})` }, `error text-in-script at toJSON(${OUTPUTS})`],
    [{ after: SCRIPT }, `error text-in-script at ${OUTPUTS}.summary`],
    [{ after: '- run: echo ${{ steps.review.outputs.passed }} ${{ steps.review.outputs.run-turns }}' }, ''],
    [{ after: '- run: echo "$TEXT"\n  env: { TEXT: "${{ steps.review.outputs.summary }}" }' }, ''],
  ],
  'an output of a matrix is not read': [
    [{ job: `${MATRIX}${IS_OK}`, jobs: ASKS }, 'error output-of-matrix at needs.judge.outputs.isOk'],
    [{ job: IS_OK, jobs: ASKS }, ''],
  ],
  'a red step is not forgiven': [
    [{ step: 'continue-on-error: true' }, 'error continue-on-error at continue-on-error'],
    [{ job: 'continue-on-error: true' }, 'error continue-on-error at continue-on-error'],
    [{ step: FORGIVEN, after: isRed('conclusion') }, 'error continue-on-error at continue-on-error'],
    [{ step: FORGIVEN, after: isRed('outcome') }, 'warning continue-on-error at continue-on-error'],
    [{ step: 'continue-on-error: ${{ matrix.experimental }}' }, ''],
  ],
  'a later job asks for the verdict': [
    [{ jobs: next('always()') }, 'warning runs-regardless at if'],
    [{ jobs: next("${{ !cancelled() && needs.judge.result == 'success' }}") }, ''],
    [{ jobs: next("github.ref == 'refs/heads/main'") }, ''],
  ],
  'a comment and a status have their permission': [
    [{ inputs: 'comment: always', permissions: '{ a: read }' }, 'error missing-permission at permissions'],
    [{ inputs: 'commit-status: A', permissions: 'read-all' }, 'error missing-permission at permissions'],
    [{ inputs: 'comment: always', permissions: '{ pull-requests: write }' }, ''],
    [{ inputs: 'comment: always', permissions: '{}', job: 'permissions: write-all' }, ''],
    [{ inputs: 'comment: always' }, ''],
    [{ inputs: 'commit-status: A\ngithub-token: ${{ secrets.BOT }}', permissions: '{}' }, ''],
  ],
  'a trigger with the rights of the repository does not trust the change': [
    [{ inputs: 'sandbox: off', on: 'issue_comment' }, 'error privileged-trigger at sandbox'],
    [{ inputs: 'replay: task.md', on: '[pull_request_target]' }, 'error privileged-trigger at replay'],
    [{ inputs: 'sandbox: off', on: '{ schedule: [] }' }, ''],
    [{ ...TARGET, before: HEAD }, 'warning privileged-trigger at prompt-file'],
    [TARGET, ''],
    [{ ...TARGET, inputs: `${TARGET.inputs}\ntrusted-files: base`, before: HEAD }, ''],
  ],
  'a step can be green': [
    [{ runsOn: 'macos-latest' }, 'error never-green at runs-on'],
    [{ runsOn: '[windows-2025]', inputs: 'sandbox: required' }, 'error never-green at runs-on'],
    [{ runsOn: 'macos-latest', inputs: 'sandbox: auto' }, ''],
    [{ runsOn: '${{ matrix.os }}' }, ''],
    [{ inputs: 'max-turns: 0' }, 'error never-green at max-turns'],
    [{ inputs: 'max-turns: -1' }, ''],
  ],
  'a condition compares an output with == and a value': [
    [when(`${PASSED} == 'true'`), ''],
    [when(`(${PASSED} == 'TRUE') && github.ref == 'x'`), ''],
    [when(`\${{ 'true' == ${PASSED} }}`), ''],
    [when(`${PASSED} != 'true'`), ''],
    [when(`${PASSED} != ''`), ''],
    [when(`always() && ${PASSED} == ''`), ''],
    [when(`${PASSED} != 'false'`), 'warning fails-open'],
    [when(`failure() && ${PASSED} != 'false'`), 'warning fails-open'],
    [when(`always() && ${PASSED} != 'false'`), 'error fails-open'],
    [when(`\${{ !cancelled() && !(${PASSED} == 'false') }}`), 'error fails-open'],
    [when(`always() && (github.ref == 'x' || ${PASSED} != 'false')`), 'error fails-open'],
    [when(`always() && steps.review.outcome == 'success' && ${PASSED} != 'false'`), 'warning fails-open'],
    [when(`always() && ${ENDED} == 'success' && ${PASSED} != 'false'`), ''],
    [when(`always() && (${ENDED} == 'success' || ${PASSED} != 'false')`), 'error fails-open'],
    [when("steps.review.outputs.run-conclusion != 'failure'"), 'warning fails-open'],
    [when("steps.review.outputs.summary != 'x'"), 'warning fails-open'],
    [when('steps.review.outputs.findings'), ''],
    [when(`${PASSED} == true`), 'error fails-open'],
    [when(`${PASSED} == 'yes'`), 'error fails-open'],
    [when(`${PASSED} == needs.x.outputs.y`), ''],
    [when(PASSED), 'error text-as-condition'],
    [when(`\${{ !${PASSED} }}`), 'error text-as-condition'],
    [when(`fromJSON(${PASSED})`), ''],
    [when(`${PASSED} == 'true`), ''],
    [{ inputs: tests, after: `- if: ${count} == 0` }, 'error fails-open'],
    [{ inputs: tests, after: `- if: ${count} > 0` }, ''],
    [{ inputs: tests, after: '- if: always() && 0 < steps.review.outputs.failure_count' }, ''],
    [{ inputs: tests, after: `- if: ${count} == '0'` }, ''],
    [{ job: `outputs: { ok: "\${{ ${PASSED} || 'true' }}" }` }, 'warning fails-open'],
    [{ job: `outputs: { ok: "\${{ ${PASSED} || 'false' }}" }` }, ''],
    [{ inputs: 'on-missing-key: skip', after: notFalse }, 'error fails-open'],
    [{ step: 'continue-on-error: true', after: notFalse }, 'warning continue-on-error\nerror fails-open'],
    [{ job: IS_OK, jobs: next("needs.judge.outputs.isOk != 'false'") }, 'warning fails-open'],
    [{ job: IS_OK, jobs: next("always() && needs.judge.outputs.isOk != 'false'") }, 'error fails-open'],
  ],
  'a merge always runs': [
    [merge('needs: judge\n  if: ${{ always() }}'), ''],
    [merge(ALWAYS, 'verdicts: v, expect: "${{ vars.LEGS }}"'), ''],
    [merge('needs: judge'), 'error merge-skipped'],
    [merge(`${ALWAYS} && needs.judge.result == 'success'`), 'warning merge-skipped'],
    [merge('if: always()'), 'warning merge-skipped'],
    [merge(ALWAYS, undefined, "if: github.ref == 'x'"), 'warning merge-skipped'],
    [merge(ALWAYS, 'verdict: v, expect: a'), 'error input\nerror unknown-input'],
    [merge(ALWAYS, 'verdicts: v, expect: a, signing-key: x'), 'error secret-in-file\nerror input'],
  ],
};

describe.each(Object.entries(RULES))('%s', (_rule, cases) => {
  it.each(cases)('%#: %j', async (parts, expected) => {
    const found = await foundIn(workflowOf(parts), FILES);
    // Some tables leave out where a finding is.
    expect(expected.includes(' at ') ? found : found.replaceAll(/ at .*/gu, '')).toBe(expected);
  });
});
