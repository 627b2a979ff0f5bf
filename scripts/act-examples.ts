/**
 * Runs the example workflows on a real runner: nektos/act in host mode, the committed bundle, the provider emulator and a
 * GitHub of our own, both on loopback. `node scripts/act-examples.ts [path of act] [workflow …]` prints one line a run
 * and exits 1 if one of them did not end as expected; with names of workflows it runs only their cases, and a name
 * without a case is an error.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from '../__tests__/support/fakes/model/server.ts';
import { CASES } from './act-cases.ts';
import { answerPreset, createVoter } from './act-model.ts';
import { type ActResult, type Case, runOnAct } from './act-world.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

process.exitCode = await main(process.argv[2] ?? 'act', process.argv.slice(3));

async function main(act: string, only: readonly string[]): Promise<number> {
  const known = [...new Set(CASES.map(({ workflow }) => workflow))];
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`No case runs ${unknown.join(', ')}. Use: ${known.join(', ')}.`);
    return 1;
  }
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-act-')));
  const model = await startModel(answerPreset);
  let failed = 0;
  try {
    const action = path.join(folder, 'action');
    mkdirSync(action);
    for (const part of ['action.yml', 'merge', 'dist'])
      cpSync(path.join(ROOT, part), path.join(action, part), { recursive: true });
    for (const [index, each] of CASES.entries()) {
      if (only.length > 0 && !only.includes(each.workflow)) continue;
      const home = path.join(folder, `run-${index}`);
      const { problems, log } = await tryCase(each, { act, home, action, modelUrl: model.url });
      console.log(`${problems.length === 0 ? 'ok' : 'NOT OK'}  ${each.workflow}: ${each.title}`);
      if (problems.length === 0) continue;
      failed++;
      console.log([...problems.map((problem) => `    ${problem}`), log].join('\n'));
    }
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return failed === 0 ? 0 : 1;
}

async function tryCase(
  each: Case,
  place: Parameters<typeof runOnAct>[1],
): Promise<{ problems: readonly string[]; log: string }> {
  const own =
    each.votes === undefined ? null : await startModel(createVoter(each.votes, () => killAction(place.home)));
  try {
    const result = await runOnAct(each, { ...place, modelUrl: own?.url ?? place.modelUrl });
    return { problems: judge(each, result), log: result.log };
  } catch (error) {
    return { problems: [String(error)], log: '' };
  } finally {
    await own?.close();
  }
}

/** Ends the action that runs below a folder as a machine without memory would: at once, and without a word. */
function killAction(home: string): void {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/u.test(each))) {
    try {
      const [, file = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (file.startsWith(`${home}/`) && file.endsWith('/dist/index.js'))
        process.kill(Number(name), 'SIGKILL');
    } catch {
      // Gone in the meantime.
    }
  }
}

function judge(each: Case, { exitCode, log, comments, statuses }: ActResult): readonly string[] {
  const said = comments.join('\n');
  const { comments: wanted = [], statuses: set = [] } = each;
  const [one, other] = [JSON.stringify(set), JSON.stringify(statuses)];
  return [
    ...(exitCode === each.exitCode ? [] : [`exit code ${exitCode}, expected ${each.exitCode}`]),
    ...each.holds.filter((text) => !log.includes(text)).map((text) => `the log lacks: ${text}`),
    ...each.lacks.filter((text) => log.includes(text)).map((text) => `the log holds: ${text}`),
    ...wanted.filter((text) => !said.includes(text)).map((text) => `no comment says: ${text}; but: ${said}`),
    ...(wanted.length === 0 && said !== '' ? [`there is a comment: ${said}`] : []),
    ...(one === other ? [] : [`the statuses are ${other}, expected ${one}`]),
  ];
}
