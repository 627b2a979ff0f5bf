import { expect, it } from 'vitest';
import { INPUTS } from '../../src/config/inputs.ts';
import { messageOf } from '../../src/errors.ts';
import { configFrom, onlyProblem, parseInputs, readActionInputs } from '../support/fakes/runner/inputs.ts';

type Texts = Readonly<Record<string, string>>;
const least: Texts = { prompt: 'Judge.', model: 'claude-sonnet-5-5', 'api-key': 'sk-1' };
const urlOf = { 'base-url': 'http://127.0.0.1:1/v1' };

/** The input and the message of the only problem. */
function refusal(inputs: Texts, environment: Texts = {}) {
  const problem = onlyProblem(parseInputs(inputs, environment).problems);
  return { input: problem.input, message: messageOf(problem) };
}

it('each input has the default that its table says, except the task, the model and the key', async () => {
  const config = configFrom(least);
  await expect(JSON.stringify(config, null, 2)).toMatchFileSnapshot('../golden/config/defaults.txt');
  const given = INPUTS.filter(({ name, default: value }) => value !== '' && name !== 'comment-key');
  const typed = Object.fromEntries(given.map(({ name, default: value }) => [name, value]));
  expect(configFrom({ ...typed, ...least, 'github-token': '' })).toEqual(config);
});

it('reads every input', async () => {
  const config = configFrom({
    ...{ 'prompt-file': 'task.md', schema: '{}', gate: 'off', provider: 'OpenAI', model: 'my-model' },
    ...{ 'api-key': 'k', 'base-url': 'https://gateway.example.com/v1/', 'max-output-tokens': '2000' },
    ...{ headers: 'X-Team:  blue team \r\n\nX-Route: a:b', 'reasoning-effort': 'high', 'max-turns': '-1' },
    ...{ 'timeout-minutes': '1.5', 'max-total-tokens': '5000', 'max-cost-usd': '.25' },
    ...{ tools: 'Bash,Read,struct_output', 'exclude-tools': 'shell structured_output' },
    ...{ 'force-output': 'FALSE', sandbox: 'auto', 'shell-network': 'on' },
    ...{ 'sandbox-read': '/opt/a\n /opt/b c\n', 'pass-env': 'FOO, BAR\nBAZ' },
    ...{ 'working-directory': 'sub', leg: 'api  (linux)', vote: '2', 'signing-key': 'k'.repeat(32) },
    ...{ 'trusted-files': 'base', 'on-missing-key': 'skip', summary: 'false', comment: 'on-failure' },
    ...{ 'comment-key': 'a  b\nc', 'commit-status': 'agent / review', 'github-token': 't' },
  });
  await expect(JSON.stringify(config, null, 2)).toMatchFileSnapshot('../golden/config/every-input.txt');
});

it('trims values, takes an empty one for absent, and a tiny timeout for a millisecond', () => {
  const config = configFrom({ ...least, 'max-turns': '', gate: ' passed\n', 'timeout-minutes': '0.000001' });
  expect(config).toMatchObject({ maxTurns: 30, gate: 'passed', timeoutMs: 1 });
});

it.each([
  ['read_file', 'read_file Read ReadFile ReadFileTool'],
  ['edit', 'Edit replace EditTool'],
  ['shell', 'shell Bash run_shell_command ShellTool'],
  ['structured_output', 'structured_output struct_output StructuredOutput'],
])('%s has aliases from other agents', (name, aliases) => {
  const { excludeTools } = configFrom({ ...least, 'exclude-tools': aliases });
  expect(excludeTools).toEqual(aliases.split(' ').map(() => name));
});

it.each([
  ['anthropic', 'claude-opus-4'],
  ['openai', 'gpt-5-mini chatgpt-4o-latest o1 o4-mini'],
  ['gemini', 'gemini-2.5-pro'],
])('the provider is %s for the models %s, with or without a base URL', (provider, models) => {
  for (const model of models.split(' '))
    for (const more of [{}, urlOf])
      expect(configFrom({ ...least, model, ...more }).model.provider, model).toBe(provider);
});

it('no key selects a provider, and a compatible server gets no key of a vendor', () => {
  const environment = { OPENAI_API_KEY: 'sk-o', ANTHROPIC_API_KEY: '  ', GEMINI_API_KEY: 'g' };
  expect(refusal({ prompt: 'x', model: 'llama3' }, environment).input).toBe('provider');
  expect(refusal({ prompt: 'x', model: 'claude-3' }, environment).input).toBe('api-key');
  const { model } = configFrom({ prompt: 'x', model: 'llama3', ...urlOf }, environment);
  expect(model).toMatchObject({ provider: 'openai-compatible', apiKey: null });
});

const names = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'AZURE_OPENAI'];
const keys = [...names, 'GOOGLE'].map((name) => `${name}_API_KEY`);
it.each(names)('%s takes its key from its own variable and from no other one', (name) => {
  const [provider, variable] = [name.toLowerCase().replace('_', '-'), `${name}_API_KEY`];
  const inputs = { prompt: 'x', model: 'm', provider, 'base-url': 'https://name.openai.azure.com' };
  const environment = Object.fromEntries(keys.map((name) => [name, `key of ${name}`]));
  const found = { apiKey: `key of ${variable}`, keySource: `the variable ${variable}` };
  expect(configFrom(inputs, environment).model).toMatchObject({ ...found, providerReason: 'provider' });
  const { [variable]: _, ...others } = environment;
  const advice = `Set it (in a workflow to \${{ secrets.${variable} }}), or the variable ${variable}.`;
  const missingKey = `No key for the provider ${provider}. ${advice}`;
  expect(refusal(inputs, others)).toEqual({ input: 'api-key', message: `api-key: ${missingKey}` });
  const skipping = configFrom({ ...inputs, 'on-missing-key': 'skip' }, others).model;
  expect(skipping).toMatchObject({ apiKey: null, missingKey });
});

const parseHeaders = (headers: string, more: Texts = {}) => {
  const inputs = { prompt: 'x', model: 'gpt-5', headers, ...more };
  const { config, problems } = parseInputs(inputs, { OPENAI_API_KEY: 'sk-o' });
  return { ...config.model, problems: problems.map(messageOf) };
};

it('headers are one per line, with names in lower case', () => {
  const text = 'X-Team: blue\r\n\n  CF-Access-Client-Id :\tid:1  \nCookie: a=b; c=d\n__proto__: x';
  const parsed = 'x-team=blue, cf-access-client-id=id:1, cookie=a=b; c=d, __proto__=x';
  const lines = Object.entries(parseHeaders(text).headers).map(([name, value]) => `${name}=${value}`);
  expect(lines.join(', ')).toBe(parsed);
  expect(parseHeaders('')).toMatchObject({ headers: {}, problems: [], apiKey: 'sk-o' });
});

const malformed = ['X A: s3cret-value', ': s3cret-value', 'X-É: s3cret-value', 'X-A: s3cret-välue', 'X-A:'];
it.each<[string, RegExp]>([
  ['X-A: 1\n\ns3cret-value', /^headers: Line 3 is not/u],
  ['X-A: s3cret\rX-B: value', /Line 1 is not/u],
  ...malformed.map((text): [string, RegExp] => [text, /Line 1 is not a name, .* that it is set/u]),
  ['X-A: one\nx-a: s3cret-value', /Line 2 gives x-a a second time/u],
])('the header %j is refused with its line number and without its value', (text, says) => {
  const { problems, apiKey } = parseHeaders(text);
  // It may have held the key: no other is taken.
  expect([problems, apiKey]).toEqual([[expect.stringMatching(says)], null]);
  expect(problems[0]).not.toMatch(/s3cret/u);
});

it.each(['Authorization', 'X-Api-Key', 'api-key'])('the header %s replaces the variable', (name) => {
  const key = name.toLowerCase();
  const given = { keySource: 'headers', headers: { [key]: 'Bearer s3cret' }, apiKey: null };
  expect(parseHeaders(`${name}: Bearer s3cret`)).toMatchObject(given);
  const twice = `headers: The header ${key} and api-key both give a key. Keep one of them.`;
  expect(parseHeaders(`${name}: Bearer s3cret`, { 'api-key': 'sk-other' }).problems).toEqual([twice]);
});

it('a problem is reported with all others, a missing key last', () => {
  const wrong = { 'prompt-file': 'p.md', prompt: 'x', sandbox: 'maybe', 'max-turn': '3', gate: ' ' };
  const { config, problems } = parseInputs({ ...wrong, model: 'claude-3', leg: 'api', 'max-turns': 'x' });
  const names = ['max-turn', 'gate', 'max-turns', 'prompt-file', 'sandbox', 'api-key'];
  expect(problems.map(({ input }) => input)).toEqual(names);
  expect(config).toMatchObject({ leg: 'api', sandbox: 'required', maxTurns: 30 });
});

it.each<[string, Texts, string]>([
  ['no model', { prompt: 'x' }, 'model'],
  ['a model without a known provider', { ...least, model: 'llama3' }, 'provider'],
  ['a model name with an unknown suffix', { ...least, model: 'o3x' }, 'provider'],
  ['an incomplete model name', { ...least, model: 'claude' }, 'provider'],
  ['an unknown provider', { prompt: 'x', model: 'claude-3', provider: 'acme' }, 'provider'],
  ['an invalid URL', { prompt: 'x', model: 'llama3', 'base-url': 'nowhere' }, 'base-url'],
  ['a blank key', { prompt: 'x', model: 'claude-3', 'api-key': ' ' }, 'api-key'],
  ['two tasks', { ...least, 'prompt-file': 'task.md' }, 'prompt-file'],
  ['no task', { ...least, prompt: '' }, 'prompt'],
])('%s has no consequential problems', (_, inputs, name) => {
  expect(refusal(inputs).input).toBe(name);
});

it.each<[string, readonly string[]]>([
  ['max-turns', ['1.5', '-2', '1e3', '99999999999999999999']],
  ['timeout-minutes', ['-1', 'Infinity', '99999']],
  ['max-total-tokens', ['0']],
  ['max-cost-usd', ['0', '$1']],
  ['max-output-tokens', ['0']],
  ['force-output', ['1']],
  ['sandbox', ['on', 'x'.repeat(500)]],
  ['shell-network', ['yes']],
  ['tools', ['glob', 'constructor', 'Bash(git log:*)']],
  ['exclude-tools', ['glob']],
  ['pass-env', ['A-B', 'INPUT_API', 'actions_runtime_token', 'RUNNER_TEMP', 'HOME', 'TMPDIR']],
  ['pass-env', ['GITHUB_TOKEN', 'GITHUB_STEP_SUMMARY', 'GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV']],
  ['pass-env', ['GITHUB_PATH', 'STRUCTURED_AGENT_API_KEY']],
  ['sandbox-read', ['relative']],
  ['reasoning-effort', ['very high', 'High', 'h'.repeat(33)]],
  ['leg', ['l'.repeat(201)]],
  ['vote', ['v'.repeat(201)]],
  ['signing-key', ['k'.repeat(31)]],
])('a problem with %s names it: %j', (name, values) => {
  for (const value of values) {
    const { input, message } = refusal({ ...least, [name]: value });
    expect([value, input]).toEqual([value, name]);
    expect(message).toMatch(new RegExp(`^(?!.*undefined).*${name}.*$`, 'u'));
    expect(message.length).toBeLessThan(250);
    if (name === 'signing-key') expect(message).not.toContain(value);
  }
});

it('a problem with a list names every invalid entry, and what was meant', () => {
  expect(refusal({ ...least, tools: 'read_fil, edit, shel, glob' }).message).toBe(
    'tools: "read_fil" is not a tool. Did you mean read_file? "shel" is not a tool. Did you mean shell? "glob" is not a tool. Use read_file, edit, shell or structured_output.',
  );
});

it.each([
  ['anthropic_api_key', 'api-key'],
  ['openai-api-key', 'api-key'],
  ['max-turn', 'max-turns'],
])('for the unknown input %s the problem suggests %s', (name, ours) => {
  const says = `${name}: There is no such input. Did you mean ${ours}? Correct its name, or remove it.`;
  expect(refusal({ ...least, [name]: 'sk-hunter2' }).message).toBe(says);
});

it('a variable in the wrong case is not a missing input', () => {
  const variables = { Input_Max_Turns: '', 'input_max-turns': '3', INPUT_GATE: 'x' };
  const { raw, problems } = readActionInputs(variables);
  expect([...raw]).toEqual([['gate', 'x']]);
  expect(messageOf(onlyProblem(problems))).toContain('max-turns: There is no such input');
});
