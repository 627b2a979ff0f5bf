import { describe, expect, it } from 'vitest';
import { reuseKey } from '../../src/reuse/reuse.ts';
import type { PolicyDigest } from '../../src/types.ts';
import { configOf, type Inputs } from '../support/worlds/reuse.ts';

describe('the key of a verdict', () => {
  const policy: PolicyDigest = { schema_sha256: 'a', gate_sha256: 'b', prompt_sha256: 'c', version: '1.0.0' };
  const usual = { tree: '0'.repeat(64), paths: ['.'], place: '', policy };
  const keyOf = (inputs: Inputs = {}, more: Partial<typeof usual> = {}) =>
    reuseKey({ ...usual, ...more, config: configOf(inputs).config });

  it('is a hash and the same each time', () => {
    expect(keyOf()).toMatch(/^[0-9a-f]{64}$/u);
    expect(keyOf()).toBe(keyOf());
  });

  const differing: readonly (readonly [string, Inputs, Partial<typeof usual>?])[] = [
    ['the files', {}, { tree: '1'.repeat(64) }],
    ['the subject paths', {}, { paths: ['a', 'b'] }],
    ['the working directory', {}, { place: 'sub' }],
    ['the schema', {}, { policy: { ...policy, schema_sha256: 'x' } }],
    ['the prompt', {}, { policy: { ...policy, prompt_sha256: 'x' } }],
    ['the version', {}, { policy: { ...policy, version: '1.0.1' } }],
    ['the system prompt', { 'system-prompt': 'Be brief.' }],
    ['the provider', { provider: 'openai', 'api-key': 'k' }],
    ['the model', { model: 'scripted-2' }],
    ['the server', { 'base-url': 'http://127.0.0.1:1/v2' }],
    ['the reasoning effort', { 'reasoning-effort': 'high' }],
    ['the output token limit', { 'max-output-tokens': '5' }],
    ['forced output', { 'force-output': 'false' }],
    ['the tools', { tools: 'read_file' }],
    ['the excluded tools', { 'exclude-tools': 'shell' }],
    ['the workspace access', { 'workspace-access': 'in-place' }],
    ['the network', { 'shell-network': 'on' }],
    ['the output limit', { 'max-tool-output-kb': '1' }],
    ['the command timeout', { 'shell-timeout-seconds': '1' }],
    ['the variables', { 'pass-env': 'CI' }],
    ['the folders', { 'sandbox-read': '/opt' }],
    ['the leg', { leg: 'a' }],
    ['the vote', { vote: 'a' }],
    ['leg and vote', { leg: 'a', vote: 'a' }],
    ['a leg with delimiters', { leg: 'a","a' }],
  ];

  it('changes with everything that can change a verdict', () => {
    const keys = [keyOf(), ...differing.map(([, inputs, more]) => keyOf(inputs, more))];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each<readonly [string, Inputs, Partial<typeof usual>]>([
    ['the gate', { gate: 'none' }, { policy: { ...policy, gate_sha256: 'x' } }],
    ['the pull request context', { context: 'none' }, {}],
    ['limits', { 'max-turns': '3', 'timeout-minutes': '1', 'max-total-tokens': '100' }, {}],
    ['the key', { 'api-key': 'k' }, {}],
    ['headers', { headers: 'X-Token: secret' }, {}],
    ['the reporting inputs', { summary: 'false', comment: 'always', 'log-level': 'full' }, {}],
    ['the reuse inputs', { refresh: 'true', 'signing-key': 'k'.repeat(32), 'reuse-from': '/tmp/x' }, {}],
  ])('does not change with %s', (_, inputs, more) => {
    expect(keyOf(inputs, more)).toBe(keyOf());
  });
});
