import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { envelope, writeResultFile } from '../../src/reporters/envelope.ts';
import { isObject, parseStrictJson } from '../../src/text/json.ts';
import { JSON_TEXT } from '../../src/text/limits.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const same = (text: string) => text;

// The fields and their order are in `golden/envelope/`.
describe('envelope', () => {
  it('can be parsed again by a merge at the maximum payload depth', () => {
    const deepest = `{"a":${'['.repeat(JSON_TEXT.payloadDepth - 1)}${']'.repeat(JSON_TEXT.payloadDepth - 1)}}`;
    const text = JSON.stringify(envelope(sampleReport({ payload: JSON.parse(deepest) }), (each) => each));
    expect(parseStrictJson(text).ok).toBe(true);
  });

  it('replaces unpaired surrogates with U+FFFD everywhere except in the payload', () => {
    const issues = [{ path: '/\ud83d', keyword: 'const', message: 'must be \ud83d' }];
    const written = envelope(
      sampleReport({
        gate: { status: 'met', issues },
        repaired: { kind: 'parsed', paths: ['/\udc00'] },
        model: 'm\ud800',
        leg: '\ud83d\ude00\ud83d',
      }),
      same,
    );
    expect(written).toMatchObject({
      gate: { issues: [{ path: '/\ufffd', message: 'must be \ufffd' }] },
      repaired: { paths: ['/\ufffd'] },
      model: 'm\ufffd',
      leg: '\ud83d\ude00\ufffd',
      structured_output: sampleReport().payload,
    });
    const failed = envelope(sampleReport(unpublished('cut \ud83d')), same);
    expect([failed['error'], failed['result']]).toEqual(['cut \ufffd', 'cut \ufffd']);
  });
});

const folder = makeFolder();
const secrets = knowSecrets('sk-canary');

describe('writeResultFile', () => {
  it('P5 writes the whole envelope on one line at any size', () => {
    const report = sampleReport({
      payload: { text: 'x\u2028\n'.repeat(1024 * 1024) },
      results: folder,
    });
    writeResultFile(report, secrets);
    const text = readFileSync(path.join(folder, 'result.json'), 'utf8');
    expect(text.split('\n').length).toBe(2);
    expect(JSON.parse(text)).toEqual(envelope(report, secrets.mask));
  });

  it('signs the envelope after masking secrets and replacing unpaired surrogates, signature last', () => {
    const key = 'k'.repeat(32);
    const file = path.join(folder, 'result.json');
    const report = sampleReport({
      ...unpublished('Key sk-canary is cut \ud83d'),
      leg: 'api',
      results: folder,
    });
    writeResultFile(report, secrets, (written) => signEnvelope(written, key));
    const parsed = parseStrictJson(readFileSync(file, 'utf8'));
    const whole = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    expect(whole['error']).toBe('Key *** is cut \ufffd');
    expect(Object.keys(whole).at(-1)).toBe('signature');
    expect(verifyEnvelope(whole, key)).toBe(true);
    expect(verifyEnvelope({ ...whole, leg: 'web' }, key)).toBe(false);
  });

  it('writes no file when signing fails', () => {
    const empty = path.join(folder, 'empty');
    mkdirSync(empty);
    const report = sampleReport({ results: empty });
    const sign = () => {
      throw new Error('no key');
    };
    expect(() => writeResultFile(report, secrets, sign)).toThrow(InputError);
    expect(readdirSync(empty)).toEqual([]);
  });

  it('throws an InputError and writes nothing when the agent replaced a directory with a link', () => {
    const hooks = path.join(folder, 'hooks');
    mkdirSync(hooks);
    symlinkSync(hooks, path.join(folder, 'out'));
    const write = () => writeResultFile(sampleReport({ results: path.join(folder, 'out') }), secrets);
    expect(write).toThrow(InputError);
    expect(write).toThrow(/^The result file ".*result.json" cannot be written: .*symbolic link/);
    expect(readdirSync(hooks)).toEqual([]);
  });
});
