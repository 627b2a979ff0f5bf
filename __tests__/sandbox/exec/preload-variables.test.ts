import { describe, expect, it } from 'vitest';
import { findPreloadVariable } from '../../../src/sandbox/exec/environment.ts';

const workspace = '/work/repo';
const found = (environment: Readonly<Record<string, string>>, passEnv: readonly string[] = []) =>
  findPreloadVariable({ environment, passEnv, workspace });

describe('a variable that brings files of the workspace into every program', () => {
  it.each([
    '/work/repo',
    '/work/repo/lib',
    '/usr/lib:/work/repo/lib',
    '/work/other/../repo/lib',
    'lib',
    '/usr/lib:',
    ':/usr/lib',
    '/usr/lib::/opt/lib',
  ])('is found: %s', (value) => {
    expect(found({ LD_LIBRARY_PATH: value })).toBe('LD_LIBRARY_PATH');
  });

  it.each(['LD_PRELOAD', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'BASH_ENV', 'ENV'])(
    '%s counts where commands get it',
    (name) => {
      const environment = { [name]: '/work/repo/x' };
      expect([found(environment), found(environment, ['CI', name])]).toEqual([null, name]);
    },
  );

  it('is none where it names other places, or is no such variable', () => {
    expect(found({})).toBeNull();
    expect(found({ LD_LIBRARY_PATH: '' })).toBeNull();
    expect(found({ LD_LIBRARY_PATH: '/opt/lib:/work/repository/lib' })).toBeNull();
    expect(found({ BASH_ENV: '/etc/profile', MY_ENV: 'x' }, ['BASH_ENV', 'MY_ENV'])).toBeNull();
  });
});
