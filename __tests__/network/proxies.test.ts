import { describe, expect, it } from 'vitest';
import { parseProxies, proxySecrets } from '../../src/network/proxies.ts';
import { refusalOf } from '../support/surroundings.ts';

/** The parsed proxies as plain text. */
const parse = (environment: Readonly<Record<string, string>>) => {
  const proxies = parseProxies(environment);
  if (proxies === null) return null;
  const { http, https, bypass } = proxies;
  const text = (proxy: typeof http) => proxy && [proxy.variable, proxy.url.href, proxy.authorization];
  return { http: text(http), https: text(https), bypass };
};

describe('parseProxies', () => {
  it('returns null when no variable names a proxy', () => {
    expect(parseProxies({})).toBeNull();
    expect(
      parseProxies({ HTTP_PROXY: '', https_proxy: '  ', NO_PROXY: '*', ALL_PROXY: 'http://p' }),
    ).toBeNull();
  });

  it('prefers the lowercase variable and ignores an empty one', () => {
    expect(parse({ HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:2', NO_PROXY: 'a' })).toEqual({
      http: null,
      https: ['https_proxy', 'http://lower:2/', null],
      bypass: 'a',
    });
    expect(
      parse({ HTTP_PROXY: 'http://upper:1', http_proxy: '', NO_PROXY: 'upper', no_proxy: 'lower' }),
    ).toEqual({
      http: ['HTTP_PROXY', 'http://upper:1/', null],
      https: null,
      bypass: 'lower',
    });
  });

  it('removes the credentials from the URL and decodes them', () => {
    expect(parse({ HTTP_PROXY: 'https://m%65:p%40ss%3Aw%C3%B6rd@proxy:8443' })?.http).toEqual([
      'HTTP_PROXY',
      'https://proxy:8443/',
      `Basic ${Buffer.from('me:p@ss:wörd').toString('base64')}`,
    ]);
    expect(parse({ HTTP_PROXY: 'http://token@proxy' })?.http?.[2]).toBe('Basic dG9rZW46');
  });

  it.each([
    ['socks5://me:s3cretpw@proxy:1080', /socks5/],
    ['http://', /URL/],
    ['http://me:s3cretpw@', /URL/],
    ['http://me:s3cretpw@proxy:99999', /URL/],
    ['http://me:s3cretpw@pro xy', /URL/],
    ['http://me:s3cretpw@proxy\nx', /URL/],
    ['http://me:s3cretpw%@proxy', /%25/],
  ])('rejects %j with a message that names the variable and hides the value', (value, says) => {
    for (const variable of ['https_proxy', 'HTTP_PROXY']) {
      const { message } = refusalOf(() => parseProxies({ [variable]: value }));
      expect(message).toContain(variable);
      expect(message).toMatch(says);
      expect(message).not.toContain('s3cretpw');
    }
  });
});

describe('proxySecrets', () => {
  it('returns the password in every encoding, of valid and invalid URLs', () => {
    expect(proxySecrets({ HTTPS_PROXY: 'http://me:p%40ss@proxy:1' })).toEqual([
      'me:p%40ss',
      'me:p@ss',
      'p%40ss',
      'p@ss',
      Buffer.from('me:p@ss').toString('base64'),
    ]);
    expect(proxySecrets({ http_proxy: 'me:se@cr%et@proxy' })).toContain('se@cr%et');
    expect(proxySecrets({ HTTP_PROXY: 'http://token-1@proxy' })).toContain('token-1');
    expect(proxySecrets({ HTTP_PROXY: 'http://proxy:1', NO_PROXY: 'a@b' })).toEqual([]);
  });
});
