/** Findings that are looked up, through the committed bundle: in the envelope, outputs, reports, annotations and SARIF. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { type ActionRun, calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { pullRequestEvent, servePullRequest } from '../support/worlds/pull-request.ts';

const [FIRST, TWICE, MOVED] = [
  'const timeout = computeTimeout(42);',
  '  return normalizeValue(input);',
  'const settings = readConfiguration("b");',
];
const BEFORE = {
  'src/a.ts': 'export const a = 1;\n',
  'src/b.ts': 'export const b = 1;\n',
  'src/other.ts': 'o\n',
};
const A = [
  'export const a = 1;',
  FIRST,
  'export function one(input: string): string {',
  TWICE,
  '}',
  'export function two(input: string): string {',
  TWICE,
  '}',
];
const AFTER = { 'src/a.ts': `${A.join('\n')}\n`, 'src/b.ts': `export const b = 1;\n${MOVED}\n` };

const kept = mkdtempSync(path.join(os.tmpdir(), 'grounding-e2e-'));
let commits: ReturnType<typeof commitChange>;
let hub: GitHubServer;
beforeAll(() => {
  commits = commitChange(kept, BEFORE, AFTER);
});
afterAll(() => rmSync(kept, { recursive: true }));
beforeEach(async () => {
  const added = (text: string) =>
    text
      .split('\n')
      .slice(1, -1)
      .map((line) => `\n+${line}`)
      .join('');
  const files = Object.entries(AFTER).map(([filename, text], at) => ({
    ...{ filename, status: 'modified' as const, additions: text.split('\n').length - 2, deletions: 0 },
    patch: `@@ -1 +1,${text.split('\n').length - 1} @@\n export const ${'ab'[at]} = 1;${added(text)}`,
  }));
  hub = await servePullRequest('Add', files, commits);
});
afterEach(() => hub.close());

const finding = (title: string, more: object) => ({
  ...{ severity: 'error', category: 'correctness', path: 'src/a.ts', title, message: `About ${title}.` },
  ...more,
});
/** One of each status, in this order. */
const FINDINGS = [
  finding('exact', { line: 8, quote: FIRST }),
  finding('moved', { line: 1, quote: MOVED }),
  finding('unproven', { line: 3 }),
  finding('ambiguous', { line: 1, quote: TWICE }),
  finding('ungrounded', { line: 2, quote: 'const invented = thatIsNowhere();' }),
  finding('refuted', { path: 'src/b.ts', line: 1, missing: { path: 'src/other.ts' } }),
  (({ path: _, ...rest }) => rest)(finding('no file', {})),
];
const red = (findings: readonly object[], more: object = {}) => ({
  ...{ passed: false, complete: true, summary: 'No — “really”.', findings, ...more },
});
const GREEN = { passed: true, complete: true, summary: 'Fine.', findings: [] };
const read = calls('shell', { command: 'cat "$TMPDIR/context/diff.patch"' });

type Inputs = Readonly<Record<string, string>>;
const review = (script: readonly Reply[], inputs: Inputs = {}) =>
  runWithoutReading([read, ...script], inputs);

function runWithoutReading(script: readonly Reply[], inputs: Inputs = {}) {
  return runAction({
    prepare: async ({ workspace }) => cpSync(kept, workspace, { recursive: true }),
    script,
    inputs: {
      schema: 'code-review',
      'github-token': 'test-token',
      'sarif-file': 'out.sarif',
      comment: 'always',
      ...inputs,
    },
    github: {
      hub,
      event: pullRequestEvent('Add', commits),
    },
  });
}
const endOf = ({ exitCode, outputs }: ActionRun) =>
  [outputs.get('run-conclusion'), outputs.get('run-reason'), exitCode].join(' ');
const groundingOf = ({ envelope }: ActionRun) => Object(envelope?.['evidence']).grounding;
/** The texts of rejections for findings, as the model got them. */
const sentBack = ({ requests }: ActionRun) =>
  requests.flatMap(({ raw }) => {
    const { messages }: { messages: readonly { role: string; content: string }[] } = JSON.parse(raw);
    const last = messages.at(-1);
    return last?.role === 'tool' && last.content.startsWith('Not taken yet: these findings')
      ? [last.content]
      : [];
  });

interface SarifResult {
  readonly message: { readonly text: string };
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string };
        readonly region: { readonly startLine: number };
      };
    },
  ];
}
const resultsOf = (run: ActionRun) => {
  const sarif: { readonly runs: readonly [{ readonly results: readonly SarifResult[] }] } = JSON.parse(
    run.files['out.sarif'] ?? '',
  );
  return sarif.runs[0].results.map(({ message, locations: [{ physicalLocation }] }) => {
    const { artifactLocation, region } = physicalLocation;
    return [artifactLocation.uri, region.startLine, message.text] as const;
  });
};

describe('a review with findings of each status', () => {
  it('is taken as it is after two rounds, and every report marks them', async () => {
    // The arguments as the model wrote them: with its order, blanks and escapes.
    const payload = JSON.stringify(red(FINDINGS), null, 1).replace('“', '\\u201c');
    const run = await review([submits(payload)]);
    expect(endOf(run)).toBe('failure gate_not_met 1');
    const texts = sentBack(run);
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(text.match(/^- .*$/gmu)).toEqual([
        '- /findings/3/quote: stands at lines 4, 7 of src/a.ts; quote one line more.',
        '- /findings/4/quote: is not in src/a.ts; copy whole lines as they are in the file, without omissions.',
        '- /findings/5/missing/path: src/other.ts exists.',
      ]);
    }
    const { envelope, outputs } = run;
    expect(envelope?.['result']).toBe(JSON.stringify(red(FINDINGS)));
    expect(JSON.stringify(envelope?.['structured_output'])).toBe(JSON.stringify(red(FINDINGS)));
    expect(JSON.parse(outputs.get('structured_output') ?? '')).toEqual(red(FINDINGS));
    expect(envelope).toMatchObject({ rejections: 2, repaired: null });
    const row = (place: string | null, line: number | null, was: number | null, status: string | null) => ({
      ...{ path: place, line, line_was: was, grounding: status },
      label: status === 'exact' || status === 'moved' ? 'in_change' : null,
    });
    expect(envelope?.['evidence']).toMatchObject({
      grounding: {
        ...{ exact: 1, moved: 1, unproven: 1, ambiguous: 1, ungrounded: 1, refuted: 1 },
        corrected_lines: 1,
      },
      findings: [
        row('src/a.ts', 2, 8, 'exact'),
        row('src/b.ts', 2, 1, 'moved'),
        row('src/a.ts', 3, null, 'unproven'),
        row('src/a.ts', 1, null, 'ambiguous'),
        row('src/a.ts', 2, null, 'ungrounded'),
        row('src/b.ts', 1, null, 'refuted'),
        row(null, null, null, null),
      ],
    });
    const notProven = [
      ['no quote', 'unproven'],
      ['stands at several places', 'ambiguous'],
      ['not found in the file', 'ungrounded'],
      ['is there after all', 'refuted'],
    ] as const;
    for (const text of [run.summary, hub.comments()[0]?.body ?? '']) {
      const [shown = '', folded = ''] = text.split('<summary>4 findings not proven</summary>');
      for (const link of ['src/a.ts#L2', 'src/b.ts#L2']) expect(shown).toContain(`${link}) |`);
      expect(shown).toContain('| no file | About no file.');
      for (const [words, title] of notProven)
        expect(folded).toMatch(new RegExp(`^\\| ${words} \\|.*\\| ${title} \\|`, 'mu'));
      expect(folded.split('</details>')[0]).not.toContain('#L');
    }
    // GitHub refuses results without a line, so what is not proven stands on the first line of its file.
    expect(resultsOf(run)).toEqual([
      ['src/a.ts', 2, 'exact: About exact.'],
      ['src/b.ts', 2, 'moved: About moved.'],
      ['src/a.ts', 1, expect.stringMatching(/^Not proven \(no quote\)\. unproven/u)],
      ['src/b.ts', 1, expect.stringMatching(/^Not proven \(is there after all\)\. refuted/u)],
    ]);
    const annotated = parseLog(run.log).flatMap(({ properties: { title, file, line } }) =>
      FINDINGS.some((each) => title?.includes(each.title) === true) ? [[title, file, line]] : [],
    );
    expect(annotated.filter(([, , line]) => line !== undefined)).toEqual([
      ['exact', 'src/a.ts', '2'],
      ['moved', 'src/b.ts', '2'],
    ]);
  });

  it('is accepted at once when all are proven, or none can be', async () => {
    const run = await review([submits(red([FINDINGS[0] ?? {}, FINDINGS[1] ?? {}, FINDINGS[2] ?? {}]))]);
    expect([endOf(run), sentBack(run)]).toEqual(['failure gate_not_met 1', []]);
  });

  it.each([
    ['mark', 1],
    ['off', undefined],
  ])('is not sent back with grounding: %s', async (grounding, ungrounded) => {
    const run = await review([submits(red(FINDINGS))], { grounding });
    expect([endOf(run), sentBack(run)]).toEqual(['failure gate_not_met 1', []]);
    expect(groundingOf(run)?.ungrounded).toBe(ungrounded);
  });

  it('that is corrected is taken as it was corrected', async () => {
    const mended = red([finding('ungrounded', { line: 2, quote: FIRST })]);
    const run = await review([submits(red([FINDINGS[4] ?? {}])), submits(mended)]);
    expect(run.envelope?.['structured_output']).toEqual(mended);
    expect([groundingOf(run).exact, groundingOf(run).ungrounded, sentBack(run).length]).toEqual([1, 0, 1]);
  });
});

describe('a red payload', () => {
  const first = red([FINDINGS[0] ?? {}, FINDINGS[4] ?? {}]);
  const warned = { ...GREEN, findings: [{ ...FINDINGS[4], severity: 'warning' }] };

  it.each<[string, readonly Reply[]]>([
    ['an empty list that passes', [submits(first), submits(GREEN)]],
    ['a shorter list that passes, in two rounds', [submits(first), submits(warned), submits(GREEN)]],
    ['no other payload until the turns are used up', [submits(first), read]],
  ])('that is answered with %s stays red, with all of its findings', async (_, script) => {
    const run = await review(script, { 'max-turns': '4' });
    expect(endOf(run)).toBe('failure gate_not_met 1');
    expect(run.envelope?.['structured_output']).toEqual(first);
    expect(run.outputs.get('passed')).toBe('false');
    expect(groundingOf(run)).toMatchObject({ exact: 1, ungrounded: 1 });
  });

  it('that is answered with a shorter list that is red is the later one', async () => {
    const later = red([FINDINGS[0] ?? {}]);
    const run = await review([submits(first), submits(later)]);
    expect(run.envelope?.['structured_output']).toEqual(later);
  });

  it('needs no coverage, and neither does what it is answered with', async () => {
    const run = await runWithoutReading([submits(first), submits(GREEN)]);
    expect([endOf(run), run.envelope?.['structured_output']]).toEqual(['failure gate_not_met 1', first]);
  });
});

describe('gate-findings: proven', () => {
  const inputs = { 'gate-findings': 'proven' };
  const note = { severity: 'note' };

  it.each([
    ['none of the findings that fail it is proven', [2, 3, 4, 5], 'inconclusive ungrounded 1'],
    ['one of them is proven', [2, 0], 'failure gate_not_met 1'],
    ['one of them is proven elsewhere', [1, 4], 'failure gate_not_met 1'],
  ] as const)('where %s', async (_, which, end) => {
    const run = await review([submits(red(which.map((at) => FINDINGS[at] ?? {})))], inputs);
    expect(endOf(run)).toBe(end);
    const isPublished = end.includes('gate_not_met');
    expect(Object.hasOwn(run.envelope ?? {}, 'structured_output')).toBe(isPublished);
    expect(run.envelope?.['subtype']).toBe(isPublished ? 'gate_not_met' : 'error_evidence');
  });

  it('leaves a payload red that is red without such findings, whatever its notes', async () => {
    const notes = red([{ ...FINDINGS[4], ...note }], { complete: false });
    expect(endOf(await review([submits(notes)], inputs))).toBe('failure gate_not_met 1');
  });

  it('is refused for a schema without findings, and where none is looked up', async () => {
    const schema = '{"type":"object","properties":{"passed":{"type":"boolean"}},"required":["passed"]}';
    for (const more of [{ schema, gate: 'passed' }, { grounding: 'off' }]) {
      const run = await review([submits(GREEN)], { ...inputs, ...more });
      expect(endOf(run)).toBe('inconclusive config 52');
    }
  });
});

describe('in a working directory', () => {
  it('a path relative to it is resolved, and the payload keeps it', async () => {
    const payload = red([
      { ...finding('exact', { line: 2, quote: FIRST }), path: 'a.ts' },
      { ...finding('moved', { line: 1, quote: MOVED }), path: 'a.ts' },
      { ...finding('from the root', { line: 1, quote: MOVED }), path: 'src/b.ts' },
    ]);
    const run = await review([submits(payload)], { 'working-directory': 'src' });
    expect(run.envelope).toMatchObject({
      structured_output: payload,
      evidence: {
        findings: [
          { path: 'src/a.ts', line: 2, grounding: 'exact' },
          { path: 'src/b.ts', line: 2, grounding: 'moved' },
          { path: 'src/b.ts', line: 2, grounding: 'exact' },
        ],
      },
    });
    expect(resultsOf(run).map(([file, line]) => `${file}:${line}`)).toEqual(
      expect.arrayContaining(['src/a.ts:2', 'src/b.ts:2']),
    );
    for (const link of ['src/a.ts#L2', 'src/b.ts#L2']) expect(run.summary).toContain(link);
  });
});
