import { describe, expect, it } from 'vitest';
import { findPreloadVariable } from '../../../src/sandbox/exec/environment.ts';

const workspace = '/work/repo';
const found = (environment: Readonly<Record<string, string>>, passEnv: readonly string[] = []) =>
  findPreloadVariable({ environment, passEnv, workspace });

describe('a variable that loads workspace files into every program', () => {
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
    'is found when commands receive it: %s',
    (name) => {
      const environment = { [name]: '/work/repo/x' };
      expect([found(environment), found(environment, ['CI', name])]).toEqual([null, name]);
    },
  );

  it('is not found for other paths or other variables', () => {
    expect(found({})).toBeNull();
    expect(found({ LD_LIBRARY_PATH: '' })).toBeNull();
    expect(found({ LD_LIBRARY_PATH: '/opt/lib:/work/repository/lib' })).toBeNull();
    expect(found({ BASH_ENV: '/etc/profile', MY_ENV: 'x' }, ['BASH_ENV', 'MY_ENV'])).toBeNull();
  });
});
