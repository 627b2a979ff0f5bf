import { describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/parse-config.ts';
import { messageOf } from '../../src/errors.ts';
import { configFrom, onlyProblem, parseInputs, readActionInputs } from '../support/fakes/runner/inputs.ts';

const least = { prompt: 'Judge.', model: 'claude-sonnet-5-5', 'api-key': 'sk-1' };

const parse = configFrom;

type Texts = Readonly<Record<string, string>>;

/** The input and the message of the only problem. */
function refusal(inputs: Texts, environment: Texts = {}) {
  const problem = onlyProblem(parseInputs(inputs, environment).problems);
  return { input: problem.input, message: messageOf(problem) };
}

const expectGolden = (name: string, config: Config) =>
  expect(JSON.stringify(config, null, 2)).toMatchFileSnapshot(`../golden/config/${name}.txt`);

it.each([
  ['read_file', 'read_file Read ReadFile ReadFileTool'],
  ['edit', 'Edit replace EditTool'],
  ['shell', 'shell Bash run_shell_command ShellTool'],
  ['structured_output', 'structured_output struct_output StructuredOutput'],
])('%s has aliases from other agents, in both lists', (name, aliases) => {
  for (const alias of aliases.split(' ')) {
    expect(parse({ ...least, 'exclude-tools': alias }).excludeTools, alias).toEqual([name]);
    const allowed = name === 'structured_output' ? [] : [name];
    expect(parse({ ...least, tools: alias }).tools, alias).toEqual(allowed);
  }
});

describe('parseConfig', () => {
  it('has a default for everything except the task, the model and the key', async () => {
    await expectGolden('defaults', parse(least));
  });

  it('reads every input', async () => {
    const config = parse({
      'prompt-file': 'task.md',
      schema: '{}',
      gate: 'off',
      provider: 'OpenAI',
      model: 'my-model',
      'api-key': 'k',
      'base-url': 'https://gateway.example.com/v1/',
      headers: 'X-Team:  blue team \r\n\nX-Route: a:b',
      'max-output-tokens': '2000',
      'reasoning-effort': 'high',
      'max-turns': '-1',
      'timeout-minutes': '1.5',
      'max-total-tokens': '5000',
      'max-cost-usd': '.25',
      'force-output': 'FALSE',
      tools: 'shell,read_file',
      'exclude-tools': 'shell structured_output',
      sandbox: 'auto',
      'shell-network': 'on',
      'sandbox-read': '/opt/a\n /opt/b c\n',
      'pass-env': 'FOO, BAR\nBAZ',
      'working-directory': 'sub',
      leg: 'api  (linux)',
      vote: '2',
      'signing-key': 'k'.repeat(32),
      'trusted-files': 'base',
      'on-missing-key': 'skip',
      summary: 'false',
      comment: 'on-failure',
      'comment-key': 'a  b\nc',
      'commit-status': 'agent / review',
      'github-token': 't',
    });
    await expectGolden('every-input', config);
  });

  it.each([
    ['claude-opus-4', 'anthropic'],
    ['gpt-5-mini', 'openai'],
    ['chatgpt-4o-latest', 'openai'],
    ['o1', 'openai'],
    ['o3', 'openai'],
    ['o4-mini', 'openai'],
    ['gemini-2.5-pro', 'gemini'],
  ])('gives the model %s the provider %s, with or without a base URL', (model, provider) => {
    expect(parse({ ...least, model }).model.provider).toBe(provider);
    expect(parse({ ...least, model, 'base-url': 'http://127.0.0.1:1/v1' }).model.provider).toBe(provider);
  });

  it('never selects the provider by a key, and gives a compatible server no key of a vendor', () => {
    const environment = { OPENAI_API_KEY: 'sk-o', ANTHROPIC_API_KEY: '  ', GEMINI_API_KEY: 'g' };
    expect(refusal({ prompt: 'x', model: 'llama3' }, environment).input).toBe('provider');
    expect(refusal({ prompt: 'x', model: 'claude-3' }, environment).input).toBe('api-key');
    const { model } = parse(
      { prompt: 'x', model: 'llama3', 'base-url': 'http://127.0.0.1:1/v1' },
      environment,
    );
    expect(model).toMatchObject({ provider: 'openai-compatible', apiKey: null });
  });

  const keys = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'AZURE_OPENAI', 'GOOGLE'].map((name) => `${name}_API_KEY`);

  it.each([
    ['openai', 'OPENAI_API_KEY'],
    ['anthropic', 'ANTHROPIC_API_KEY'],
    ['gemini', 'GEMINI_API_KEY'],
    ['azure-openai', 'AZURE_OPENAI_API_KEY'],
  ])('%s takes its key from %s and from no other variable', (provider, variable) => {
    const inputs = { prompt: 'x', model: 'm', provider, 'base-url': 'https://name.openai.azure.com' };
    const environment = Object.fromEntries(keys.map((name) => [name, `key of ${name}`]));
    const found = { apiKey: `key of ${variable}`, keySource: `the variable ${variable}` };
    expect(parse(inputs, environment).model).toMatchObject({ ...found, providerReason: 'provider' });
    const { [variable]: _, ...others } = environment;
    const advice = `Set it (in a workflow to \${{ secrets.${variable} }}), or the variable ${variable}.`;
    const missingKey = `No key for the provider ${provider}. ${advice}`;
    expect(refusal(inputs, others)).toEqual({ input: 'api-key', message: `api-key: ${missingKey}` });
    const skipping = parse({ ...inputs, 'on-missing-key': 'skip' }, others).model;
    expect(skipping).toMatchObject({ apiKey: null, missingKey });
  });

  it('reports all problems at once, a missing key last', () => {
    const wrong = { 'prompt-file': 'p.md', prompt: 'x', sandbox: 'maybe', 'max-turn': '3', gate: ' ' };
    const inputs = { ...wrong, model: 'claude-3', leg: 'api', 'max-turns': 'x' };
    const { config, problems } = parseInputs(inputs);
    const names = ['max-turn', 'gate', 'max-turns', 'prompt-file', 'sandbox', 'api-key'];
    expect(problems.map(({ input }) => input)).toEqual(names);
    expect(config).toMatchObject({ leg: 'api', sandbox: 'required', maxTurns: 30 });
  });

  it.each<[string, Texts, readonly string[]]>([
    ['no model', { prompt: 'x' }, ['model']],
    ['a model without a known provider', { ...least, model: 'llama3' }, ['provider']],
    ['an unknown provider', { prompt: 'x', model: 'claude-3', provider: 'acme' }, ['provider']],
    ['an invalid URL', { prompt: 'x', model: 'llama3', 'base-url': 'nowhere' }, ['base-url']],
    ['a blank key', { prompt: 'x', model: 'claude-3', 'api-key': ' ' }, ['api-key']],
    ['two tasks', { ...least, 'prompt-file': 'task.md' }, ['prompt-file']],
    ['no task', { ...least, prompt: '' }, ['prompt']],
    ['a model name with an unknown suffix', { ...least, model: 'o3x' }, ['provider']],
    ['an incomplete model name', { ...least, model: 'claude' }, ['provider']],
    ['a blank gate', { ...least, gate: '  ' }, ['gate']],
  ])('%s is one problem without consequential problems', (_, inputs, names) => {
    expect(parseInputs(inputs).problems.map(({ input }) => input)).toEqual(names);
  });

  it('azure-openai needs the URL of a resource, and no URL may contain a query', () => {
    const azure = { ...least, provider: 'azure-openai', model: 'deployment' };
    const url = 'https://name.openai.azure.com';
    expect(refusal(azure).message).toMatch(/^base-url: .*https:\/\/NAME\.openai\.azure\.com/u);
    expect(parse({ ...azure, 'base-url': `${url}/` }).model.baseUrl).toBe(url);
    const { input, message } = refusal({ ...azure, 'base-url': `${url}?key=s3cret` });
    expect([input, message.includes('s3cret')]).toEqual(['base-url', false]);
  });

  it('trims values, takes an empty one for absent, and a tiny timeout for a millisecond', () => {
    const config = parse({ ...least, 'max-turns': '', gate: ' passed\n', 'timeout-minutes': '0.000001' });
    expect(config).toMatchObject({ maxTurns: 30, gate: 'passed', timeoutMs: 1 });
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
    [
      'pass-env',
      `A-B GITHUB_TOKEN INPUT_API actions_runtime_token GITHUB_STEP_SUMMARY GITHUB_OUTPUT GITHUB_STATE GITHUB_ENV
      GITHUB_PATH RUNNER_TEMP HOME TMPDIR STRUCTURED_AGENT_API_KEY`.split(/\s+/u),
    ],
    ['sandbox-read', ['relative']],
    ['base-url', ['ftp://x']],
    ['reasoning-effort', ['very high', 'High', 'h'.repeat(33)]],
    ['provider', ['azure']],
    ['leg', ['l'.repeat(201)]],
    ['vote', ['v'.repeat(201)]],
    ['signing-key', ['k'.repeat(31)]],
  ])('%s is refused with a message that names it: %j', (name, values) => {
    for (const value of values) {
      const { input, message } = refusal({ ...least, [name]: value });
      expect([value, input]).toEqual([value, name]);
      expect(message).toContain(name);
      expect(message).not.toContain('undefined');
      expect(message.length).toBeLessThan(250);
      if (name === 'signing-key') expect(message).not.toContain(value);
    }
  });

  it.each([
    ['anthropic_api_key', 'api-key'],
    ['openai-api-key', 'api-key'],
    ['max-turn', 'max-turns or max-cost-usd'],
  ])('the input %s is unknown, and %s is suggested', (name, ours) => {
    expect(refusal({ ...least, [name]: 'sk-hunter2' }).message).toBe(
      `${name}: There is no such input. Did you mean ${ours}? Correct its name, or remove it.`,
    );
  });

  it('reports a variable in the wrong case as a problem, without a missing input', () => {
    const variables = { Input_Max_Turns: '', 'input_max-turns': '3', INPUT_GATE: 'x' };
    const { raw, problems } = readActionInputs(variables);
    expect([...raw]).toEqual([['gate', 'x']]);
    expect(messageOf(onlyProblem(problems))).toContain('max-turns: There is no such input');
  });
});
