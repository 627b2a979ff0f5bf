import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingsOf } from './workflow-world.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../examples/many-legs.yml'), 'utf8');
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
  return EXAMPLE.replace('  judge:\n', () => PLAN)
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
