import { expect, it } from 'vitest';
import { createContract, type StandardValidate } from '../../src/contract/contract.ts';
import { runValidator } from '../../src/contract/standard-schema.ts';

const payload = { n: 1, list: [{ s: 'x' }] };

it('a payload is accepted that the validator accepts, sync or async', async () => {
  expect(await runValidator((value) => ({ value }), payload)).toEqual([]);
  expect(await runValidator(async (value) => ({ value, issues: undefined }), payload)).toEqual([]);
});

const fail = () => {
  throw new Error('secret words');
};
const loop = () => {
  for (;;);
};
const path = ['list', 0, { key: 's' }];
it.each<[string, StandardValidate, string]>([
  ['a changed value', () => ({ value: { ...payload, n: 2 } }), ' transform'],
  ['an issue', () => ({ issues: [{ message: 'no', path }] }), '/list/0/s validate'],
  ['a null issue', () => ({ issues: [null] }), ' validate'],
  ['an empty list of issues', () => ({ issues: [] }), ' validator'],
  ['issues that are not a list', () => ({ issues: 'x' }), ' validator'],
  ['true', () => true, ' validator'],
  ['undefined', () => undefined, ' validator'],
  ['neither a value nor issues', () => ({}), ' validator'],
  ['an exception', fail, ' validator'],
  ['a rejected promise', async () => fail(), ' validator'],
  ['an endless loop', loop, ' validator'],
])('%s rejects the payload', async (_, validate, expected) => {
  const issues = await runValidator(validate, payload);
  expect(issues.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual([expected]);
  expect(JSON.stringify(issues)).not.toContain('secret');
});

it('messages of a validator are sanitized and truncated', async () => {
  const message = `a\u001b[31m\n::error::${'x'.repeat(1_000)}`;
  const [issue] = await runValidator(() => ({ issues: [{ message }] }), payload);
  expect(issue?.message).toMatch(/^a ::error::x+…$/u);
  expect(issue?.message.length).toBe(300);
});

it('a promise that does not settle in time rejects the payload, and is handled if it rejects later', async () => {
  const unhandled: unknown[] = [];
  const listen = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', listen);
  const late = Promise.withResolvers<never>();
  expect(await runValidator(() => late.promise, payload)).toHaveLength(1);
  late.reject(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listen);
  expect(unhandled).toEqual([]);
});

const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const above: StandardValidate = (value) =>
  Reflect.get(Object(value), 'n') > 10 ? { value } : { issues: [{ message: 'too small', path: ['n'] }] };
const accept = async (json: string, validate = above) =>
  (await createContract(schema, validate)).accept({ rawArguments: json, status: 'complete' });

it('a contract validates a payload with both, also a repaired one', async () => {
  expect(await accept('{"n":"11"}')).toMatchObject({ ok: false, issues: [{ keyword: 'type' }] });
  const repaired = { kind: 'unwrapped', key: 'output' };
  expect(await accept('{"output":{"n":11}}')).toEqual({ ok: true, payload: { n: 11 }, repaired });
  expect(await accept('"{\\"n\\":1}"')).toMatchObject({ ok: false, issues: [{ keyword: 'validate' }] });
});

it('a contract accepts what was sent, whatever the validator makes of its copy', async () => {
  const spoil: StandardValidate = (value) => {
    Reflect.set(Object(value), 'n', 99);
    return { value: { n: 11 } };
  };
  expect(await accept('{"n":11}', spoil)).toEqual({ ok: true, payload: { n: 11 }, repaired: null });
});
