import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { InputError } from '../../src/errors.ts';
import { envelope, writeResultFile } from '../../src/reporters/envelope.ts';
import { isObject, parseStrictJson } from '../../src/text/json.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';

// The fields and their order are in `golden/envelope/`.
it('an envelope has U+FFFD for unpaired surrogates everywhere except in the payload', () => {
  const issues = [{ path: '/\ud83d', keyword: 'const', message: 'must be \ud83d' }];
  const report = sampleReport({
    gate: { status: 'met', issues },
    repaired: { kind: 'parsed', paths: ['/\udc00'] },
    model: 'm\ud800',
    leg: '\ud83d\ude00\ud83d',
  });
  expect(envelope(report, (text) => text)).toMatchObject({
    gate: { issues: [{ path: '/\ufffd', message: 'must be \ufffd' }] },
    repaired: { paths: ['/\ufffd'] },
    model: 'm\ufffd',
    leg: '\ud83d\ude00\ufffd',
    structured_output: sampleReport().payload,
  });
});

const folder = makeFolder();
const secrets = knowSecrets('sk-canary');
const key = 'k'.repeat(32);
const sign = (written: JsonObject) => signEnvelope(written, key);

describe('writeResultFile', () => {
  it('writes one line, signed after masking secrets and replacing unpaired surrogates, signature last', () => {
    const report = sampleReport({ ...unpublished('Key sk-canary is cut \ud83d'), results: folder });
    writeResultFile(report, secrets, sign);
    const text = readFileSync(path.join(folder, 'result.json'), 'utf8');
    expect(text.split('\n').length).toBe(2);
    const parsed = parseStrictJson(text);
    const whole = parsed.ok && isObject(parsed.value) ? parsed.value : {};
    expect([whole['error'], whole['result']]).toEqual(Array(2).fill('Key *** is cut \ufffd'));
    expect(Object.keys(whole).at(-1)).toBe('signature');
    expect(verifyEnvelope(whole, key)).toBe(true);
    expect(verifyEnvelope({ ...whole, leg: 'web' }, key)).toBe(false);
  });

  it('throws an InputError and writes nothing if signing fails', () => {
    const results = path.join(folder, 'new');
    const report = sampleReport({ results, payload: { text: 'cut \ud83d' } });
    const write = () => writeResultFile(report, secrets, sign);
    expect(write).toThrow(InputError);
    expect(write).toThrow(/^The result file ".*result.json" cannot be written: /);
    expect(existsSync(results)).toBe(false);
  });
});
