import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { envelope, writeResultFile } from '../../src/reporters/envelope.ts';
import { isObject, parseStrictJson } from '../../src/text/json.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const same = (text: string) => text;

// The fields and their order are in `golden/envelope/`.
describe('envelope', () => {
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
  it('writes one line, signed after masking secrets and replacing unpaired surrogates, signature last', () => {
    const key = 'k'.repeat(32);
    const file = path.join(folder, 'result.json');
    const report = sampleReport({
      ...unpublished('Key sk-canary is cut \ud83d'),
      leg: 'api',
      results: folder,
    });
    writeResultFile(report, secrets, (written) => signEnvelope(written, key));
    const text = readFileSync(file, 'utf8');
    expect(text.split('\n').length).toBe(2);
    const parsed = parseStrictJson(text);
    const whole = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    expect(whole['error']).toBe('Key *** is cut \ufffd');
    expect(Object.keys(whole).at(-1)).toBe('signature');
    expect(verifyEnvelope(whole, key)).toBe(true);
    expect(verifyEnvelope({ ...whole, leg: 'web' }, key)).toBe(false);
  });

  it('throws an InputError and writes nothing if signing fails', () => {
    const results = path.join(folder, 'new');
    const sign = () => {
      throw new Error('no key');
    };
    const write = () => writeResultFile(sampleReport({ results }), secrets, sign);
    expect(write).toThrow(InputError);
    expect(write).toThrow(/^The result file ".*result.json" cannot be written: no key\./);
    expect(existsSync(results)).toBe(false);
  });
});
