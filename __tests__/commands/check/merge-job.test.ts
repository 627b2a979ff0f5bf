import { describe, expect, it } from 'vitest';
import { findingsOf, foundIn, MANY_LEGS } from './workflow-world.ts';

const PLAN = [
  '  plan:',
  '    runs-on: ubuntu-latest',
  '    outputs: { legs: "${{ steps.changed.outputs.legs }}" }',
  '    steps: [{ id: changed, run: ./changed-legs }]',
  '  judge:',
  '    needs: plan',
  "    if: ${{ needs.plan.outputs.legs != '[]' }}",
  '',
].join('\n');

/** The example with legs that another job plans. */
function planned(condition: string, expects = '${{ needs.plan.outputs.legs }}'): string {
  return MANY_LEGS.replace('  judge:\n', () => PLAN)
    .replace('needs: judge', 'needs: [plan, judge]')
    .replace(
      'leg: [correctness, security, compatibility]',
      () => 'leg: "${{ fromJSON(needs.plan.outputs.legs) }}"',
    )
    .replace('expect: correctness, security, compatibility', () => `expect: ${expects}`)
    .replace('uses: org/structured-agent/merge@v1\n', (use) => `if: ${condition}\n        ${use}`);
}

describe('the step that merges', () => {
  it.each([
    "needs.plan.outputs.legs != '[]'",
    "${{ needs.plan.outputs.legs != '[]' }}",
    "${{ '[]' != needs.plan.outputs.legs }}",
  ])('may be skipped where no leg was planned: if: %s', async (condition) => {
    expect(await findingsOf(planned(condition))).toEqual([]);
  });

  it.each<[string, string]>([
    ["${{ needs.plan.outputs.other != '[]' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs != '' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs == '[]' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs != '[]' }}", 'a, b, c'],
  ])('may not be skipped for anything else: if: %s, expect: %s', async (condition, expects) => {
    const found = await findingsOf(planned(condition, expects));
    expect(found).toContain('warning merge-skipped at if:');
  });
});

const GATE = '          gate: none # the merge asks for `passed`\n';
const VOTES = '          votes: majority of 3\n';

/** The example with another schema and gate in its legs, and another gate of the merge. */
function gated(schema: object, own: string, merge: string): string {
  const legs = `          schema: '${JSON.stringify(schema)}'\n${own}`;
  return MANY_LEGS.replace(GATE, () => legs).replace(VOTES, () => `${VOTES}${merge}`);
}

const closed = {
  type: 'object',
  properties: { ok: { type: 'boolean' } },
  required: ['ok'],
  additionalProperties: false,
};
const open = { type: 'object', properties: { ok: { type: 'boolean' } } };
const OWN = '          gate: none\n';
const of = (gate: string) => `          gate: ${gate}\n`;

describe('the gate of a merge', () => {
  it.each<[string, string, string]>([
    ['nobody has', gated(closed, OWN, ''), 'error leg-ungated at schema:'],
    ['is auto, and the payload may say more', gated(open, OWN, of('auto')), 'warning leg-ungated at schema:'],
    ['is a property', gated(closed, OWN, of('ok')), ''],
    ['is a property that no leg has', gated(closed, OWN, of('okay')), 'error leg-ungated at schema:'],
    ['is none', gated(closed, OWN, of('none')), ''],
    ['is a schema', gated(closed, OWN, of(`'{"properties": {"ok": {"const": true}}}'`)), ''],
    ['is decided by an expression', gated(closed, OWN, of('${{ vars.GATE }}')), ''],
    ['is that of the legs', gated(closed, of('ok'), ''), 'warning leg-gate at gate:'],
    [
      'is asked of a payload with passed',
      gated({ ...closed, properties: { passed: { type: 'boolean' } }, required: ['passed'] }, OWN, ''),
      '',
    ],
    ['a leg alone may know', gated(closed, of('${{ vars.GATE }}'), ''), 'warning leg-gate at gate:'],
  ])('which %s', async (_, text, expected) => {
    expect(await foundIn(text)).toBe(expected);
  });
});

describe('the gate of a merge that is a schema, or none', () => {
  const passed = { ...closed, properties: { passed: { type: 'boolean' } }, required: ['passed'] };
  it.each<[string, string, string]>([
    ['asks', `'{"properties": {"passed": {"const": true}}}'`, ''],
    ['asks nothing', `'{"properties": {"passed": {}}}'`, 'error gate-root at gate:'],
    ['asks nothing at all', `'{}'`, 'error gate-root at gate:'],
    ['asks for what no leg has', `'{"properties": {"pased": {"const": true}}}'`, 'error gate-root at gate:'],
    [
      'every payload of the legs meets',
      `'{"properties": {"passed": {"type": "boolean"}}}'`,
      'error gate-root at gate:',
    ],
    [
      'no payload of the legs can meet',
      `'{"properties": {"passed": {"const": "true"}}}'`,
      'error gate-root at gate:',
    ],
    ['is no JSON', `'{"properties": '`, 'error gate-source at gate:'],
    ['is a file that is not there', `'@gate.json'`, 'error gate-source at gate:'],
    ['is a file', `'@.github/gate.json'`, ''],
    ['is read from another repository', `'@org/judges/gate.json@v1'`, ''],
    ['is none, and the legs have none', 'none', 'warning merge-ungated at gate:'],
  ])('%s', async (_, gate, expected) => {
    const files = { '.github/gate.json': '{"properties": {"passed": {"const": true}}}' };
    expect(await foundIn(gated(passed, OWN, of(gate)), files)).toBe(expected);
  });

  it('is none, and the legs have their own', async () => {
    expect(await findingsOf(gated(passed, of('passed'), of('none')))).toEqual(['warning leg-gate at gate:']);
  });
});

const FOLDER = '${{ runner.temp }}/verdicts';

/** The example that downloads into a folder, and reads another. */
function folders(download: string | null, verdicts: string): string {
  const into = download === null ? '' : `, path: "${download}"`;
  return MANY_LEGS.replace(`, path: "${FOLDER}"`, () => into).replace(
    `verdicts: ${FOLDER}`,
    () => `verdicts: "${verdicts}"`,
  );
}

describe('the folder of the verdicts', () => {
  it.each<[string | null, string]>([
    [FOLDER, FOLDER],
    [FOLDER, '${{runner.temp}}/verdicts/'],
    [FOLDER, `${FOLDER}/api`],
    ['verdicts', './verdicts'],
    ['verdicts', '${{ github.workspace }}/verdicts'],
    [null, 'verdicts'],
    ['.', 'verdicts'],
    ['${{ vars.FOLDER }}', 'verdicts'],
    [FOLDER, '${{ env.FOLDER }}/verdicts'],
  ])('is where they are downloaded: %s, %s', async (download, verdicts) => {
    expect(await findingsOf(folders(download, verdicts))).toEqual([]);
  });

  it.each<[string, string]>([
    [FOLDER, 'verdicts'],
    [FOLDER, '${{ runner.temp }}/verdict'],
    ['verdicts', 'verdict'],
  ])('is not another one: %s, %s', async (download, verdicts) => {
    expect(await findingsOf(folders(download, verdicts))).toEqual(['warning merge-folder at verdicts:']);
  });

  it('may be filled by a script', async () => {
    const text = folders(FOLDER, 'verdicts').replace(
      '      - uses: org/structured-agent/merge@v1\n',
      (step) => `      - run: mv "$RUNNER_TEMP/verdicts" .\n${step}`,
    );
    expect(await findingsOf(text)).toEqual([]);
  });
});

describe('the pattern of the download', () => {
  it.each(['verdict-*', 'verdict-security-*', '*', '${{ vars.PREFIX }}*', 'ver*'])(
    'may be %s',
    async (pattern) => {
      expect(await findingsOf(MANY_LEGS.replace('verdict-*', () => `"${pattern}"`))).toEqual([]);
    },
  );

  it.each(['result-*', 'verdicts-*'])('is not %s', async (pattern) => {
    expect(await findingsOf(MANY_LEGS.replace('verdict-*', () => pattern))).toEqual([
      'warning merge-pattern at pattern:',
    ]);
  });

  it('is held against no name that an upload without an archive does not bear', async () => {
    const bare = MANY_LEGS.replace('overwrite: true', 'overwrite: true, archive: false');
    expect(await findingsOf(bare.replace('pattern: verdict-*', 'pattern: result-*'))).not.toContain(
      'warning merge-pattern at pattern:',
    );
  });

  it('is held against the jobs that are needed alone, where they upload at all', async () => {
    const called = MANY_LEGS.replace('actions/upload-artifact@', 'company/upload@').replace(
      'verdict-*',
      'result-*',
    );
    expect(await findingsOf(called)).not.toContain('warning merge-pattern at pattern:');
  });
});

describe('the download', () => {
  const DOWNLOAD = / {6}- uses: actions\/download-artifact@.*\n.*\n/u;

  it('is not forgotten', async () => {
    expect(await findingsOf(MANY_LEGS.replace(DOWNLOAD, ''))).toEqual(['warning merge-folder at verdicts:']);
  });

  it.each(['      - uses: company/download@v1\n', '      - run: gh run download\n'])(
    'may be made by %j',
    async (step) => {
      expect(await findingsOf(MANY_LEGS.replace(DOWNLOAD, () => step))).toEqual([]);
    },
  );

  it.each<[string, string]>([
    ['verdict', 'warning merge-pattern at name:'],
    ['verdict-all', ''],
    ['${{ vars.NAME }}', ''],
  ])('of one artifact, %s, has a name that there may be', async (name, expected) => {
    const text = MANY_LEGS.replace('pattern: verdict-*', () => `name: "${name}"`);
    expect(await foundIn(text)).toBe(expected);
  });
});
