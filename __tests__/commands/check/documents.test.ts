import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIn, repository } from './workflow-world.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const DOCUMENTS = ['README.md', ...readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`)];

/** Rules for mistakes that certainly break a run. No document may contain one. */
const CERTAIN = new Set([
  'no-checkout',
  'no-verdict',
  'input-max-cost-usd',
  'unknown-workflow',
  'yaml',
  'fails-open',
]);

const JOB = `on: push
jobs:
  job:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
`;

/** The workflows of a document, and its snippets of single steps, each with its line. */
function workflowsIn(document: string): readonly { readonly at: string; readonly text: string }[] {
  const text = readFileSync(path.join(ROOT, document), 'utf8');
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gmsu)].flatMap(({ 1: block = '', index }) => {
    const at = `${document}:${text.slice(0, index).split('\n').length}`;
    if (!/^ *uses: org\/structured-agent/mu.test(block)) return [];
    if (/^jobs:/mu.test(block)) return [{ at, text: block }];
    // Steps of a job that checks the repository out.
    return block.startsWith('- ') ? [{ at, text: `${JOB}${block.replace(/^/gmu, '      ')}` }] : [];
  });
}

const blocks = DOCUMENTS.filter((name) => name.endsWith('.md')).flatMap(workflowsIn);

describe('the workflows of the documents', () => {
  it('exist', () => {
    expect(blocks.length).toBeGreaterThan(4);
  });

  it.each(blocks)('$at has no finding that certainly breaks a run', async ({ text }) => {
    const { out } = await checkIn(repository({ 'w.yml': text }), 'w.yml', '--output-format', 'json');
    const { findings }: { findings: { rule: string; message: string }[] } = JSON.parse(out);
    expect(findings.filter(({ rule }) => CERTAIN.has(rule))).toEqual([]);
  });
});
