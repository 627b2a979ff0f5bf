import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIn, findingsOf, foundIn, repository, workflowOf } from './workflow-world.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const CHECKOUT = '- uses: actions/checkout@v5\n  with: { persist-credentials: false }';
const later = (condition: string, run = 'echo') => `- if: ${condition}\n  run: ${run}`;

describe('a check of a schema', () => {
  it('lists the outputs, and how each provider sees the schema', async () => {
    const { code, out } = await checkIn(ROOT, '--schema', 'verdict', '--gate', 'passed');
    expect(code).toBe(0);
    expect(out).toMatch(/passed +boolean +true or false, as text\n/u);
    expect(out).toMatch(/summary +string +text as it is\n/u);
    expect(out).toMatch(/findings +array +JSON; absent where the payload lacks it\n/u);
    expect(out).toMatch(/openai, azure-openai: \d+ bytes, about \d+ tokens; /u);
    for (const provider of ['anthropic', 'gemini', 'openai-compatible'])
      expect(out).toContain(`${provider}: `);
    expect(out).toMatch(/if: in words only, at the root/u);
    expect(out.endsWith('no errors, no warnings\n')).toBe(true);
  });

  it('lists a single provider when it is named', async () => {
    const { out } = await checkIn(ROOT, '--schema', 'verdict', '--provider', 'gemini');
    expect(out).toContain('gemini: ');
    expect(out).not.toContain('anthropic');
  });

  it.each([
    [['--schema', '{"type": "object", "requird": []}'], '--schema:1:1: error: '],
    [['--schema', 'verdit'], 'Did you mean "verdict"'],
    [['--schema', '@nowhere.json'], 'nowhere.json:1:1: error: schema: could not read '],
    [['--schema', './nowhere.json'], './nowhere.json:1:1: error: schema: could not read '],
    [['--schema', 'verdict', '--gate', './nowhere.json'], './nowhere.json:1:1: error: gate: could not read '],
    [['--schema', '@org/judges/x.json'], 'the @REF at its end is missing'],
    [
      ['--schema', '{"type":"object","properties":{"n":{"const":9007199254740993}}}'],
      '--schema:1:1: error: schema has a number at /properties/n/const that cannot be represented exactly',
    ],
    [
      ['--schema', 'verdict', '--gate', '{"minProperties":1e-400}'],
      '--gate:1:1: error: gate: A number cannot be represented exactly',
    ],
    [
      [
        '--schema',
        '{"type":"object","properties":{"passed":{"type":"boolean"},"n":{"maximum":9223372036854775807}}}',
        '--gate',
        'passed',
      ],
      'warning: The number at /properties/n/maximum in the schema cannot be represented exactly',
    ],
    [['--schema', 'verdict', '--gate', 'pased'], '--gate:1:1: error: The gate names "pased"'],
    [
      ['--schema', '{"type": "object", "properties": {"passed": {"type": "boolean"}}}'],
      'warning: No gate is set',
    ],
  ])('reports %j', async (argv, text) => {
    const { code, out } = await checkIn(ROOT, ...argv);
    expect(out).toContain(text);
    expect(code).toBe(text.includes('warning') ? 0 : 52);
  });

  it.each([
    [['--gate', 'passed'], '--schema'],
    [['--shema', 'x'], '--schema'],
    [['--schema'], '--schema VALUE'],
    [['--schema', 'a', '--schema', 'b'], 'twice'],
    [['--output-format', 'xml'], 'text or json'],
    [['--provider', 'acme'], 'openai'],
    [['--root', '/nowhere/at/all', 'examples/gate.yml'], '--root'],
  ])('refuses %j with a one-line message that gives the fix', async (argv, fix) => {
    const { code, out, err } = await checkIn(ROOT, ...argv);
    expect([code, out]).toEqual([52, '']);
    expect(err).toContain(fix);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('has a help text, and an error when there is nothing to check', async () => {
    expect((await checkIn(ROOT, '--help')).out).toContain('Usage: structured-agent check');
    const { code, err } = await checkIn(repository({}));
    expect([code, err]).toEqual([52, expect.stringContaining('Name a workflow file, or give --schema.')]);
  });

  it('removes terminal control characters from hostile names', async () => {
    const schema = JSON.stringify({
      type: 'object',
      properties: { 'a\u001b[2J\u202eb\r\n': { type: 'string' }, ok: { type: 'string' } },
    });
    for (const format of ['text', 'json']) {
      const { out } = await checkIn(ROOT, '--schema', schema, '--output-format', format);
      expect(out).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    }
    const { out } = await checkIn(ROOT, '--schema', schema, '--output-format', 'json');
    expect(JSON.parse(out).schemas[0].schema).toBe(schema);
  });

  it.each(['text', 'json'])('prints nothing that a runner takes for a command, as %s', async (format) => {
    const name = '::error::##[add-mask]true.yml';
    const folder = repository({
      [name]: workflowOf({ inputs: '"##[set-output name=passed]true": 1\n"::stop-commands::x": 1' }),
    });
    const { out } = await checkIn(folder, `./${name}`, '--output-format', format);
    const unnamed = await checkIn(folder, name, '--output-format', format);
    const refused = await checkIn(folder, '##[error]x', '::error::y', '--output-format', format);
    for (const text of [out, unnamed.out, refused.out, refused.err]) {
      expect(text).not.toMatch(/##\[|^\s*::/mu);
    }
    if (format === 'json') expect(JSON.parse(out).files).toEqual([`./${name}`]);
    else expect(out).toContain('## [set-output name=passed]true');
  });
});

describe('the examples', () => {
  it.each(readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.yml')))(
    '%s has no error',
    async (name) => {
      const { code, out } = await checkIn(ROOT, `examples/${name}`, '--root', 'examples/demo/repository');
      expect(out).not.toContain(': error: ');
      expect(code).toBe(0);
    },
  );
});

describe('the inputs of a step', () => {
  it.each<[string, string]>([
    ['prompt: Judge.', ''],
    ['promt: Judge.', 'error input-prompt at id:\nerror unknown-input at promt:'],
    [
      'prompt: Judge.\nprompt-file: a.md',
      'error input-prompt-file at prompt-file:\nerror input-prompt-file at prompt-file:',
    ],
    ['prompt: Judge.\nmax-turns: many', 'error input-max-turns at max-turns:'],
    [
      'prompt: Judge.\nmax-turns: many\nsandbox: maybe',
      'error input-max-turns at max-turns:\nerror input-sandbox at sandbox:',
    ],
    ['prompt: Judge.\nmax-turns: ${{ inputs.turns }}', ''],
    ['prompt: Judge.\ntools: [shell]', 'error input-tools at tools:'],
    ['prompt: " "', 'error input-prompt at prompt:'],
    ['prompt: Judge.\nmodel: my-model', 'error input-provider at id:'],
    ['prompt: Judge.\nmodel: my-model\nbase-url: ${{ vars.URL }}', ''],
    ['prompt: Judge.\nprovider: azure-openai\nmodel: m', 'error input-base-url at id:'],
    ['prompt: Judge.\nprovider: ${{ vars.P }}\nmodel: m\nbase-url: https://x.test/?api-version=1', ''],
    ['prompt: Judge.\nschema: verdit', 'error schema-source at schema:'],
    ['prompt: Judge.\nschema: "@missing.json"', 'error schema-source at schema:'],
    ['prompt: Judge.\nschema: "@org/judges/a.json@v1"', ''],
    ['prompt: Judge.\nschema: ./missing.json', 'error schema-source at schema:'],
    ['prompt: Judge.\ngate: missing.json', 'error gate-source at gate:'],
    ['prompt: Judge.\ngate: pased', 'error gate-root at gate:'],
    ['prompt: Judge.\ngate: true', 'error gate-shape at gate:'],
    ['prompt: Judge.\nworking-directory: ../up', 'error input-working-directory at working-directory:'],
    ['prompt-file: ${{ inputs.file }}', ''],
    ['PROMPT: Judge.\nMax-Turns: 3', ''],
  ])('the inputs %j have the expected findings', async (inputs, expected) => {
    expect(await foundIn(workflowOf({ inputs }))).toBe(expected);
  });

  it.each(['./', '', '@', '@./'])('schema and gate are file paths with the prefix %j', async (before) => {
    const files = {
      'judge/s.json': '{"type": "object", "properties": {"safe": {"type": "boolean"}}, "required": ["safe"]}',
      'judge/g.json': '{"properties": {"safe": {"const": true}}}',
    };
    const inputs = `prompt: Judge.\nschema: "${before}judge/s.json"\ngate: "${before}judge/g.json"`;
    expect(await findingsOf(workflowOf({ inputs, before: CHECKOUT }), files)).toEqual([]);
    const after = later("steps.review.outputs.safe != 'false'");
    expect(await findingsOf(workflowOf({ inputs, before: CHECKOUT, after }), files)).toEqual([
      'error fails-open at steps.review.outputs.safe',
    ]);
    const folder = repository(files);
    for (const prefix of [before, `${before}${before === '' ? './' : ''}`]) {
      const flags = ['--schema', `${prefix}judge/s.json`, '--gate', `${prefix}judge/g.json`];
      expect((await checkIn(folder, ...flags)).code).toBe(0);
    }
  });

  const files = {
    'judge.json': '{"type": "object"}',
    'task.md': 'Judge.',
    'gate.json': '{"properties": {"passed": {"const": true}}}',
    'sub/a.txt': '',
  };
  const SETUP = '- uses: actions/setup-node@v5\n- run: npm --version';
  it.each<[string, string, readonly string[]]>([
    ['prompt: Judge.\nschema: ./judge.json', '', ['error no-checkout at schema:']],
    ['prompt: Judge.\nschema: "@judge.json"', SETUP, ['error no-checkout at schema:']],
    ['prompt: Judge.\ngate: ./gate.json', SETUP, ['error no-checkout at gate:']],
    ['prompt-file: task.md', SETUP, ['error no-checkout at prompt-file:']],
    ['prompt: Judge.\nworking-directory: sub', '', ['error no-checkout at working-directory:']],
    ['prompt: Judge.\nschema: verdict\nworking-directory: ./', '', []],
    ['prompt: Judge.\nschema: "@org/judges/a.json@v1"', '', []],
    ['prompt-file: task.md', CHECKOUT, []],
    ['prompt-file: task.md', '- uses: my-org/checkout@v1', []],
    ['prompt-file: task.md', '- uses: actions/download-artifact@v5', []],
    ['prompt-file: task.md', '- run: git clone https://example.com/x .', []],
    ['prompt-file: task.md', '- run: echo Judge. >task.md', []],
    ['prompt-file: task.md\ntrusted-files: base', '', []],
    ['prompt-file: ${{ inputs.file }}', '', []],
  ])('with %j after %j, the findings about a missing checkout are %j', async (inputs, before, expected) => {
    const found = await findingsOf(workflowOf({ inputs, before }), files);
    expect(found.filter((each) => each.includes('no-checkout'))).toEqual(expected);
  });

  it.each(['runs-on: self-hosted', 'runs-on: [self-hosted]', 'runs-on: ${{ vars.RUNNER }}'])(
    'does not require a checkout on %s, where an earlier job may have left the files',
    async (runner) => {
      const text = workflowOf({ inputs: 'prompt-file: task.md' });
      const found = (runs: string) => findingsOf(text.replace('runs-on: ubuntu-latest', runs), files);
      expect(await found('runs-on: ubuntu-24.04')).toEqual(['error no-checkout at prompt-file:']);
      expect(await found(runner)).toEqual([]);
    },
  );

  it.each<[string, string]>([
    ['model: claude-sonnet-4-5', ''],
    ['model: claude-sonnet-9-9', 'error input-max-cost-usd at max-cost-usd:'],
    ['model: mine\nbase-url: https://models.example.com/v1', 'error input-max-cost-usd at max-cost-usd:'],
    ['model: mine\nbase-url: ${{ vars.URL }}', ''],
    ['model: ${{ vars.MODEL }}', ''],
    ['model: claude-sonnet-9-9\nreplay: ${{ vars.RECORDING }}', ''],
  ])('a cost limit with %j has the findings %j', async (inputs, expected) => {
    expect(await foundIn(workflowOf({ inputs: `prompt: Judge.\nmax-cost-usd: 2\n${inputs}` }))).toBe(
      expected,
    );
  });

  it.each<[string, string]>([
    ['structured_output', 'error no-verdict at exclude-tools:'],
    ['shell, structured_output', 'error no-verdict at exclude-tools:'],
    ['shell', ''],
    ['${{ vars.TOOLS }}', ''],
  ])('exclude-tools: %s has the findings %j', async (tools, expected) => {
    const inputs = `prompt: Judge.\nexclude-tools: ${tools}`;
    expect(await foundIn(workflowOf({ inputs }))).toBe(expected);
  });

  it.each([
    ['anthropic_api_key', 'api-key'],
    ['openai-api-key', 'api-key'],
    ['GEMINI_API_KEY', 'api-key'],
    ['json_schema', 'schema'],
    ['allowed_tools', 'tools'],
  ])('suggests for the input %s of another action the input %s', async (name, meant) => {
    const folder = repository({
      'w.yml': workflowOf({ inputs: `prompt: Judge.\n${name}: \${{ secrets.A }}` }),
    });
    const { out } = await checkIn(folder, 'w.yml');
    expect(out).toContain(`There is no input "${name}". [unknown-input]\n    fix: Did you mean ${meant}?`);
  });

  it.each([
    [
      'schema: @.github/verdict.schema.json # mine',
      'Put the value into quotes: schema: "@.github/verdict.schema.json"',
    ],
    ['schema: @a"b\'c.json', `Put the value into quotes: schema: '@a"b''c.json'`],
    [
      'prompt: Judge: is it safe?',
      'Put the value, which has a colon in it, into quotes: prompt: "Judge: is it safe?"',
    ],
    ['prompt: Judge.\n  model: m', 'The line after this one begins further right'],
    ['prompt: "Judge.', 'Close the quote'],
    ['prompt: Judge.\n\tmodel: m', 'blanks'],
    ['prompt: Judge.\nprompt: Again.', 'Keep one of the two keys.'],
    ['prompt: Judge.\n model: m', 'into quotes, or compare its indentation|further right|same column'],
  ])('reports %j as invalid YAML, with a fix that says what to write', async (lines, fix) => {
    const indented = lines.replaceAll('\n', `\n${' '.repeat(10)}`);
    const text = workflowOf({ inputs: 'prompt: X' }).replace('prompt: X', () => indented);
    const { code, out } = await checkIn(repository({ 'w.yml': text }), 'w.yml');
    expect([code, out]).toEqual([52, expect.stringContaining('error: This is not YAML: ')]);
    const [, said = ''] = /^ {4}fix: (.*)$/mu.exec(out) ?? [];
    expect(fix.split('|').some((each) => said.includes(each))).toBe(true);
  });

  it('a line with wrong indentation gets a fix that says where it belongs', async () => {
    const text = workflowOf({}).replace('        with:', '       with:');
    const { out } = await checkIn(repository({ 'w.yml': text }), 'w.yml');
    expect(out).toContain('fix: Begin this line at the same column as the other keys of its step');
  });

  it('reports a key in plain text without showing it', async () => {
    const folder = repository({ 'w.yml': workflowOf({ inputs: 'prompt: Judge.\napi-key: sk-very-secret' }) });
    for (const format of ['text', 'json']) {
      const { code, out } = await checkIn(folder, 'w.yml', '--output-format', format);
      expect(code).toBe(52);
      expect(out).toContain('secret-in-file');
      expect(out).not.toContain('sk-very-secret');
    }
  });

  it('accepts a key from the environment of the step, job or workflow, or from an earlier step', async () => {
    const inputs = 'prompt: no key\n';
    const key = 'env: { ANTHROPIC_API_KEY: "${{ secrets.A }}" }';
    expect(await findingsOf(workflowOf({ inputs }))).toEqual(['error input-api-key at id:']);
    expect(await findingsOf(workflowOf({ inputs, step: key }))).toEqual([]);
    expect(await findingsOf(workflowOf({ inputs, job: key }))).toEqual([]);
    expect(await findingsOf(`${key}\n${workflowOf({ inputs })}`)).toEqual([]);
    expect(await findingsOf(workflowOf({ inputs, before: '- run: ./login >>"$GITHUB_ENV"' }))).toEqual([]);
  });

  it('does not report a schema as missing when an earlier step may write it', async () => {
    const parts = { inputs: 'prompt: Judge.\nschema: "@out/s.json"', before: '- run: make out/s.json' };
    expect(await findingsOf(workflowOf(parts))).toEqual([]);
    const late = { inputs: parts.inputs, after: parts.before };
    expect(await findingsOf(workflowOf(late))).toEqual(['error schema-source at schema:']);
  });
});

describe('outputs in conditions and scripts', () => {
  it.each<[string, string]>([
    ["steps.review.outputs.passed == 'true'", ''],
    ["steps.review.outputs.passed == 'true' && github.ref == 'x'", ''],
    ["steps.review.outputs.passed != 'false'", 'error fails-open at steps.review.outputs.passed'],
    ["${{ 'false' != steps.review.outputs['passed'] }}", "error fails-open at 'false'"],
    ["${{ !(steps.review.outputs.passed == 'false') }}", 'error fails-open at steps.review.outputs.passed'],
    ["${{ !!(steps.review.outputs.passed == 'true') }}", ''],
    ["steps.review.outputs.passed != 'true'", 'warning true-without-verdict at steps.review.outputs.passed'],
    ["steps.review.outputs.passed != ''", ''],
    ['steps.review.outputs.passed', 'error text-as-condition at steps.review.outputs.passed'],
    ['${{ !steps.review.outputs.passed }}', 'error text-as-condition at steps.review.outputs.passed'],
    ['steps.review.outputs.summary', ''],
    ['steps.review.outputs.passed == true', 'error never-true at steps.review.outputs.passed'],
    ['steps.review.outputs.passed == false', 'error never-true at steps.review.outputs.passed'],
    ['steps.review.outputs.run-turns == 0', 'error fails-open at steps.review.outputs.run-turns'],
    ["steps.review.outputs.run-turns == '0'", ''],
    ['steps.review.outputs.run-turns < 5', 'error fails-open at steps.review.outputs.run-turns'],
    ['steps.review.outputs.run-turns > 5', ''],
    ["steps.review.outputs.run-conclusion == 'success' && steps.review.outputs.run-turns < 5", ''],
    ["steps.review.outputs.run-gate != 'not_met'", 'error fails-open at steps.review.outputs.run-gate'],
    ["steps.review.outputs.run-reason == 'max_turns' || failure()", ''],
    [
      "${{ !contains(steps.review.outputs.findings, 'error') }}",
      'error fails-open at contains(steps.review.outputs.findings,',
    ],
    ["always() || steps.review.outputs.passed == 'true'", 'error outputs-do-not-count at always()'],
    ["${{ steps.review.outputs.passed == 'true' }} && true", 'error always-true at ${{'],
    ["steps.review.outputs.passed == 'false'", 'warning never-runs at steps.review.outputs.passed'],
    ["${{ !cancelled() && steps.review.outputs.passed == 'false' }}", ''],
    ["steps.review.outputs.passed == 'false' || github.ref == 'x'", ''],
    ["failure() && steps.review.outputs.run-conclusion == 'failure'", ''],
    ["steps.review.outputs.pased == 'true'", 'error unknown-output at steps.review.outputs.pased'],
    [
      "steps.review.outputs.run-coclusion == 'x'",
      'error unknown-output at steps.review.outputs.run-coclusion',
    ],
    [
      'contains(steps.review.outputs.findings)',
      'error expression at contains(steps.review.outputs.findings)',
    ],
    ["steps.review.outputs.passed == 'true", 'error expression at steps.review.outputs.passed'],
    ["steps.reviw.outputs.passed == 'true'", 'error unknown-step at steps.reviw.outputs.passed'],
    ["STEPS.Review.OUTPUTS.Passed == 'true'", ''],
  ])('if: %s has the expected findings', async (condition, expected) => {
    expect(await foundIn(workflowOf({ after: later(condition) }))).toBe(expected);
  });

  it('a step that fails the job may test for a missing verdict', async () => {
    for (const run of ['exit 1', 'echo no; exit 1']) {
      const condition = "${{ always() && steps.review.outputs.passed != 'true' }}";
      expect(await findingsOf(workflowOf({ after: later(condition, run) }))).toEqual([]);
    }
    const open = later("steps.review.outputs.passed != 'false'", 'exit 1');
    expect(await findingsOf(workflowOf({ after: open }))).toEqual([
      'error fails-open at steps.review.outputs.passed',
    ]);
  });

  it('a step for a failed verdict can run with gate: none', async () => {
    const parts = {
      inputs: 'prompt: Judge.\ngate: none',
      after: later("steps.review.outputs.passed == 'false'"),
    };
    expect(await findingsOf(workflowOf(parts))).toEqual([]);
  });

  it('reports text in a script at its own line, and accepts numbers and booleans', async () => {
    const text = workflowOf({
      after: [
        '- run: |',
        '    echo one',
        '    echo "${{ steps.review.outputs.summary }}" ${{ steps.review.outputs.passed }}',
        '    echo ${{ toJSON(steps.review.outputs.findings) }} ${{ steps.review.outputs.run-turns }}',
        '- uses: actions/github-script@v8',
        '  with:',
        '    script: const a = `${{ steps.review.outputs.structured_output }}`',
        '- env:',
        '    SUMMARY: ${{ steps.review.outputs.summary }}',
        '  run: echo',
      ].join('\n'),
    });
    expect(await findingsOf(text)).toEqual([
      'error text-in-script at steps.review.outputs.summary',
      'error text-in-script at steps.review.outputs.findings)',
      'error text-in-script at steps.review.outputs.structured_output',
    ]);
  });

  it.each([
    'toJSON(steps)',
    'toJSON(steps.review.outputs)',
    'join(steps.*.outputs.summary)',
    'steps.review.outputs[env.NAME]',
  ])('reports ${{ %s }} in a script as text of the model', async (expression) => {
    const text = workflowOf({ after: `- run: echo "\${{ ${expression} }}"` });
    const [first, ...others] = await findingsOf(text);
    expect([first?.replace(/ at .*/u, ''), others]).toEqual(['error text-in-script', []]);
    const outcome = workflowOf({ after: '- run: echo ${{ steps.review.outcome }} ${{ toJSON(matrix) }}' });
    expect(await findingsOf(outcome)).toEqual([]);
  });

  it('a test of one step’s verdict does not cover another step', async () => {
    const second =
      '- id: other\n  uses: org/structured-agent@v1\n  with: { prompt: a, model: claude-x, api-key: "${{ secrets.A }}" }';
    const both = "steps.review.outputs.passed == 'true' && steps.other.outputs.passed != 'false'";
    expect(await findingsOf(workflowOf({ after: `${second}\n${later(both)}` }))).toEqual([
      'error fails-open at steps.other.outputs.passed',
    ]);
  });

  it('reports a default value that passes without a verdict', async () => {
    const parts = { after: "- run: echo\n  env:\n    OK: ${{ steps.review.outputs.passed || 'true' }}" };
    expect(await findingsOf(workflowOf(parts))).toEqual([
      'error default-passes at steps.review.outputs.passed',
    ]);
  });

  it('reports an output that is read before its step', async () => {
    const before = "- if: steps.review.outputs.passed == 'true'\n  run: echo";
    expect(await findingsOf(workflowOf({ before }))).toEqual([
      'error read-too-early at steps.review.outputs.passed',
    ]);
  });

  const job = 'outputs:\n  passed: ${{ steps.review.outputs.passed }}';
  const next = (condition: string, needs = 'judge', run = 'echo') =>
    `deploy:\n  if: ${condition}\n  needs: [${needs}]\n  runs-on: ubuntu-latest\n  steps:\n    - run: ${run}`;

  it.each<[string, string, string]>([
    ["needs.judge.outputs.passed == 'true'", 'judge', ''],
    ["needs.judge.outputs.passed != 'false'", 'judge', 'error fails-open at needs.judge.outputs.passed'],
    ["needs.judge.outputs.pased == 'true'", 'judge', 'error unknown-output at needs.judge.outputs.pased'],
    ["needs.judge.outputs.passed == 'true'", '', 'error not-needed at needs.judge.outputs.passed'],
    ["needs.judge.outputs.passed == 'false'", 'judge', 'warning never-runs at needs.judge.outputs.passed'],
    ['always()', 'judge', 'warning runs-regardless at if:'],
    ["${{ !cancelled() && needs.judge.result == 'success' }}", 'judge', ''],
  ])(
    'another job with if: %s and needs: [%s] has the expected findings',
    async (condition, needs, expected) => {
      expect(await foundIn(workflowOf({ job, jobs: next(condition, needs) }))).toBe(expected);
    },
  );

  it('reports an output of a matrix job, which does not cover every leg', async () => {
    const matrix = `${job}\nstrategy: { matrix: { a: [1, 2] } }`;
    const text = workflowOf({ job: matrix, jobs: next("needs.judge.outputs.passed == 'true'") });
    expect(await findingsOf(text)).toEqual(['error output-of-matrix at needs.judge.outputs.passed']);
  });
});

describe('the surroundings of a step', () => {
  const checkout = (ref: string) =>
    `- uses: actions/checkout@v4\n  with: { persist-credentials: false, ref: "${ref}" }`;
  const head = checkout('${{ github.event.pull_request.head.sha }}');

  it.each<[string, Parameters<typeof workflowOf>[0], string]>([
    [
      'continue-on-error that no later step handles',
      { step: 'continue-on-error: true' },
      'error continue-on-error at continue-on-error:',
    ],
    [
      'continue-on-error with a later test of the outcome',
      { step: 'continue-on-error: true', after: later("steps.review.outcome != 'success'", 'exit 1') },
      'warning continue-on-error at continue-on-error:',
    ],
    [
      'a comment without the permission',
      { inputs: 'prompt: a\ncomment: always' },
      'error missing-permission at permissions:',
    ],
    [
      'a comment with the permission',
      { inputs: 'prompt: a\ncomment: always', permissions: '{ contents: read, pull-requests: write }' },
      '',
    ],
    [
      'a status without the permission',
      { inputs: 'prompt: a\ncommit-status: A' },
      'error missing-permission at permissions:',
    ],
    ['another token', { inputs: 'prompt: a\ncommit-status: A\ngithub-token: ${{ secrets.BOT }}' }, ''],
    [
      'a pull request without the permission to read it',
      { on: 'pull_request', permissions: '{ contents: read }' },
      'warning missing-permission at permissions:',
    ],
    [
      'more permissions than needed',
      { permissions: 'write-all' },
      'warning spare-permission at permissions:',
    ],
    [
      'credentials in the checkout',
      { before: '- uses: actions/checkout@v4' },
      'warning persisted-credentials at uses:',
    ],
    [
      'a job timeout below the timeout of the run',
      { job: 'timeout-minutes: 10' },
      'warning timeout at timeout-minutes:',
    ],
    [
      'no sandbox on a privileged trigger',
      { on: 'pull_request_target', inputs: 'prompt: a\nsandbox: off', before: head },
      'error open-sandbox at sandbox:',
    ],
    [
      'no sandbox on a trigger that anybody can start',
      { on: 'discussion_comment', inputs: 'prompt: a\nsandbox: off' },
      'error open-sandbox at sandbox:',
    ],
    ['no sandbox on a trigger for members only', { on: 'schedule', inputs: 'prompt: a\nsandbox: off' }, ''],
    [
      'untrusted code beside secrets',
      { on: 'pull_request_target', before: `${head}\n- run: npm ci` },
      'warning strangers-code at run:',
    ],
    [
      'a prompt file that comes from the change',
      { on: 'pull_request_target', inputs: 'prompt-file: a.md', before: head },
      'warning judge-in-change at prompt-file:',
    ],
    [
      'a checkout of the base on a privileged trigger',
      { on: 'pull_request_target', before: `${checkout('')}\n- run: npm ci` },
      '',
    ],
    [
      'on-missing-key: skip without any key',
      { inputs: 'prompt: no key\non-missing-key: skip' },
      'warning never-judged at on-missing-key:',
    ],
  ])('checks %s', async (_name, parts, expected) => {
    expect(await foundIn(workflowOf(parts), { 'a.md': 'Judge.' })).toBe(expected);
  });

  it('reports a workflow without permissions', async () => {
    const text = workflowOf({}).replace(/^permissions:.*\n/mu, '');
    expect(await findingsOf(text)).toEqual(['warning no-permissions at judge:']);
  });
});

describe('a workflow file', () => {
  it('is found in .github/workflows, and files that do not use the action are ignored', async () => {
    const folder = repository({
      '.github/workflows/a.yml': workflowOf({ inputs: 'promt: x' }),
      '.github/workflows/b.yaml': 'on: push\njobs: { a: { runs-on: x, steps: [ { run: echo } ] } }',
      '.github/workflows/notes.txt': 'no workflow',
    });
    const { code, out } = await checkIn(folder);
    expect(code).toBe(52);
    expect(out).toContain('.github/workflows/a.yml:10:11: error: There is no input "promt".');
    expect(out).not.toContain('b.yaml');
  });

  it('can use the action under another name, or from a local folder', async () => {
    const text = workflowOf({ inputs: 'promt: x' });
    const as = (name: string) => text.replace('org/structured-agent@v1', name);
    const own = { 'here/action.yml': 'name: structured-agent\n', 'other/action.yml': 'name: other\n' };
    const look = async (name: string, ...argv: readonly string[]) =>
      (await checkIn(repository({ 'w.yml': as(name), ...own }), 'w.yml', ...argv)).out;
    expect(await look('./here')).toContain('unknown-input');
    expect(await look('my/verdict@v2', '--action', 'my/verdict')).toContain('unknown-input');
    expect(await look('me/Structured-Agent@0123')).toContain('unknown-input');
    for (const name of [
      './other',
      './missing',
      '../../etc',
      'my/verdict@v2',
      'a/structured-agent/other@v1',
    ]) {
      expect(await look(name)).toContain('No step of this file uses the action.');
    }
  });

  it('uses --schema when its own schema cannot be read', async () => {
    const text = workflowOf({
      inputs: 'prompt: x\nschema: ${{ vars.SCHEMA }}',
      after: later("steps.review.outputs.pased == 'true'"),
    });
    const folder = repository({ 'w.yml': text });
    expect((await checkIn(folder, 'w.yml')).out).not.toContain('unknown-output');
    expect((await checkIn(folder, 'w.yml', '--schema', 'verdict')).out).toContain('unknown-output');
  });

  it.each([
    ['on: [push\njobs: {}', 'w.yml:'],
    ['a: 1\na: 2\n', 'w.yml:2:1: error: This is not YAML: Map keys must be unique.'],
    ['', 'No step'],
    ['- a\n- b\n', 'No step'],
    ['jobs: { a: { steps: 3 }, b: 4, c: { steps: [ 1, null, { uses: [] } ] } }', 'No step'],
    ['a: &a [*a, *a]', 'w.yml:1:1: error: '],
    [
      `a0: &a0 [x, x]\n${[...Array(40).keys()].map((at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join('\n')}`,
      'more parts',
    ],
    [`a: ${'['.repeat(5000)}`, 'w.yml:1:'],
  ])('%#: reports a file that is not a workflow', async (text, message) => {
    const { code, out } = await checkIn(repository({ 'w.yml': text }), 'w.yml');
    expect(out).toContain(message);
    expect(code).toBe(52);
  });

  it('is reported as an error when it cannot be read', async () => {
    const folder = repository({});
    mkdirSync(path.join(folder, 'folder.yml'));
    for (const name of ['missing.yml', 'folder.yml']) {
      const { code, out } = await checkIn(folder, name);
      expect([code, out]).toEqual([52, expect.stringContaining(`${name}:1:1: error: `)]);
    }
  });

  it('is not read above 500 KB, GitHub’s own limit for workflows', async () => {
    const text = workflowOf({});
    const pad = (bytes: number) => `${text}#${'x'.repeat(bytes - text.length - 1)}`;
    const folder = repository({ 'fits.yml': pad(512_000), 'long.yml': pad(512_001) });
    expect((await checkIn(folder, 'fits.yml')).out).not.toContain('larger than');
    const { code, out } = await checkIn(folder, 'long.yml');
    expect(out).toContain('is larger than 512,000 bytes; only smaller files are read.');
    expect(code).toBe(52);
  });

  it('is reported as one JSON object with --output-format json', async () => {
    const folder = repository({ 'w.yml': workflowOf({ inputs: 'promt: x' }) });
    const report = JSON.parse((await checkIn(folder, 'w.yml', '--output-format', 'json')).out);
    expect(report).toMatchObject({ ok: false, errors: 2, warnings: 0, files: ['w.yml'] });
    expect(report.findings[1]).toEqual({
      file: 'w.yml',
      line: 10,
      column: 11,
      severity: 'error',
      rule: 'unknown-input',
      message: 'There is no input "promt".',
      fix: 'Did you mean prompt or prompt-file?',
    });
    expect(report.schemas[0].outputs[0]).toEqual({
      name: 'passed',
      type: 'boolean',
      form: 'true or false, as text',
      required: true,
    });
    expect(report.schemas[0].views[0].providers).toEqual(['anthropic']);
  });
});
