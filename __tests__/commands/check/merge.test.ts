import { describe, expect, it } from 'vitest';
import { changed, checkIn, findingsOf, foundIn, MANY_LEGS, repository } from './workflow-world.ts';

const ALWAYS =
  '    if: ${{ always() }} # it would be skipped after a red leg, and a skipped check counts as passed\n';
const EXPECT = 'expect: correctness, security, compatibility';
const VOTES = 'votes: majority of 3';
const VERDICTS = '          verdicts: ${{ runner.temp }}/verdicts\n';
const KEY = 'signing-key: ${{ secrets.SIGNING_KEY }}';
const LEG = '          leg: ${{ matrix.leg }}\n';
const VOTE = '          vote: ${{ matrix.vote }}\n';
const UPLOAD = '        if: ${{ always() }}\n';
const ATTEMPT = '-${{ github.run_attempt }}';
const EARLY =
  '      - uses: actions/upload-artifact@v7\n        if: always()\n        with: { name: "a-${{ matrix.leg }}", path: "${{ steps.judge.outputs.run-result-file }}" }\n';
/** Removes the upload after the leg. */
const LATE: readonly (readonly [string, string])[] = [
  ['path: "${{ steps.judge.outputs.run-result-file }}", overwrite', 'path: other, overwrite'],
];
const TESTS =
  '  test:\n    runs-on: ubuntu-latest\n    strategy: { matrix: { os: [a, b] } }\n    steps: [{ run: npm test }]\n';
const MERGE = 'uses: org/structured-agent/merge@v1\n';

describe('a workflow that merges verdicts', () => {
  it('has no findings in the example', async () => {
    expect(await findingsOf(MANY_LEGS)).toEqual([]);
    const { code, out } = await checkIn(repository({ 'w.yml': MANY_LEGS }), 'w.yml');
    expect([code, out]).toEqual([0, expect.stringContaining('no errors, no warnings')]);
  });

  it.each<[string, string, string]>([
    [EXPECT, 'expct: api', 'error input-expect at uses:\nerror unknown-input at expct:'],
    [VERDICTS, '', 'error input-verdicts at uses:'],
    [EXPECT, 'expect: ${{ vars.LEGS }}', ''],
    [EXPECT, 'expect: 10', 'error input-expect at expect:'],
    [EXPECT, 'expect: 9', ''],
    [EXPECT, 'expect: a, a', 'error input-expect at expect:'],
    [EXPECT, 'expect: a, a\n          rule: weighted:3', 'error input-expect at expect:'],
    [VOTES, 'votes: majority', 'error input-votes at votes:'],
    [VOTES, 'votes: most of 3', 'error input-votes at votes:'],
    [VOTES, 'votes: ${{ vars.VOTES }}', ''],
    [EXPECT, `${EXPECT}\n          rule: majorty`, 'error input-rule at rule:'],
    [EXPECT, `${EXPECT}\n          rule: weighted:3`, 'error input-rule at rule:'],
    [EXPECT, 'expect: ${{ vars.LEGS }}\n          rule: weighted:3', ''],
    [EXPECT, 'expect: ${{ vars.LEGS }}\n          rule: weighted', 'error input-rule at rule:'],
    [EXPECT, 'expect: ${{ vars.LEGS }}\n          rule: weighted:3\n          weights: "api: 4"', ''],
    [EXPECT, `${EXPECT}\n          weights: "security: 2"`, 'error input-weights at weights:'],
    [
      EXPECT,
      `${EXPECT}\n          rule: weighted:1.5\n          weights: "securty: 2"`,
      'error input-weights at weights:',
    ],
    [
      EXPECT,
      'expect: a, a\n          rule: most',
      'error input-expect at expect:\nerror input-rule at rule:',
    ],
    [
      KEY,
      `signing-key: ${'k'.repeat(32)}`,
      'error secret-in-file at signing-key:\nerror secret-in-file at signing-key:',
    ],
  ])('inputs of the merge: %j → %j', async (from, to, expected) => {
    expect(await foundIn(changed([from, to]))).toBe(expected);
  });

  it('suggests the name of a misspelled input', async () => {
    const folder = repository({ 'w.yml': changed(['expect: correctness', 'expct: correctness']) });
    expect((await checkIn(folder, 'w.yml')).out).toContain('Did you mean expect?');
  });

  it.each<[string, string]>([
    ['', 'error merge-skipped at verdict:'],
    ['    if: success()\n', 'error merge-skipped at if:'],
    ["    if: needs.judge.result == 'success'\n", 'error merge-skipped at if:'],
    ["    if: github.event_name == 'pull_request'\n", 'error merge-skipped at if:'],
    ['    if: ${{ !cancelled() }}\n', 'warning merge-skipped at if:'],
    ["    if: ${{ !cancelled() && github.actor != 'bot' }}\n", 'warning merge-skipped at if:'],
    ["    if: ${{ always() && needs.judge.result != 'skipped' }}\n", 'warning merge-skipped at if:'],
    ["    if: ${{ always() && github.event_name == 'pull_request' }}\n", ''],
    ['    if: always()\n', ''],
    ['    if: ${{ always( }}\n', ''],
  ])('the condition of the merge job: %j', async (condition, expected) => {
    expect(await foundIn(changed([ALWAYS, condition]))).toBe(expected);
  });

  it.each<[string, string]>([
    ['always()', ''],
    ['${{ !cancelled() }}', ''],
    ['success()', ''],
    ["needs.judge.result == 'success'", 'warning merge-skipped at if:'],
  ])('the condition of the merge step: if: %s', async (condition, expected) => {
    expect(await foundIn(changed([MERGE, `if: ${condition}\n        ${MERGE}`]))).toBe(expected);
  });

  it.each<[string, readonly (readonly [string, string])[], readonly string[]]>([
    ['no leg name', [[LEG, '']], ['error leg-nameless at with:']],
    ['no vote', [[VOTE, '']], ['warning leg-twice at leg:']],
    ['a fixed vote', [[VOTE, '          vote: 1\n']], ['warning leg-twice at vote:']],
    [
      'one name for all legs',
      [
        [LEG, '          leg: all\n'],
        [EXPECT, 'expect: all'],
        [VOTE, ''],
        [`          ${VOTES}\n`, ''],
      ],
      ['warning leg-twice at leg:'],
    ],
    ['a gate', [['gate: none', 'gate: passed']], ['warning leg-gate at gate:']],
    [
      'the gate of the preset',
      [['          gate: none # the merge asks for `passed`\n', '']],
      ['warning leg-gate at with:'],
    ],
    ['fail-fast', [['fail-fast: false', 'fail-fast: true']], ['warning leg-fail-fast at strategy:']],
    ['no condition on the upload', [[UPLOAD, '']], ['warning leg-not-uploaded at uses:']],
    ['a condition on the upload', [[UPLOAD, '        if: success()\n']], ['warning leg-not-uploaded at if:']],
    ['an upload unless cancelled', [[UPLOAD, '        if: ${{ !cancelled() }}\n']], []],
    [
      'one artifact name for all',
      [['verdict-${{ matrix.leg }}-${{ matrix.vote }}-${{ github.run_attempt }}', 'verdict-all']],
      ['error artifact-name at name:'],
    ],
    ['one artifact name for every attempt', [[ATTEMPT, '']], ['warning leg-upload-once at name:']],
    [
      'one artifact name for every attempt, without overwrite',
      [
        [ATTEMPT, ''],
        [', overwrite: true', ''],
      ],
      ['warning leg-upload-once at name:'],
    ],
    ['an artifact for each attempt, without overwrite', [[', overwrite: true', '']], []],
    [
      'uploads without an archive, each under its own name',
      [
        [
          'verdict-${{ matrix.leg }}-${{ matrix.vote }}-${{ github.run_attempt }}"',
          'verdict-x", archive: false',
        ],
      ],
      [],
    ],
    [
      'an upload before the leg',
      [['      - id: judge\n', `${EARLY}      - id: judge\n`], ...LATE],
      ['error read-too-early at steps.judge.outputs.run-result-file'],
    ],
    [
      'a matrix of another job that may fail fast',
      [
        ['  verdict:\n', `${TESTS}  verdict:\n`],
        ['needs: judge\n', 'needs: [judge, test]\n'],
      ],
      [],
    ],
    [
      'votes of one leg that the merge does not declare',
      [
        [LEG, '          leg: correctness\n'],
        [`          ${VOTES}\n`, ''],
        [EXPECT, 'expect: correctness'],
      ],
      ['error leg-votes at vote:'],
    ],
    [
      'spaces in a leg name',
      [
        ['leg: [correctness,', 'leg: ["correct  ness",'],
        [EXPECT, 'expect: correct ness, security, compatibility'],
      ],
      [],
    ],
    ['a leg name from an expression', [['leg: [correctness,', 'leg: ["${{ vars.LEG }}",']], []],
    [
      'merge-multiple on the download',
      [['pattern: verdict-*,', 'pattern: verdict-*, merge-multiple: true,']],
      ['warning merge-multiple at merge-multiple:'],
    ],
    [
      'a leg that the merge does not need',
      [['    needs: judge\n', '']],
      ['warning merge-too-early at verdict:'],
    ],
    [
      'a leg that the merge does not need, without always()',
      [
        ['    needs: judge\n', ''],
        [ALWAYS, ''],
      ],
      ['warning merge-too-early at verdict:'],
    ],
    [
      'no leg name, and a result-file input',
      [
        [LEG, '          result-file: out/verdict.json\n'],
        ['${{ steps.judge.outputs.run-result-file }}', 'out/verdict.json'],
      ],
      ['error leg-nameless at with:'],
    ],
  ])('a leg: %s', async (_, edits, expected) => {
    expect(await findingsOf(changed(...edits))).toEqual(expected);
  });

  it.each<[string, readonly (readonly [string, string])[], readonly string[]]>([
    [
      'a leg that is not expected',
      [['security, compatibility\n', 'security\n']],
      ['error leg-unexpected at leg:'],
    ],
    [
      'an expected leg that does not exist',
      [['security, compatibility\n', 'security, compatibility, docs\n']],
      ['warning leg-missing at expect:'],
    ],
    [
      'a misspelled leg',
      [['expect: correctness', 'expect: corectness']],
      ['error leg-unexpected at leg:', 'warning leg-missing at expect:'],
    ],
    ['too few votes', [[VOTES, 'votes: majority of 2']], ['error leg-votes at vote:']],
    ['too many votes', [[VOTES, 'votes: majority of 5']], ['warning leg-votes at vote:']],
    ['votes that the merge does not declare', [[`          ${VOTES}\n`, '']], ['error leg-votes at vote:']],
    ['names from an expression', [[EXPECT, 'expect: ${{ vars.LEGS }}']], []],
    [
      'a matrix from an expression',
      [['leg: [correctness, security, compatibility]', 'leg: "${{ fromJSON(vars.LEGS) }}"']],
      [],
    ],
    [
      'a matrix with excluded combinations',
      [['vote: [1, 2, 3] }', 'vote: [1, 2, 3, 4], exclude: [{ vote: 4 }] }']],
      [],
    ],
    [
      'a matrix with include only',
      [
        [
          'matrix: { leg: [correctness, security, compatibility], vote: [1, 2, 3] }',
          'matrix: { include: [{ leg: correctness, vote: 1 }, { leg: docs, vote: 2 }, { leg: security, vote: 3 }] }',
        ],
      ],
      ['error leg-unexpected at leg:', 'warning leg-missing at expect:'],
    ],
  ])('the legs against expect: %s', async (_, edits, expected) => {
    expect(await findingsOf(changed(...edits))).toEqual(expected);
  });

  it('reports a signing key that only the legs or only the merge has', async () => {
    const [before, after] = MANY_LEGS.split(`          ${KEY}\n`).length === 3 ? MANY_LEGS.split(MERGE) : [];
    const unsigned = (before ?? '').replace(`          ${KEY}\n`, '');
    expect(await findingsOf(`${unsigned}${MERGE}${after}`)).toEqual(['error leg-unsigned at leg:']);
    const unchecked = (after ?? '').replace(`          ${KEY}\n`, '');
    expect(await findingsOf(`${before}${MERGE}${unchecked}`)).toEqual([
      'warning leg-unchecked at signing-key:',
    ]);
    expect(await findingsOf(`${unsigned}${MERGE}${unchecked}`)).toEqual([]);
  });

  it('reports a leg that is never uploaded, unless a script may upload it', async () => {
    const upload = /^ +- uses: actions\/upload-artifact[\s\S]+?overwrite: true \}\n/mu;
    expect(await findingsOf(MANY_LEGS.replace(upload, ''))).toEqual(['warning leg-not-uploaded at leg:']);
    expect(await findingsOf(MANY_LEGS.replace(upload, '      - run: ./hand-on.sh\n'))).toEqual([]);
  });

  it('needs the permissions for its reports, and no others', async () => {
    const other = 'comment: always\n          github-token: ${{ secrets.PAT }}';
    expect(
      await findingsOf(
        changed(
          ['{ contents: read, pull-requests: write }', '{ contents: read }'],
          ['comment: always', other],
        ),
      ),
    ).toEqual([]);
    expect(
      await findingsOf(changed(['{ contents: read, pull-requests: write }', '{ contents: read }'])),
    ).toEqual(['error missing-permission at permissions:']);
    expect(await findingsOf(changed(['comment: always', 'commit-status: verdict']))).toEqual([
      'error missing-permission at permissions:',
    ]);
    expect(
      await findingsOf(
        changed(['{ contents: read, pull-requests: write }', '{ contents: write, pull-requests: write }']),
      ),
    ).toEqual(['warning spare-permission at permissions:']);
  });

  it.each<[string, string]>([
    ["steps.merge.outputs.passed == 'true'", ''],
    ["steps.merge.outputs.run-conclusion == 'success'", ''],
    ["contains(steps.merge.outputs.run-tally, 'x')", ''],
    ["steps.merge.outputs.passed != 'false'", 'error fails-open at steps.merge.outputs.passed'],
    ['steps.merge.outputs.passed', 'error text-as-condition at steps.merge.outputs.passed'],
    ["steps.merge.outputs.pased == 'true'", 'error unknown-output at steps.merge.outputs.pased'],
    ["steps.merge.outputs.run-reused == 'true'", 'error unknown-output at steps.merge.outputs.run-reused'],
    ["steps.merg.outputs.passed == 'true'", 'error unknown-step at steps.merg.outputs.passed'],
  ])('an output of the merge in a condition: %s', async (condition, expected) => {
    const text = changed([`      - ${MERGE}`, `      - id: merge\n        ${MERGE}`]);
    expect(await foundIn(`${text}      - if: ${condition}\n        run: echo\n`)).toBe(expected);
  });

  it('reports text of the merged payload in a script, and a job that runs regardless', async () => {
    const text = changed([`      - ${MERGE}`, `      - id: merge\n        ${MERGE}`]);
    expect(
      await findingsOf(`${text}      - run: echo '\${{ steps.merge.outputs.structured_output }}'\n`),
    ).toEqual(['error text-in-script at steps.merge.outputs.structured_output']);
    const deploy =
      '  deploy:\n    needs: verdict\n    if: always()\n    runs-on: x\n    steps: [run: ./deploy]\n';
    expect(await findingsOf(`${MANY_LEGS}${deploy}`)).toEqual(['warning runs-regardless at if:']);
  });

  it('is found under another action name, and in a local folder', async () => {
    const named = changed([MERGE, 'uses: acme/judge/merge@v2\n'], [EXPECT, 'expct: 3']);
    const folder = repository({
      'w.yml': named,
      'l.yml': changed([MERGE, 'uses: ./tools/agent/merge\n'], [EXPECT, 'expct: 3']),
      'tools/agent/action.yml': 'name: structured-agent\n',
      'tools/agent/merge/action.yml': 'name: structured-agent\n',
    });
    expect((await checkIn(folder, 'w.yml')).out).not.toContain('expct');
    expect((await checkIn(folder, 'w.yml', '--action', 'acme/judge')).out).toContain('no input "expct"');
    expect((await checkIn(folder, 'l.yml')).out).toContain('no input "expct"');
  });

  it('does not check a job before the legs that is not merged', async () => {
    const plan = [
      '  plan:',
      '    permissions: { contents: read, pull-requests: read }',
      '    runs-on: ubuntu-latest',
      '    steps:',
      '      - uses: org/structured-agent@v1',
      '        with: { prompt: Which parts does this touch?, model: claude-sonnet-4-5, api-key: "${{ secrets.K }}" }',
      '  verdict:',
    ].join('\n');
    expect(await findingsOf(changed(['  verdict:', plan], ['needs: judge', 'needs: [plan, judge]']))).toEqual(
      [],
    );
  });
});
