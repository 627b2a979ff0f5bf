import { describe, expect, it } from 'vitest';
import { createContract, type StandardValidate } from '../../src/contract/contract.ts';
import { runValidator } from '../../src/contract/validator.ts';

const payload = { n: 1, list: [{ s: 'x' }] };
const keywords = async (validate: StandardValidate) =>
  (await runValidator(validate, payload)).map(({ path, keyword }) => `${path} ${keyword}`);
const accepts: StandardValidate = (value) => ({ value });

describe('runValidator', () => {
  it('accepts what the validator gives back as it is, now or later', async () => {
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
      'a path that leads out of the payload',
      () => ({ issues: [{ message: 'no', path: ['n', 'sk-1'] }] }),
      '/n validate',
    ],
    ['an issue of nothing', () => ({ issues: [null] }), ' validate'],
    ['no issue in the list', () => ({ issues: [] }), ' validate'],
    ['issues that are no list', () => ({ issues: 'x' }), ' validator'],
    ['true', () => true, ' validator'],
    ['nothing', () => undefined, ' validator'],
    ['neither a value nor issues', () => ({}), ' validator'],
    [
      'an exception',
      () => {
        throw new Error('secret words');
      },
      ' validator',
    ],
    ['a rejection', () => Promise.reject(new Error('secret words')), ' validator'],
    [
      'a getter that throws',
      () => ({
        get issues() {
          throw new Error('x');
        },
      }),
      ' validator',
    ],
    [
      'endless recursion',
      function again(value): unknown {
        return [again(value)];
      },
      ' validator',
    ],
    ['a changed value', () => ({ value: { ...payload, n: 2 } }), '/n transform'],
    ['a value filled in', (value) => ({ value: { ...Object(value), more: 1 } }), '/more transform'],
    ['a changed list', () => ({ value: { ...payload, list: [] } }), '/list transform'],
    ['another type', () => ({ value: new Date() }), ' transform'],
    [
      'an endless loop',
      () => {
        for (;;);
      },
      ' deadline',
    ],
    ['a promise that never settles', () => new Promise(() => undefined), ' deadline'],
    [
      'an endless loop in the result',
      () => ({
        get value() {
          for (;;);
        },
      }),
      ' deadline',
    ],
  ])('%s is a rejection', async (_, validate, expected) => {
    expect(await keywords(validate)).toEqual([expected]);
  });

  it('quotes no exception, and cuts and cleans what issues say', async () => {
    const [broken] = await runValidator(() => {
      throw new Error('secret words');
    }, payload);
    expect(broken?.message).not.toContain('secret');
    const message = `a\u001b[31m\n::error::${'x'.repeat(1_000)}`;
    const [issue] = await runValidator(() => ({ issues: [{ message }] }), payload);
    expect(issue?.message).toMatch(/^a \[31m ::error::x+…$/u);
    expect(issue?.message.length).toBe(300);
  });

  it('tells at most ten issues, and how many more there are', async () => {
    const issues = Array.from({ length: 12 }, () => ({ message: 'no' }));
    const found = await runValidator(() => ({ issues }), payload);
    expect([found.length, found.at(-1)?.message]).toEqual([10, 'no (2 more issues not listed.)']);
  });

  it('a rejection that comes after the deadline ends nothing', async () => {
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

  it('gets a copy: what it changes there is not in the payload', async () => {
    const given = { n: 1, list: [{ s: 'x' }] };
    const spoil: StandardValidate = (value) => {
      Reflect.set(Object(value), 'n', 99);
      return { value: payload };
    };
    expect(await runValidator(spoil, given)).toEqual([]);
    expect(given).toEqual(payload);
  });

  it('a property that the validator drops is no difference', async () => {
    expect(await runValidator(() => ({ value: { n: 1 } }), payload)).toEqual([]);
  });
});

describe('a contract with a validator', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } } };
  const above: StandardValidate = (value) =>
    Reflect.get(Object(value), 'n') > 10 ? { value } : { issues: [{ message: 'too small', path: ['n'] }] };
  const accept = async (json: string) =>
    (await createContract(schema, [], above)).accept({ rawArguments: json, status: 'complete' });

  it('accepts what both accept, unchanged', async () => {
    expect(await accept('{"n":11,"x":1}')).toEqual({ ok: true, payload: { n: 11, x: 1 }, repaired: null });
    expect(await accept('{"n":1}')).toMatchObject({
      ok: false,
      issues: [{ path: '/n', keyword: 'validate' }],
    });
    expect(await accept('{"n":"11"}')).toMatchObject({ ok: false, issues: [{ keyword: 'type' }] });
  });

  it('a repaired payload has to pass both', async () => {
    const repaired = { kind: 'unwrapped', key: 'output' };
    expect(await accept('{"output":{"n":11}}')).toEqual({ ok: true, payload: { n: 11 }, repaired });
    expect(await accept('{"output":{"n":1}}')).toMatchObject({ ok: false });
    expect(await accept('"{\\"n\\":1}"')).toMatchObject({ ok: false, issues: [{ keyword: 'validate' }] });
  });
});
