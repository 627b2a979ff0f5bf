import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sarifLog } from '../../src/reporters/sarif.ts';
import { sampleReport } from './sample-report.ts';
import { openSarif } from './sarif-world.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();

function usual() {
  const workspace = make();
  workspace.checkout('sub', 'https://github.com/octo/demo');
  workspace.write('sub/src/a b#.js', 'one\ntwo\nthree\n');
  return workspace;
}

describe('sarifLog', () => {
  it('contains the tool, the commit, the category and the findings with locations', async () => {
    const findings = [
      {
        severity: 'high',
        category: 'Injection',
        path: 'src/a b#.js',
        line: 2,
        end_line: 3,
        title: 'SQL injection',
        message: 'Not escaped.',
      },
      { severity: 'low', path: 'sub/src/a b#.js', message: 'About the file.' },
    ];
    const { log, problems } = await openSarif(usual()).write({ findings });
    expect(problems).toEqual([]);
    await expect(`${JSON.stringify(log, null, 2)}\n`).toMatchFileSnapshot('../golden/findings.sarif');
  });

  it('contains no commit and no URL outside GitHub', async () => {
    const sarif = openSarif(usual(), { serverUrl: null, informationUri: null });
    const { run, problems } = await sarif.write({});
    expect([problems, run.versionControlProvenance, 'informationUri' in run.tool.driver]).toEqual([
      [],
      undefined,
      false,
    ]);
  });

  it("has a distinct category for each key, within GitHub's length limit", async () => {
    const long = 'x'.repeat(300);
    const keys = ['CI/review/node-24', 'CI {24}', 'CI [24]', '', '/', 'a\n<b>', `${long}1`, `${long}2`, '😀'];
    const ids: string[] = [];
    for (const category of keys)
      ids.push((await openSarif(usual(), { category }).write({})).run.automationDetails.id);
    expect(ids[0]).toBe('structured-agent/CI/review/node-24/');
    expect(ids[1]).toMatch(/^structured-agent\/CI-24--[0-9a-f]{8}\/$/);
    expect(new Set(ids).size).toBe(keys.length);
    for (const id of ids) expect(id).toMatch(/^structured-agent\/[^\s<>[\]{}]{1,210}\/$/);
  });

  it('contains no links, invisible characters or secrets from the model', async () => {
    const message = 'see [here](https://evil.example) or [1](1) \u202e\x1b[31m sk-canary-123 \ud83d';
    const findings = [
      { severity: 'error', path: 'src/a b#.js', line: 1, rule: 'r](x) sk-canary-123', message },
    ];
    const { text, run, problems } = await openSarif(usual()).write(JSON.parse(JSON.stringify({ findings })));
    expect(problems).toEqual([]);
    expect(run.results[0]?.message.text).toBe('see [here] (https://evil.example) or [1] (1)  *** \ufffd');
    expect(text).not.toMatch(/sk-canary|\]\(/);
  });

  it("reports omitted findings: those without a location and those above GitHub's limits", async () => {
    const workspace = usual();
    writeFileSync(path.join(workspace.root, 'sub/long.js'), 'x\n'.repeat(6_000));
    const findings = [
      { severity: 'error', message: 'nowhere' },
      ...Array.from({ length: 5_100 }, (_, at) => ({
        severity: at === 5_050 ? 'error' : 'note',
        path: 'long.js',
        line: at + 1,
        message: 'm',
      })),
    ];
    const { run, problems } = await openSarif(workspace).write({ findings });
    expect([problems, run.results.length, run.results[0]?.level]).toEqual([[], 5_000, 'error']);
    expect(run.invocations[0]?.toolExecutionNotifications.map(({ message }) => message.text)).toEqual([
      '1 finding left out: they name no file of the repository, without which GitHub refuses the whole log.',
      '100 results left out, the least grave: the log would be too large for GitHub.',
    ]);
  });

  it('stays below 10 MB by shortening messages, then dropping the least severe findings', async () => {
    const alerts = Array.from({ length: 4_000 }, (_, at) => ({
      severity: 'note' as const,
      place: { path: `${'p'.repeat(2_500)}${at}`, line: 1, endLine: null, column: null, source: null },
      ruleId: 'finding',
      message: 'm'.repeat(4_000),
      fingerprints: { a: String(at) },
    }));
    const rules = new Map([['finding', { id: 'finding', name: 'Finding', securityScore: null }]]);
    const facts = { version: '1', informationUri: null, category: 'c', serverUrl: null };
    const log = (count: number) =>
      sarifLog(
        sampleReport(),
        { alerts: alerts.slice(0, count), rules, total: count, findings: count, placed: count },
        facts,
      );
    const [few, many] = [log(2_000), log(4_000)];
    expect([few.results, many.results]).toEqual([2_000, 2_000]);
    for (const { text } of [few, many]) expect(Buffer.byteLength(text)).toBeLessThan(10_000_000);
  });

  it("is valid by the schema and GitHub's rules for any payload", async () => {
    const workspace = usual();
    const sarif = openSarif(workspace);
    const words = [
      'src/a b#.js',
      'sub/src/a b#.js:2',
      'high',
      'note',
      '',
      ' ',
      '{0}',
      '[x](1)',
      '../x',
      'CWE-79',
    ];
    const word = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 12 }));
    const value = fc.oneof(word, word, fc.integer({ min: -2, max: 5 }), fc.jsonValue());
    const key = fc.constantFrom(...'path file line end_line column message title severity rule'.split(' '));
    const row = fc.oneof(
      fc.dictionary(key, value),
      fc.record({ path: fc.constant('src/a b#.js'), message: word, line: value, rule: value }),
    );
    const payload = fc.dictionary(
      fc.oneof(fc.constantFrom('findings', 'failures', 'issues'), word),
      fc.array(row),
    );
    await fc.assert(
      fc.asyncProperty(payload, async (each) => {
        const clean: unknown = JSON.parse(JSON.stringify(each).toWellFormed());
        if (typeof clean !== 'object' || clean === null) return;
        const { problems } = await sarif.write({ ...clean });
        expect(problems).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
