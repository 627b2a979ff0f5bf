import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planSeatbelt } from '../../../src/sandbox/isolation/seatbelt-plan.ts';
import { profileText } from '../../../src/sandbox/isolation/seatbelt-profile.ts';
import { makeFolders } from '../../../src/sandbox/run-folder.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { findRepositories } from '../../../src/sandbox/workspace/repositories.ts';
import { decide } from '../../support/seatbelt.ts';
import { CANARY, createWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe('the plan', () => {
  async function planned(options: Partial<SandboxOptions> = {}, runners: readonly string[] = []) {
    const runFolder = mkdtempSync(join(world.temp, 'run-'));
    const folders = await makeFolders(runFolder);
    const { home, temp, workspace } = world;
    const bin = join(home, 'tool', 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(home, 'tool', '.npmrc'), CANARY);
    const asked: SandboxOptions = {
      ...{
        workspace,
        workingDirectory: workspace,
        mode: 'required',
        access: 'in-place',
        shellNetwork: false,
      },
      ...{ readable: [], passEnv: [], environment: { PATH: bin }, home, runnerTemp: temp },
      ...{ isSecret: () => false, runFolder, ...options },
    };
    const repositories = await findRepositories(workspace);
    const plan = await planSeatbelt({ ...asked, hidden: { runners } }, workspace, folders, repositories);
    const profile = profileText({ rules: plan.rules, tmp: folders.tmp, shellNetwork: false });
    const ask = (path: string) =>
      ['file-read-data', 'file-write-data'].map((name) => decide(profile, name, path)).join(' ');
    return { ask, profile, folders, unseen: plan.unseen };
  }

  it('the nearest folder decides: home and RUNNER_TEMP closed, the workspace and the private /tmp in them open', async () => {
    writeFileSync(join(world.workspace, 'gha-creds-1.json'), CANARY);
    const { ask, profile, folders, unseen } = await planned();
    const { home, temp, workspace } = world;
    expect({
      home: ask(join(home, '.npmrc')),
      temp: ask(join(temp, 'git-credentials-1.config')),
      run: ask(join(folders.run, 'secret', 'sentinel')),
      tmp: ask(join(folders.tmp, 'x')),
      tool: ask(join(home, 'tool', 'bin', 'x')),
      credentials: ask(join(home, 'tool', '.npmrc')),
      file: ask(join(workspace, 'README.md')),
      login: ask(join(workspace, 'gha-creds-1.json')),
      git: ask(join(workspace, '.git', 'HEAD')),
      config: ask(join(workspace, '.git', 'config')),
      workflow: ask(join(workspace, '.github', 'workflows', 'ci.yml')),
      absent: ask(join(workspace, 'ACTION.yaml')),
      others: ask('/Users/other/x'),
      otherName: ask(`/System/Volumes/Data${join(home, '.npmrc')}`),
      system: ask('/usr/bin/true'),
      wayRead: decide(profile, 'file-read-metadata', home),
      wayListed: decide(profile, 'file-read-data', home),
    }).toEqual({
      home: 'deny deny',
      temp: 'deny deny',
      run: 'deny deny',
      tmp: 'allow allow',
      tool: 'allow deny',
      credentials: 'deny deny',
      file: 'allow allow',
      login: 'deny deny',
      git: 'allow deny',
      config: 'deny deny',
      workflow: 'allow deny',
      absent: 'allow deny',
      others: 'deny deny',
      otherName: 'deny deny',
      system: 'allow deny',
      wayRead: 'allow',
      wayListed: 'deny',
    });
    expect(unseen).toEqual(
      expect.arrayContaining([join(home, '.npmrc'), join(temp, 'git-credentials-1.config')]),
    );
    expect(unseen.filter((path) => workspace.startsWith(path) || folders.tmp.startsWith(path))).toEqual([]);
    rmSync(join(workspace, 'gha-creds-1.json'));
  });

  it('read-only: nothing but the private /tmp can be written', async () => {
    const { ask, folders } = await planned({ access: 'read-only' });
    expect([ask(join(world.workspace, 'README.md')), ask(join(folders.tmp, 'x'))]).toEqual([
      'allow deny',
      'allow allow',
    ]);
  });

  it('no folder above a repository can be moved away from under its rules', async () => {
    const nested = join(world.workspace, 'deep', 'er');
    mkdirSync(nested, { recursive: true });
    execFileSync('git', ['init', '-q', '.'], { cwd: nested });
    const { profile, folders } = await planned();
    const moves = [world.workspace, join(world.workspace, 'deep'), nested, join(nested, '.git'), folders.tmp];
    const told = [...moves, join(nested, 'x')].map((path) => decide(profile, 'file-write-unlink', path));
    expect(told).toEqual(['deny', 'deny', 'deny', 'deny', 'deny', 'allow']);
    execFileSync('/bin/rm', ['-rf', join(world.workspace, 'deep')]);
  });
});
