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

/** The example with legs that another job selects. */
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
  ])('may be skipped when there is no leg: if: %s', async (condition) => {
    expect(await findingsOf(planned(condition))).toEqual([]);
  });

  it.each<[string, string]>([
    ["${{ needs.plan.outputs.other != '[]' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs != '' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs == '[]' }}", '${{ needs.plan.outputs.legs }}'],
    ["${{ needs.plan.outputs.legs != '[]' }}", 'a, b, c'],
  ])('reports any other condition that skips it: if: %s, expect: %s', async (condition, expects) => {
    const found = await findingsOf(planned(condition, expects));
    expect(found).toContain('warning merge-skipped at if:');
  });
});

const GATE = '          gate: none # the merge asks for `passed`\n';
const VOTES = '          votes: majority of 3\n';

/** The example with this schema and gate in its legs, and this gate for the merge. */
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
    ['is missing', gated(closed, OWN, ''), 'error leg-ungated at schema:'],
    [
      'is auto while the payload may have more properties',
      gated(open, OWN, of('auto')),
      'warning leg-ungated at schema:',
    ],
    ['is a property', gated(closed, OWN, of('ok')), ''],
    [
      'is a property that the legs do not declare',
      gated(closed, OWN, of('okay')),
      'error leg-ungated at schema:',
    ],
    ['is none', gated(closed, OWN, of('none')), ''],
    ['is a schema', gated(closed, OWN, of(`'{"properties": {"ok": {"const": true}}}'`)), ''],
    ['comes from an expression', gated(closed, OWN, of('${{ vars.GATE }}')), ''],
    ['is set in the legs only', gated(closed, of('ok'), ''), 'warning leg-gate at gate:'],
    [
      'is missing while the payload has passed',
      gated({ ...closed, properties: { passed: { type: 'boolean' } }, required: ['passed'] }, OWN, ''),
      '',
    ],
    [
      'comes from an expression in the legs only',
      gated(closed, of('${{ vars.GATE }}'), ''),
      'warning leg-gate at gate:',
    ],
  ])('that %s', async (_, text, expected) => {
    expect(await foundIn(text)).toBe(expected);
  });
});

describe('the gate of a merge, as a schema or none', () => {
  const passed = { ...closed, properties: { passed: { type: 'boolean' } }, required: ['passed'] };
  it.each<[string, string, string]>([
    ['requires something', `'{"properties": {"passed": {"const": true}}}'`, ''],
    ['requires nothing of a property', `'{"properties": {"passed": {}}}'`, 'error gate-root at gate:'],
    ['is empty', `'{}'`, 'error gate-root at gate:'],
    [
      'requires a property that no leg declares',
      `'{"properties": {"pased": {"const": true}}}'`,
      'error gate-root at gate:',
    ],
    [
      'is met by every payload of the legs',
      `'{"properties": {"passed": {"type": "boolean"}}}'`,
      'error gate-root at gate:',
    ],
    [
      'is met by no payload of the legs',
      `'{"properties": {"passed": {"const": "true"}}}'`,
      'error gate-root at gate:',
    ],
    ['is invalid JSON', `'{"properties": '`, 'error gate-source at gate:'],
    ['is a missing file', `'@gate.json'`, 'error gate-source at gate:'],
    ['is a file', `'@.github/gate.json'`, ''],
    ['is read from another repository', `'@org/judges/gate.json@v1'`, ''],
    ['is none, and so are those of the legs', 'none', 'warning merge-ungated at gate:'],
  ])('%s', async (_, gate, expected) => {
    const files = { '.github/gate.json': '{"properties": {"passed": {"const": true}}}' };
    expect(await foundIn(gated(passed, OWN, of(gate)), files)).toBe(expected);
  });

  it('is none, while the legs have their own', async () => {
    expect(await findingsOf(gated(passed, of('passed'), of('none')))).toEqual(['warning leg-gate at gate:']);
  });
});

const FOLDER = '${{ runner.temp }}/verdicts';

/** The example with this download folder and this verdicts folder. */
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
  ])('may be the download folder: %s, %s', async (download, verdicts) => {
    expect(await findingsOf(folders(download, verdicts))).toEqual([]);
  });

  it.each<[string, string]>([
    [FOLDER, 'verdicts'],
    [FOLDER, '${{ runner.temp }}/verdict'],
    ['verdicts', 'verdict'],
  ])('is reported when it is not the download folder: %s, %s', async (download, verdicts) => {
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

  it.each(['result-*', 'verdicts-*'])('is reported when it matches no artifact: %s', async (pattern) => {
    expect(await findingsOf(MANY_LEGS.replace('verdict-*', () => pattern))).toEqual([
      'warning merge-pattern at pattern:',
    ]);
  });

  it('is not compared with the names of uploads without an archive', async () => {
    const bare = MANY_LEGS.replace('overwrite: true', 'overwrite: true, archive: false');
    expect(await findingsOf(bare.replace('pattern: verdict-*', 'pattern: result-*'))).not.toContain(
      'warning merge-pattern at pattern:',
    );
  });

  it('is not compared when the needed jobs upload with another action', async () => {
    const called = MANY_LEGS.replace('actions/upload-artifact@', 'company/upload@').replace(
      'verdict-*',
      'result-*',
    );
    expect(await findingsOf(called)).not.toContain('warning merge-pattern at pattern:');
  });
});

describe('the download step', () => {
  const DOWNLOAD = / {6}- uses: actions\/download-artifact@.*\n.*\n/u;

  it('is reported when it is missing', async () => {
    expect(await findingsOf(MANY_LEGS.replace(DOWNLOAD, ''))).toEqual(['warning merge-folder at verdicts:']);
  });

  it.each(['      - uses: company/download@v1\n', '      - run: gh run download\n'])(
    'may be %j',
    async (step) => {
      expect(await findingsOf(MANY_LEGS.replace(DOWNLOAD, () => step))).toEqual([]);
    },
  );

  it.each<[string, string]>([
    ['verdict', 'warning merge-pattern at name:'],
    ['verdict-all', ''],
    ['${{ vars.NAME }}', ''],
  ])('of the single artifact %s is compared with the uploaded names', async (name, expected) => {
    const text = MANY_LEGS.replace('pattern: verdict-*', () => `name: "${name}"`);
    expect(await foundIn(text)).toBe(expected);
  });
});
