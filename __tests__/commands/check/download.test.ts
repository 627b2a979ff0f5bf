import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findingsOf } from './workflow-world.ts';

const EXAMPLE = readFileSync(path.join(import.meta.dirname, '../../../examples/many-legs.yml'), 'utf8');
const FOLDER = '${{ runner.temp }}/verdicts';

/** The example that downloads into a folder, and reads another. */
function folders(download: string | null, verdicts: string): string {
  const into = download === null ? '' : `, path: "${download}"`;
  return EXAMPLE.replace(`, path: "${FOLDER}"`, () => into).replace(
    `verdicts: ${FOLDER}`,
    () => `verdicts: "${verdicts}"`,
  );
}

describe('the folder of the verdicts', () => {
  it.each<[string | null, string]>([
    [FOLDER, FOLDER],
    [FOLDER, '${{runner.temp}}/verdicts/'],
    [FOLDER, `${FOLDER}/api`],
    ['verdicts', './verdicts'],
    ['verdicts', '${{ github.workspace }}/verdicts'],
    [null, 'verdicts'],
    ['.', 'verdicts'],
    ['${{ vars.FOLDER }}', 'verdicts'],
    [FOLDER, '${{ env.FOLDER }}/verdicts'],
  ])('is where they are downloaded: %s, %s', async (download, verdicts) => {
    expect(await findingsOf(folders(download, verdicts))).toEqual([]);
  });

  it.each<[string, string]>([
    [FOLDER, 'verdicts'],
    [FOLDER, '${{ runner.temp }}/verdict'],
    ['verdicts', 'verdict'],
  ])('is not another one: %s, %s', async (download, verdicts) => {
    expect(await findingsOf(folders(download, verdicts))).toEqual(['warning merge-folder at verdicts:']);
  });

  it('may be filled by a script', async () => {
    const text = folders(FOLDER, 'verdicts').replace(
      '      - uses: org/structured-agent/merge@v1\n',
      (step) => `      - run: mv "$RUNNER_TEMP/verdicts" .\n${step}`,
    );
    expect(await findingsOf(text)).toEqual([]);
  });
});

describe('the pattern of the download', () => {
  it.each(['verdict-*', 'verdict-security-*', '*', '${{ vars.PREFIX }}*', 'ver*'])(
    'may be %s',
    async (pattern) => {
      expect(await findingsOf(EXAMPLE.replace('verdict-*', () => `"${pattern}"`))).toEqual([]);
    },
  );

  it.each(['result-*', 'verdicts-*'])('is not %s', async (pattern) => {
    expect(await findingsOf(EXAMPLE.replace('verdict-*', () => pattern))).toEqual([
      'warning merge-pattern at pattern:',
    ]);
  });

  it('is held against no name that an upload without an archive does not bear', async () => {
    const bare = EXAMPLE.replace('overwrite: true', 'overwrite: true, archive: false');
    expect(await findingsOf(bare.replace('pattern: verdict-*', 'pattern: result-*'))).not.toContain(
      'warning merge-pattern at pattern:',
    );
  });

  it('is held against the jobs that are needed alone, where they upload at all', async () => {
    const called = EXAMPLE.replace('actions/upload-artifact@', 'company/upload@').replace(
      'verdict-*',
      'result-*',
    );
    expect(await findingsOf(called)).not.toContain('warning merge-pattern at pattern:');
  });
});

describe('the download', () => {
  const DOWNLOAD = / {6}- uses: actions\/download-artifact@.*\n.*\n/u;

  it('is not forgotten', async () => {
    expect(await findingsOf(EXAMPLE.replace(DOWNLOAD, ''))).toEqual(['warning merge-folder at verdicts:']);
  });

  it.each(['      - uses: company/download@v1\n', '      - run: gh run download\n'])(
    'may be made by %j',
    async (step) => {
      expect(await findingsOf(EXAMPLE.replace(DOWNLOAD, () => step))).toEqual([]);
    },
  );

  it.each<[string, readonly string[]]>([
    ['verdict', ['warning merge-pattern at name:']],
    ['verdict-all', []],
    ['${{ vars.NAME }}', []],
  ])('of one artifact, %s, has a name that there may be', async (name, expected) => {
    const text = EXAMPLE.replace('pattern: verdict-*', () => `name: "${name}"`);
    expect(await findingsOf(text)).toEqual(expected);
  });
});
