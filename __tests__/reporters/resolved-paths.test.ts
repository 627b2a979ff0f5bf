import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import type { WrittenLocation } from '../../src/reporters/findings.ts';
import { asWritten } from '../../src/reporters/links.ts';
import { createSarif } from '../../src/reporters/sarif.ts';
import {
  createLocator,
  locateByEvidence,
  resolvedPaths,
  resolveFindings,
  type SourceLocation,
} from '../../src/reporters/source-locations.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject } from '../../src/types.ts';
import { captureLog } from '../support/surroundings.ts';
import { sampleReport } from './sample-report.ts';
import { locator, workspaces } from './workspace-world.ts';

const make = workspaces();

/** A locator for two packages with a file of the same name, with one of them as the working directory. */
function monorepo() {
  const workspace = make();
  workspace.checkout('.', 'https://github.com/octo/demo');
  workspace.write('packages/api/index.js', 'one\ntwo\n');
  workspace.write('packages/web/index.js', 'one\n');
  const find = locator(workspace, { from: 'packages/api' });
  return ({ path: written, line, endLine, column }: WrittenLocation): SourceLocation | null =>
    find(written, line, endLine, column);
}

const pathsOf = (payload: JsonObject) => resolveFindings(payload, monorepo()).map((each) => each.path);

describe('the evidence of findings', () => {
  it('has one entry for each row, in the order of the rows', () => {
    const findings = [
      { path: 'index.js', line: 1, message: 'in the working directory' },
      { path: 'packages/web/index.js:1', message: 'from the root' },
      { path: 'gone.js', message: 'nowhere' },
      { message: 'about no file' },
      { path: '../../../../etc/passwd', message: 'outside' },
      { path: '/etc/passwd', message: 'outside' },
      { path: 'x\0y', message: 'odd' },
      { path: 'x'.repeat(1_000_000), message: 'long' },
      'no object',
    ];
    expect(pathsOf({ findings })).toEqual([
      'packages/api/index.js',
      'packages/web/index.js',
      ...Array.from({ length: 7 }, () => null),
    ]);
  });

  it('uses the only list with file names when there is no `findings` list', () => {
    const failures = [{ test: 'adds', path: 'index.js' }, { test: 'subtracts' }];
    expect(pathsOf({ failures, numbers: [1, 2], notes: [{ text: 'x' }] })).toEqual([
      'packages/api/index.js',
      null,
    ]);
    expect(pathsOf({ failures, others: [{ path: 'index.js', message: 'x' }] })).toEqual([]);
    expect(pathsOf({ findings: [], failures })).toEqual([]);
    expect(pathsOf({ passed: true })).toEqual([]);
  });
});

describe('resolvedPaths', () => {
  const payload = {
    findings: [
      { path: 'index.js:1', message: 'x' },
      { path: 'gone.js', message: 'y' },
    ],
  };

  it('maps each written path to its resolved path', () => {
    const resolved = resolvedPaths(payload, [{ path: 'packages/api/index.js' }, { path: null }]);
    expect([...resolved]).toEqual([
      ['index.js', 'packages/api/index.js'],
      ['gone.js', null],
    ]);
  });

  it.each([[[]], [[{ path: 'a' }]], [[{ path: 'a' }, { path: 'b' }, { path: 'c' }]]])(
    'returns nothing when the number of entries differs: %j',
    (findings) => {
      expect(resolvedPaths(payload, findings).size).toBe(0);
    },
  );
});

describe('locateByEvidence', () => {
  const payload = { findings: [{ path: 'index.js', line: 2, message: 'x' }] };
  const written = { path: 'index.js', line: 2, endLine: null, column: null };
  const evidence = (path: string | null) =>
    ({ context: 'none', toolCalls: 1, findings: [{ path }] }) as const;

  it('returns the resolved file, even if the path is ambiguous', () => {
    const web = locateByEvidence({ payload, evidence: evidence('packages/web/index.js') }, monorepo());
    expect(web(written)).toMatchObject({ path: 'packages/web/index.js', line: null });
    const taken = locateByEvidence({ payload, evidence: evidence('packages/web/index.js') }, asWritten);
    expect(taken(written)).toMatchObject({ path: 'packages/web/index.js', line: 2 });
    expect(locateByEvidence({ payload, evidence: evidence(null) }, monorepo())(written)).toBeNull();
  });

  it('searches for the file when there is no evidence', () => {
    for (const given of [null, undefined]) {
      const report = given === undefined ? { payload } : { payload, evidence: given };
      expect(locateByEvidence(report, monorepo())(written)).toMatchObject({
        path: 'packages/api/index.js',
        line: 2,
      });
    }
    const locate = monorepo();
    expect(locateByEvidence({ payload: null, evidence: evidence('a') }, locate)).toBe(locate);
  });
});

describe('the resolved path of a finding', () => {
  it('is used in annotations, SARIF, summary and comment, even if the path is ambiguous', async () => {
    const workspace = make();
    workspace.checkout('.', 'https://github.com/octo/demo');
    workspace.write('index.js', 'root\n');
    workspace.write('packages/web/index.js', 'one\n');
    const places = { workspace: workspace.root, workingDirectory: '.', repositories: ['octo/demo'] };
    const locate = createLocator(places);
    const secrets = createSecrets();
    const payload = { findings: [{ path: 'index.js', line: 1, severity: 'error', message: 'x' }] };
    const findings = [{ path: 'packages/web/index.js' }];
    const report = sampleReport({ payload, evidence: { context: 'none', toolCalls: 1, findings } });
    const { log, text } = captureLog();
    const { signal } = new AbortController();
    const annotations = createAnnotations({ log, mode: 'findings', locate, elsewhere: 'the summary' });
    await annotations.report?.(report, signal);
    const file = path.join(workspace.root, 'out.sarif');
    const facts = { version: '0', informationUri: null, category: 'c', serverUrl: null };
    const sarif = createSarif({ file, locate, secrets, notify: () => undefined, ...facts });
    await sarif.report?.(report, signal);
    const page = { secrets, serverUrl: 'https://github.com', locate };
    const shown = [
      text(),
      readFileSync(file, 'utf8'),
      summaryMarkdown(report, page, 1e6),
      commentBody(report, 'key', page),
      summaryMarkdown(report, { secrets, serverUrl: 'https://github.com' }, 1e6),
    ];
    for (const each of shown) expect(each).toMatch(/(?:file=|"uri":"|\/)packages\/web\/index\.js/u);
  });
});
