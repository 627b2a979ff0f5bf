import { describe, expect, it } from 'vitest';
import { createBypass } from '../../src/network/bypass.ts';

describe('NO_PROXY', () => {
  it.each([
    ['', 'https://a.example', false],
    ['*', 'https://a.example', true],
    ['other, *', 'https://a.example', true],
    ['a.example', 'https://a.example/x', true],
    ['A.Example', 'https://a.EXAMPLE', true],
    ['a.example', 'https://sub.a.example', true],
    ['a.example', 'https://nota.example', false],
    ['a.example', 'https://a.example.evil', false],
    ['.a.example', 'https://a.example', true],
    ['.a.example', 'https://x.a.example', true],
    ['*.a.example', 'https://x.a.example', true],
    ['a.example.', 'https://a.example', true],
    ['a.example', 'https://a.example./', true],
    ['b, a.example c', 'https://a.example', true],
    ['a.example:443', 'https://a.example', true],
    ['a.example:443', 'http://a.example', false],
    ['a.example:0443', 'https://a.example', true],
    ['a.example:8443', 'https://a.example:8443', true],
    ['a.example:8443', 'https://a.example', false],
    ['127.0.0.1', 'http://127.0.0.1:11434', true],
    ['127.0.0.1:1', 'http://127.0.0.1:11434', false],
    ['127.0.0.1', 'http://localhost', false],
    ['localhost', 'http://localhost:1', true],
    ['0.0.1', 'http://127.0.0.1', false],
    ['10.0.0.0/8', 'http://10.1.2.3', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.0.0.0/99', 'http://10.1.2.3', false],
    ['10.0.0.1-10.0.0.9', 'http://10.0.0.5', true],
    ['10.0.0.1-10.0.0.9', 'http://10.0.0.10', false],
    ['10.0.0.9-10.0.0.1', 'http://10.0.0.5', false],
    ['::1', 'http://[::1]:80', true],
    ['[::1]', 'http://[::1]', true],
    ['[::1]:80', 'http://[::1]', true],
    ['[::1]:81', 'http://[::1]', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['my-host', 'http://my-host', true],
    ['a/b', 'http://a', false],
  ])('with NO_PROXY %j, %s bypasses the proxy: %s', (list, url, direct) => {
    expect(createBypass(list)(new URL(url))).toBe(direct);
  });
});
