import { describe, expect, it } from 'vitest';
import { changed, findingsOf, foundIn, MANY_LEGS } from './workflow-world.ts';

const EXPECT = 'expect: correctness, security, compatibility';
const MATRIX = 'matrix: { leg: [correctness, security, compatibility], vote: [1, 2, 3] }';
const NAME = 'verdict-${{ matrix.leg }}-${{ matrix.vote }}-${{ github.run_attempt }}';
const PROMPT = 'prompt: Review the ${{ matrix.leg }}';
const ENVELOPE = 'path: "${{ steps.judge.outputs.run-result-file }}"';
const NEEDS = '  verdict:\n    needs: judge\n';

/** The example with one more leg in its own job. */
function withMore(leg: string, condition = ''): string {
  const job = [
    '  more:\n',
    condition,
    '    permissions: { contents: read, pull-requests: read }\n',
    '    runs-on: ubuntu-latest\n',
    '    steps:\n',
    '      - id: judge\n',
    '        uses: org/structured-agent@v1\n',
    `        with: { ${leg}, vote: 1, gate: none, prompt: Judge., model: claude-sonnet-4-5, api-key: "\${{ secrets.A }}", signing-key: "\${{ secrets.SIGNING_KEY }}" }\n`,
    '      - uses: actions/upload-artifact@v7\n',
    '        if: always()\n',
    '        with: { name: "verdict-more-${{ github.run_attempt }}", path: "${{ steps.judge.outputs.run-result-file }}" }\n',
  ].join('');
  return changed([NEEDS, `${job}  verdict:\n    needs: [judge, more]\n`]);
}

describe('the legs of a merge', () => {
  it.each<[string, string, string]>([
    ['9 when there are 9', changed([EXPECT, 'expect: 9']), ''],
    [
      '3, which counts the legs and not the votes',
      changed([EXPECT, 'expect: 3']),
      'error expect-count at expect:',
    ],
    ['12', changed([EXPECT, 'expect: 12']), 'warning expect-count at expect:'],
    [
      '9 of a matrix with excluded combinations',
      changed(
        [EXPECT, 'expect: 12'],
        ['vote: [1, 2, 3] }', 'vote: [1, 2, 3], exclude: [{ leg: security, vote: 3 }] }'],
      ),
      '',
    ],
    [
      '3 of a matrix that an expression makes',
      changed([EXPECT, 'expect: 3'], [MATRIX, 'matrix: "${{ fromJSON(vars.M) }}"']),
      '',
    ],
  ])('expect gives a number: %s', async (_, text, expected) => {
    expect(await foundIn(text)).toBe(expected);
  });

  it('are not counted when a called workflow has some', async () => {
    const called = '  more: { uses: ./.github/workflows/leg.yml }\n  verdict:\n    needs: [judge, more]\n';
    expect(await findingsOf(changed([NEEDS, called], [EXPECT, 'expect: 12']))).toEqual([]);
    expect(await findingsOf(changed([NEEDS, called], [EXPECT, `${EXPECT}, docs`]))).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['a leg and vote that another job also has', withMore('leg: security'), 'error leg-twice at leg:'],
    [
      'one of two jobs with the same leg, at most one of which runs',
      withMore('leg: security', "    if: github.event_name == 'push'\n"),
      '',
    ],
    ['a leg with its own name', withMore('leg: docs').replace(EXPECT, `${EXPECT}, docs`), ''],
  ])('one more job: %s', async (_, text, expected) => {
    expect(await foundIn(text)).toBe(expected);
  });

  it.each<[string, string, string]>([
    [
      'the vote',
      changed([PROMPT, 'prompt: You are voter ${{ matrix.vote }}. Review']),
      'error vote-prompt at prompt:',
    ],
    ['the vote by index', changed([PROMPT, "prompt: ${{ matrix['vote'] }}"]), 'error vote-prompt at prompt:'],
    [
      'the vote, when every leg has one vote',
      changed(
        [PROMPT, 'prompt: ${{ matrix.vote }}'],
        ['          votes: majority of 3\n', ''],
        ['vote: [1, 2, 3]', 'vote: [1]'],
      ),
      '',
    ],
    [
      'another key with the same prefix',
      changed(
        [PROMPT, 'prompt: ${{ matrix.vote-of }}'],
        ['vote: [1, 2, 3] }', 'vote: [1, 2, 3], vote-of: [all] }'],
      ),
      '',
    ],
  ])('the prompt contains %s', async (_, text, expected) => {
    expect(await foundIn(text)).toBe(expected);
  });

  it.each<[string, string]>([
    ['verdict-${{ matrix.leg }}-${{ github.run_attempt }}', 'error artifact-name at name:'],
    ['verdict-${{ matrix.vote }}-${{ github.run_attempt }}', 'error artifact-name at name:'],
    ['verdict-${{ strategy.job-index }}-${{ github.run_attempt }}', ''],
    [
      'verdict-${{ steps.name.outputs.it }}-${{ github.run_attempt }}',
      'error unknown-step at steps.name.outputs.it',
    ],
  ])('upload an artifact named %s', async (name, expected) => {
    expect(await foundIn(changed([NAME, name]))).toBe(expected);
  });

  it('are reported when they upload a file other than the envelope', async () => {
    const text = changed([ENVELOPE, 'path: "${{ steps.judge.outputs.run-transcript-file }}"']);
    expect(await findingsOf(text)).toEqual(['warning leg-not-uploaded at leg:']);
  });
});

describe('the matrix of a job', () => {
  it.each<[string, string, readonly string[]]>([
    [
      'does not have the key',
      changed(['leg: ${{ matrix.leg }}\n', 'leg: ${{ matrix.legs }}\n']),
      ['error unknown-matrix-key at matrix.legs'],
    ],
    [
      'does not exist',
      changed([`strategy: { fail-fast: false, ${MATRIX} }`, 'env: {}']),
      Array.from({ length: 5 }, () => 'error unknown-matrix-key'),
    ],
    ['is made by an expression', changed([MATRIX, 'matrix: "${{ fromJSON(vars.M) }}"']), []],
    [
      'has the key in include',
      changed(
        [PROMPT, 'prompt: ${{ matrix.focus }}'],
        ['vote: [1, 2, 3] }', 'vote: [1, 2, 3], include: [{ leg: security, focus: keys }] }'],
      ),
      [],
    ],
    [
      'has include from an expression',
      changed(
        [PROMPT, 'prompt: ${{ matrix.focus }}'],
        ['vote: [1, 2, 3] }', 'vote: [1, 2, 3], include: "${{ fromJSON(vars.M) }}" }'],
      ),
      [],
    ],
    ['is read as a whole', changed([PROMPT, 'prompt: ${{ toJSON(matrix) }} ${{ matrix.* }}']), []],
  ])('%s', async (_, text, expected) => {
    const found = await findingsOf(text);
    expect(found.filter((each) => expected.some((one) => each.startsWith(one)))).toEqual(
      expected.map((one) => expect.stringContaining(one)),
    );
    expect(found.filter((each) => each.includes('unknown-matrix-key'))).toHaveLength(expected.length);
  });
});

const MATRIX_OF_ALL = '{ leg: [correctness, security, compatibility], vote: [1, 2, 3] }';

/** The example with a matrix that lists each vote in include, two for each leg. */
function listed(...pairs: readonly (readonly [leg: string, vote: string])[]): string {
  const items = pairs.map(([leg, vote]) => `{ leg: ${leg}, vote: ${vote} }`).join(', ');
  return MANY_LEGS.replace(MATRIX_OF_ALL, `{ include: [${items}] }`).replace(
    'majority of 3',
    'majority of 2',
  );
}

describe('a matrix that lists each vote in include', () => {
  it('may use different vote names in each leg', async () => {
    const text = listed(
      ['correctness', 'claude-sonnet-4-5'],
      ['correctness', 'claude-opus-4-1'],
      ['security', 'claude-sonnet-4-5'],
      ['security', 'claude-haiku-4-5'],
      ['compatibility', 'claude-opus-4-1'],
      ['compatibility', 'claude-haiku-4-5'],
    );
    expect(await findingsOf(text)).toEqual([]);
  });

  it('reports a leg that is not expected', async () => {
    const text = listed(['correctness', 'a'], ['security', 'a'], ['compatibilty', 'a']);
    expect(await findingsOf(text)).toContain('error leg-unexpected at leg:');
  });
});
