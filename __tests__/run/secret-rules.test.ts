import { describe, expect, it } from 'vitest';
import { holdsSecret } from '../../src/run/secret-rules.ts';

// Put together here: a key that stands in a file as it is alarms every scanner on the way.
const join = (...parts: readonly string[]) => parts.join('');
const githubToken = join('ghp', '_', 'a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8');
const slackToken = join('xo', 'xb-', '123456789012-123456789012-', 'abcdefghijklmnopqrstuvwx');
const privateKey = (ending: string) =>
  [
    '-----BEGIN RSA PRIV',
    'ATE KEY-----',
    ending,
    'MIIEowIBAAKCAQEA'.repeat(8),
    ending,
    '-----END RSA PRIV',
    'ATE KEY-----',
  ].join('');
const awsSecret = join('wJalrXUtnFEMI7K3', 'DENGbPxRfiCYzz9QkLmN4vPq');

describe('the rules for secrets', () => {
  it.each([
    ['a token of GitHub', `const token = '${githubToken}';`],
    ['a token of Slack', `SLACK=${slackToken}`],
    [
      'a token of npm',
      join('//registry.npmjs.org/:_authToken=npm', '_', 'a1B2c3D4e5'.repeat(4).slice(0, 36)),
    ],
    ['a secret key of AWS', `aws_secret_access_key = "${awsSecret}"`],
    ['a private key over several lines', privateKey('\n')],
    ['a password in a URL', join('https://user:', 's3cr3tpassw0rd', '@example.org/')],
    ['a password of a database', join('postgres://user:', 'passw0rd', '@db.example.org:5432/x')],
  ])('find %s', async (_, text) => {
    expect(await holdsSecret(text)).toBe(true);
  });

  it.each([
    ['an ordinary line', 'const token = process.env.GITHUB_TOKEN;'],
    ['an empty line', ''],
    ['a password without a known form', 'password = "hunter2hunter2"'],
    ['the id of a key alone', join('AK', 'IA', 'Q3EGRTGWZB5XNH7L')],
    ['a commit', 'a'.repeat(40)],
  ])('do not find %s', async (_, text) => {
    expect(await holdsSecret(text)).toBe(false);
  });

  it.each(['// secretlint-disable-line', '/* secretlint-disable */', '// secretlint-disable-next-line'])(
    'are not switched off by the comment %s',
    async (comment) => {
      expect(await holdsSecret(`${comment}\n${githubToken} ${comment}\n`)).toBe(true);
    },
  );

  it('leave no marks in the process, and look at each text anew', async () => {
    const before = performance.getEntriesByType('mark').length;
    for (const text of [githubToken, 'nothing', githubToken, ''])
      expect(await holdsSecret(text)).toBe(text === githubToken);
    expect(performance.getEntriesByType('mark')).toHaveLength(before);
  });
});
