/** What the agent writes proves nothing, wherever it may write. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocator } from '../../src/reporters/source-locations.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { judge, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { base, command } from '../support/worlds/run.ts';

const OWN = 'const invented = "by the agent";';
const SHOWN = 'export const shown = "to everyone";';
const OTHER = 'export const other = "in another file";';
const LEFT = 'export const left = "as it was";';
const FILES = {
  'left.ts': `${LEFT}\n`,
  'a.ts': `${SHOWN}\n`,
  'b.ts': `${OTHER}\n`,
  'src/c.ts': `${OTHER}\n`,
};

describe.runIf(HAS_BWRAP)('what the agent wrote is no proof', () => {
  it.each([
    ['a new file', `echo '${OWN}' >new.ts`, 'new.ts', OWN],
    ['a changed file', `echo '${OWN}' >>a.ts`, 'a.ts', OWN],
    ['a file whose times are set back', `echo '${OWN}' >a.ts; touch -d 2001-01-01 a.ts`, 'a.ts', OWN],
    ['another file of that name', 'mv -f b.ts a.ts', 'a.ts', OTHER],
    ['a link to another file', 'ln -sf b.ts a.ts', 'a.ts', OTHER],
    ['a second name of another file', 'ln -f b.ts a.ts', 'a.ts', OTHER],
    ['a temporary file', `echo '${OWN}' >/tmp/t.ts`, '/tmp/t.ts', OWN],
    ['a pipe', 'rm a.ts; mkfifo a.ts', 'a.ts', OWN],
    ['a huge sparse file', 'truncate -s 1T a.ts', 'a.ts', OWN],
  ])('%s', async (_, line, name, quote) => {
    const workspace = path.join(base, 'workspace');
    commitChange(workspace, {}, FILES);
    const locate = createLocator({ workspace, workingDirectory: '.', repositories: [] });
    const about = { severity: 'warning', message: 'Look.', line: 1 };
    const findings = [
      { ...about, path: name, quote },
      { ...about, path: 'left.ts', quote: LEFT },
    ];
    const { report } = await judge(
      [command(line), submit('verdict', { findings })],
      { sandbox: 'required', grounding: 'mark' },
      { locate },
    );
    const [found, left] = report.evidence?.findings ?? [];
    expect(left?.grounding).toBe('exact');
    // A link and a second name lead to the other file itself, which the agent has not written.
    const isThere = found?.grounding === 'exact' && found.path !== name;
    expect(isThere ? 'there' : found?.grounding).toMatch(/^(?:there|unproven|ungrounded)$/u);
  });
});
