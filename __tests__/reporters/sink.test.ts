import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/types.ts';
import { makeFolder } from '../support/surroundings.ts';
import type { ToldScript } from '../support/worlds/reporting-process.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport } from './sample-report.ts';

const folder = makeFolder();
const program = fileURLToPath(new URL('../support/worlds/reporting-process.ts', import.meta.url));

/** Far more than the buffer of a pipe. */
const large: JsonObject = { passed: true, summary: 'ä€😀'.repeat(400_000) };
const largeText = `${JSON.stringify(large)}\n`;
const remark = { type: 'notice', level: 'info', text: 'REMARK' } as const;
let count = 0;

function scriptFile(script: Partial<ToldScript>): string {
  count += 1;
  const file = path.join(folder, `${count}.json`);
  const report = sampleReport({ payload: large });
  writeFileSync(file, JSON.stringify({ format: 'text', report, ...script }));
  return file;
}

/** Starts the process; its standard streams are pipes. */
function start(script: Partial<ToldScript>) {
  const child = spawn(process.execPath, [program, scriptFile(script)], { stdio: 'pipe' });
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  return { child, stderr: () => stderr, seen: (text: string) => seen(child, () => stderr, text) };
}

/** Waits until stderr contains a text. */
async function seen(child: ChildProcess, stderr: () => string, text: string): Promise<void> {
  while (!stderr().includes(text)) await once(child.stderr ?? child, 'data');
}

/** Runs a shell line in which `$RUN` is the process, and its stdout a file or whatever the line makes of it. */
async function shell(line: string, script: Partial<ToldScript>) {
  const environment = {
    ...process.env,
    NODE: process.execPath,
    PROGRAM: program,
    SCRIPT: scriptFile(script),
  };
  const child = spawn('/bin/sh', ['-c', line.replaceAll('$RUN', '"$NODE" "$PROGRAM" "$SCRIPT"')], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    texts.stdout += data;
  });
  child.stderr.on('data', (data) => {
    texts.stderr += data;
  });
  const [code] = await once(child, 'close');
  return { code, ...texts };
}

const sentences = (stderr: string) =>
  stderr.split('\n').filter((each) => each.startsWith('structured-agent: '));

describe('stdout as a pipe', () => {
  it('a slow reader receives everything', async () => {
    const { child, seen } = start({ steps: [remark] });
    await seen('REMARK');
    // Nothing has been read yet, and a pipe buffers 64 KiB.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const parts: Buffer[] = [];
    child.stdout.on('data', (data) => parts.push(data));
    const [code] = await once(child, 'close');
    expect(Buffer.concat(parts).toString('utf8') === largeText).toBe(true);
    expect(code).toBe(0);
  });

  it('a reader that closes early ends the run with 52 and one sentence', async () => {
    const { child, stderr } = start({ quiet: true });
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = await once(child, 'close');
    expect(code).toBe(52);
    expect(stderr()).toBe(
      'structured-agent: stdout did not take everything: its reader left before the end (EPIPE). Read it to the end, or send it to a file.\n',
    );
  });

  it('a reader that closes during stream-json ends the run', async () => {
    const { child, stderr } = start({
      format: 'stream-json',
      steps: [...sampleEvents.slice(0, 3), { type: 'wait' }, ...sampleEvents.slice(3), { type: 'wait' }],
    });
    // Nothing is written to end the second wait: only the closed pipe ends it.
    child.stdout.once('data', () => {
      child.stdout.destroy();
      child.stdin.write('\n');
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(52);
    expect(sentences(stderr()).length).toBe(1);
    expect(stderr().match(/EPIPE/g)?.length).toBe(1);
  });
});

describe('stdout that is not a pipe', () => {
  it('a file receives everything, and a disk that becomes full while writing ends with 52', async () => {
    expect((await shell('$RUN > whole.json', { quiet: true })).code).toBe(0);
    expect(readFileSync(path.join(folder, 'whole.json'), 'utf8') === largeText).toBe(true);
    const { code, stderr } = await shell('ulimit -f 1; $RUN > cut.json', { quiet: true });
    expect([code, sentences(stderr).length]).toEqual([52, 1]);
    expect(stderr).toContain('EFBIG');
  });

  it.each([
    ['a full disk', '$RUN > /dev/full', 52, /there is no space left where it goes \(ENOSPC\)/u],
    ['a descriptor that cannot be written', '$RUN 1< /etc/passwd', 52, /stdout did not take everything/u],
    ['a closed descriptor', '$RUN >&-', 0, /^$/u],
    ['no device', '$RUN > /dev/null', 0, /^$/u],
  ])('%s', async (_, line, code, says) => {
    const ended = await shell(line, { quiet: true, report: sampleReport() });
    expect([ended.code, ended.stdout, sentences(ended.stderr).length]).toEqual([
      code,
      '',
      code === 0 ? 0 : 1,
    ]);
    expect(ended.stderr).toMatch(says);
  });
});
