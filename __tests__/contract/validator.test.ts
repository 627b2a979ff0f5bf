import { describe, expect, it } from 'vitest';
import { createContract, type StandardValidate } from '../../src/contract/contract.ts';
import { runValidator } from '../../src/contract/validator.ts';

const payload = { n: 1, list: [{ s: 'x' }] };
const keywords = async (validate: StandardValidate) =>
  (await runValidator(validate, payload)).map(({ path, keyword }) => `${path} ${keyword}`);
const accepts: StandardValidate = (value) => ({ value });

describe('runValidator', () => {
  it('accepts the value that the validator returns unchanged, sync or async', async () => {
    expect(await runValidator(accepts, payload)).toEqual([]);
    expect(await runValidator(async (value) => ({ value, issues: undefined }), payload)).toEqual([]);
  });

  it.each<[string, StandardValidate, string]>([
    [
      'an issue',
      () => ({ issues: [{ message: 'no', path: ['list', 0, { key: 's' }] }] }),
      '/list/0/s validate',
    ],
    [
      'an issue path outside the payload',
      () => ({ issues: [{ message: 'no', path: ['n', 'sk-1'] }] }),
      '/n validate',
    ],
    ['a null issue', () => ({ issues: [null] }), ' validate'],
    ['an empty list of issues', () => ({ issues: [] }), ' validate'],
    ['issues that are not a list', () => ({ issues: 'x' }), ' validator'],
    ['true', () => true, ' validator'],
    ['undefined', () => undefined, ' validator'],
    ['neither a value nor issues', () => ({}), ' validator'],
    [
      'an exception',
      () => {
        throw new Error('secret words');
      },
      ' validator',
    ],
    ['a rejected promise', () => Promise.reject(new Error('secret words')), ' validator'],
    [
      'endless recursion',
      function again(value): unknown {
        return [again(value)];
      },
      ' validator',
    ],
    ['a changed value', () => ({ value: { ...payload, n: 2 } }), '/n transform'],
    ['an added property', (value) => ({ value: { ...Object(value), more: 1 } }), '/more transform'],
    ['a changed list', () => ({ value: { ...payload, list: [] } }), '/list transform'],
    ['a value of another type', () => ({ value: new Date() }), ' transform'],
    [
      'an endless loop',
      () => {
        for (;;);
      },
      ' deadline',
    ],
    ['a promise that never settles', () => new Promise(() => undefined), ' deadline'],
  ])('%s rejects the payload', async (_, validate, expected) => {
    expect(await keywords(validate)).toEqual([expected]);
  });

  it('never quotes an exception, and sanitizes and truncates issue messages', async () => {
    const [broken] = await runValidator(() => {
      throw new Error('secret words');
    }, payload);
    expect(broken?.message).not.toContain('secret');
    const message = `a\u001b[31m\n::error::${'x'.repeat(1_000)}`;
    const [issue] = await runValidator(() => ({ issues: [{ message }] }), payload);
    expect(issue?.message).toMatch(/^a \[31m ::error::x+…$/u);
    expect(issue?.message.length).toBe(300);
  });

  it('handles a promise that rejects after the deadline', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listen);
    const late = Promise.withResolvers<never>();
    expect(await keywords(() => late.promise)).toEqual([' deadline']);
    late.reject(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  it('passes a copy, so that the validator cannot change the payload', async () => {
    const given = { n: 1, list: [{ s: 'x' }] };
    const spoil: StandardValidate = (value) => {
      Reflect.set(Object(value), 'n', 99);
      return { value: payload };
    };
    expect(await runValidator(spoil, given)).toEqual([]);
    expect(given).toEqual(payload);
  });
});

describe('a contract with a validator', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } } };
  const above: StandardValidate = (value) =>
    Reflect.get(Object(value), 'n') > 10 ? { value } : { issues: [{ message: 'too small', path: ['n'] }] };
  const accept = async (json: string) =>
    (await createContract(schema, [], above)).accept({ rawArguments: json, status: 'complete' });

  it('validates a payload with both, also a repaired one', async () => {
    expect(await accept('{"n":"11"}')).toMatchObject({ ok: false, issues: [{ keyword: 'type' }] });
    const repaired = { kind: 'unwrapped', key: 'output' };
    expect(await accept('{"output":{"n":11}}')).toEqual({ ok: true, payload: { n: 11 }, repaired });
    expect(await accept('{"output":{"n":1}}')).toMatchObject({ ok: false });
    expect(await accept('"{\\"n\\":1}"')).toMatchObject({ ok: false, issues: [{ keyword: 'validate' }] });
  });
});
