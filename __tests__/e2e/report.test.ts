import { mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';

const TRAP = '</pre><script>document.title = "CANARY"</script><img src=x onerror=alert(1)>';

it('P3 report-file: the page has the payload, no rejected arguments, and runs no hostile content', async () => {
  let mode = 0;
  let place = '';
  const run = await runAction({
    files: { 'a.txt': TRAP },
    script: [
      calls('read_file', { path: 'a.txt' }),
      submits({ passed: 'REJECTED-CANARY' }),
      submits({ passed: true, summary: 'PAYLOAD-CANARY', findings: [] }),
    ],
    inputs: { 'report-file': 'out/report.html' },
    prepare: async ({ workspace }) => {
      place = path.join(workspace, 'out', 'report.html');
    },
    onEnd: () => {
      mode = statSync(place).mode & 0o777;
    },
  });
  expect([run.exitCode, mode]).toEqual([0, 0o600]);
  const page = run.files['out/report.html'] ?? '';
  for (const text of [
    'Success: the gate is met',
    'What was found',
    'PAYLOAD-CANARY',
    'read_file',
    'rejected',
    'Rejected: ',
  ])
    expect(page).toContain(text);
  expect(page).not.toContain('REJECTED-CANARY');
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'report-e2e-')));
  const browser = await openBrowser();
  try {
    writeFileSync(path.join(folder, 'report.html'), page);
    await browser.tab.open(pathToFileURL(path.join(folder, 'report.html')).href);
    expect(
      await browser.tab.evaluate('[document.title, document.images.length, document.scripts.length]'),
    ).toEqual(['Success: the gate is met · structured-agent', 0, 1]);
    expect(await browser.tab.evaluate("document.querySelector('main').textContent")).toContain(TRAP);
    expect(browser.tab.heard).toEqual([]);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
});
