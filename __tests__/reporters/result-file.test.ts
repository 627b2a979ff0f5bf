import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { envelope, writeResultFile } from '../../src/reporters/envelope.ts';
import { isObject, parseStrictJson } from '../../src/text/json.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'result-')));
afterAll(() => rmSync(folder, { recursive: true }));
const secrets = createSecrets();
secrets.add('sk-canary');

describe('writeResultFile', () => {
  it('P5 writes the whole envelope, however large, as one line', () => {
    const report = sampleReport({
      payload: { text: 'x\u2028\n'.repeat(1024 * 1024) },
      resultFile: path.join(folder, 'result.json'),
    });
    writeResultFile(report, secrets);
    const text = readFileSync(path.join(folder, 'result.json'), 'utf8');
    expect(text.split('\n').length).toBe(2);
    expect(JSON.parse(text)).toEqual(envelope(report, secrets.mask));
  });

  it('signs what it writes, secrets masked and halves of characters mended, the signature last', () => {
    const key = 'k'.repeat(32);
    const file = path.join(folder, 'signed.json');
    const report = sampleReport({
      ...unpublished('Key sk-canary is cut \ud83d'),
      leg: 'api',
      resultFile: file,
    });
    writeResultFile(report, secrets, (told) => signEnvelope(told, key));
    const parsed = parseStrictJson(readFileSync(file, 'utf8'));
    const whole = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    expect(whole['error']).toBe('Key *** is cut \ufffd');
    expect(Object.keys(whole).at(-1)).toBe('signature');
    expect(verifyEnvelope(whole, key)).toBe(true);
    expect(verifyEnvelope({ ...whole, leg: 'web' }, key)).toBe(false);
  });

  it('what cannot be signed is not written', () => {
    const report = sampleReport({ resultFile: path.join(folder, 'unsigned.json') });
    const sign = () => {
      throw new Error('no key');
    };
    expect(() => writeResultFile(report, secrets, sign)).toThrow(InputError);
    expect(readdirSync(folder)).not.toContain('unsigned.json');
  });

  it('masks secrets in the error', () => {
    const report = sampleReport({
      ...unpublished('Key sk-canary is wrong.'),
      resultFile: path.join(folder, 'error.json'),
    });
    writeResultFile(report, secrets);
    expect(JSON.parse(readFileSync(path.join(folder, 'error.json'), 'utf8'))).toMatchObject({
      error: 'Key *** is wrong.',
    });
  });

  it('a folder that the agent swapped for a link is an InputError, and nothing is written behind it', () => {
    const hooks = path.join(folder, 'hooks');
    mkdirSync(hooks);
    symlinkSync(hooks, path.join(folder, 'out'));
    const write = () =>
      writeResultFile(sampleReport({ resultFile: path.join(folder, 'out', 'pre-commit') }), secrets);
    expect(write).toThrow(InputError);
    expect(write).toThrow(/^result-file ".*pre-commit" cannot be written: .*symbolic link/);
    expect(readdirSync(hooks)).toEqual([]);
  });

  it('a file that cannot be written is an InputError that names the input', () => {
    const write = () =>
      writeResultFile(sampleReport({ resultFile: path.join(folder, 'error.json', 'x') }), secrets);
    expect(write).toThrow(InputError);
    expect(write).toThrow(/^result-file ".*error\.json/);
    writeResultFile(sampleReport({ resultFile: null }), secrets);
  });
});
