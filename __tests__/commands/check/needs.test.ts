import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIn, findingsOf, foundIn, repository } from './workflow-world.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../examples/many-legs.yml'), 'utf8');
const MATRIX = 'matrix: { leg: [correctness, security, compatibility], vote: [1, 2, 3] }';
const EXPECT = 'expect: correctness, security, compatibility';
const MERGE_NEEDS = '    needs: judge\n';
const PLAN = [
  'jobs:\n',
  '  plan:\n',
  '    runs-on: ubuntu-latest\n',
  '    outputs: { legs: "${{ steps.changed.outputs.legs }}" }\n',
  '    steps: [{ id: changed, run: ./changed }]\n',
].join('');

interface Parts {
  readonly judge?: string;
  readonly merge?: string;
  readonly matrix?: string;
  readonly expect?: string;
  readonly plan?: string;
}

/** The example with legs that the job `plan` selects. */
function planned(parts: Parts): string {
  const { judge = '    needs: plan\n', merge = '    needs: [plan, judge]\n', plan = PLAN } = parts;
  const { matrix = 'needs.plan.outputs.legs', expect: list = 'needs.plan.outputs.legs' } = parts;
  return EXAMPLE.replace('jobs:\n  judge:\n', () => `${plan}  judge:\n${judge}`)
    .replace(MERGE_NEEDS, () => merge)
    .replace(MATRIX, () => `matrix: { leg: "\${{ fromJSON(${matrix}) }}", vote: [1, 2, 3] }`)
    .replace(EXPECT, () => `expect: "\${{ ${list} }}"`);
}

describe('outputs of needed jobs', () => {
  it.each<[string, Parts, string]>([
    ['the legs and the merge need the job', {}, ''],
    [
      'the merge does not need the job',
      { merge: '    needs: judge\n' },
      'error not-needed at needs.plan.outputs.legs',
    ],
    ['the legs do not need the job', { judge: '' }, 'error not-needed at needs.plan.outputs.legs)'],
    [
      'the job does not exist',
      { expect: 'needs.pln.outputs.legs' },
      'error not-needed at needs.pln.outputs.legs',
    ],
    [
      'the job name is in brackets',
      { merge: '    needs: judge\n', expect: "needs['plan'].outputs.legs" },
      "error not-needed at needs['plan'].outputs.legs",
    ],
    [
      'the job does not declare the output',
      { expect: 'needs.plan.outputs.leg' },
      'error unknown-output at needs.plan.outputs.leg',
    ],
    ['the job is a called workflow', { plan: 'jobs:\n  plan: { uses: ./.github/workflows/plan.yml }\n' }, ''],
    [
      'a condition of the legs reads it',
      { judge: "    if: ${{ needs.plan.outputs.legs != '[]' }}\n", matrix: "'[1]'" },
      'error not-needed at needs.plan.outputs.legs',
    ],
    ['only the result of a job is read', { expect: 'toJSON(needs.plan.result)' }, ''],
    ['the results of all jobs are read', { expect: 'toJSON(needs.*.result)' }, ''],
  ])('%s', async (_, parts, expected) => {
    expect(await foundIn(planned(parts))).toBe(expected);
  });

  it('are reported with a fix', async () => {
    const folder = repository({
      'a.yml': planned({ merge: '    needs: judge\n' }),
      'b.yml': planned({ expect: 'needs.pln.outputs.legs' }),
      'c.yml': planned({ judge: '', expect: 'needs.verdict.outputs.legs' }),
    });
    const { out } = await checkIn(folder, 'a.yml', 'b.yml', 'c.yml');
    expect(out).toContain('The job "plan" is not among this job\'s needs');
    expect(out).toContain('Add needs: [judge, plan].');
    expect(out).toContain('There is no job "pln", so what is read of it is always empty.');
    expect(out).toContain('Did you mean plan?');
    expect(out).toContain('Add needs: plan.');
    expect(out).toContain('Read what the steps give: steps.ID.outputs.');
  });

  it('are checked in a called workflow with legs of the merge', async () => {
    const called =
      '  more:\n    uses: ./.github/workflows/leg.yml\n    with: { legs: "${{ needs.plan.outputs.legs }}" }\n  verdict:\n';
    const text = planned({ merge: '    needs: [plan, judge, more]\n' }).replace('  verdict:\n', () => called);
    expect(await findingsOf(text)).toEqual(['error not-needed at needs.plan.outputs.legs']);
  });

  it('are not checked in jobs without a leg or a merge', async () => {
    const other =
      '  other:\n    runs-on: ubuntu-latest\n    steps: [{ run: "echo ${{ needs.plan.outputs.legs }}" }]\n';
    expect(await findingsOf(`${planned({})}${other}`)).toEqual([]);
  });
});
