import { expect, it } from 'vitest';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';

const TRAP = '</pre><script>document.title = "CANARY"</script><img src=x onerror=alert(1)>';

it('the page of a run has the payload and the conversation, and no rejected arguments', async () => {
  const run = await runAction({
    files: { 'a.txt': TRAP },
    script: [
      calls('read_file', { path: 'a.txt' }),
      submits({ passed: 'REJECTED-CANARY' }),
      submits({ passed: true, summary: 'PAYLOAD-CANARY', findings: [] }),
    ],
  });
  expect(run.exitCode).toBe(0);
  const page = run.results['report.html'] ?? '';
  for (const text of ['<h1>Passed</h1>', 'PAYLOAD-CANARY', 'read_file', 'Rejected: ', 'onerror'])
    expect(page).toContain(text);
  expect(page).not.toMatch(/REJECTED-CANARY|<script|<img/u);
});
