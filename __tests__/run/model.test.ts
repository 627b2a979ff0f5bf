import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRecordingFile } from '../../src/replay/recording-file.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { base, file, green, record } from '../support/worlds/recorded-run.ts';

describe('a recorded run', () => {
  it('says loudly where it is recorded, and leaves a file that only its owner reads', async () => {
    const { report, notices } = await record([green]);
    expect(report.verdict.exitCode).toBe(0);
    expect(notices).toContainEqual(
      expect.stringMatching(
        /recorded in .*recording\.jsonl: all that the model says, arguments of structured_output included/u,
      ),
    );
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readFile(file(), 'utf8')).toContain('\\"summary\\":\\"fine\\"');
    expect(report).not.toHaveProperty('replayed');
  });

  it.each(['.git/x.jsonl', '.github/recordings/x.jsonl', 'vendored/.GIT/x'])('is not %s', async (name) => {
    const recording = createRecordingFile(path.join(base, 'workspace', name));
    const { report } = await record([green], {}, { recording });
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toContain('Nothing is recorded in .git or .github');
  });

  it('holds the failures of the API, too', async () => {
    const refused: Reply = { error: { message: 'tool_choice is not supported' }, status: 400 };
    await record((_, at) => [{ text: 'Well.' }, refused][at] ?? green);
    const lines = (await readFile(file(), 'utf8')).trimEnd().split('\n').slice(1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { type: 'answer', asked: { tool_choice: 'auto', after: 'task' } },
      {
        type: 'failure',
        failure: 'tool_choice',
        asked: { tool_choice: 'structured_output', after: 'reminder' },
      },
      { type: 'answer', asked: { tool_choice: 'auto', after: 'reminder' } },
    ]);
  });

  it('leaves an older recording alone where the run never comes to a model', async () => {
    await writeFile(file(), 'older');
    const { report } = await record([green], { schema: '{"type":"string"}' });
    expect(report.verdict.exitCode).toBe(52);
    expect(await readFile(file(), 'utf8')).toBe('older');
  });

  it('ends as it would, with a warning, where the recording cannot be written', async () => {
    const recording = createRecordingFile(path.join(base, 'workspace'));
    const { report, warnings } = await record([green], {}, { recording });
    expect(report.verdict.exitCode).toBe(0);
    expect(warnings).toEqual([expect.stringContaining('record: The recording is not whole')]);
  });
});
