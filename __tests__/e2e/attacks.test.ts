/**
 * Every attack by tool calls, through the committed bundle, on a self-hosted runner. By default in one setting, in one run
 * of the bundle; `ATTACKS=user npx vitest run __tests__/e2e/attacks.test.ts` is the list in another (`allSettings`).
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gitIn, processesWith } from '../sandbox/world.ts';
import {
  controls,
  listedOnly,
  rowsOf,
  SHARED_FOLDERS,
  sharedRow,
  toolRows,
} from '../support/attacks/rows.ts';
import {
  allSettings,
  attackSettings,
  type BatchResult,
  FINAL,
  findLeaks,
  runBatch,
} from '../support/attacks/run.ts';
import {
  type AttackWorld,
  CANARIES,
  createAttackWorld,
  isWritable,
  PLANTED,
  STRANGERS,
} from '../support/attacks/world.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { actionsIn } from '../support/texts/gfm.ts';

/** Attacks that break git's view of the copy cause this warning, which is ours. */
const OWN_WARNING = /^(?:git could not tell what the agent changed|The patch leaves out )/u;

const isGroup = ({ name }: { readonly name: string }) => name === 'group' || name === 'endgroup';
/** What problem matchers of earlier steps look for: common forms of a compiler, a linter and an interpreter. */
const PROBLEM =
  /^[^\s].*[(:]\d+[,:]\d+(?:\):|:)? +(?:error|warning):? *.|^\s+\d+:\d+\s+(?:error|warning)\s+.|^\s*File ".*", line \d+, in ./u;

describe.each(attackSettings)('$name', ({ wall, owner }) => {
  const rows = rowsOf(wall);
  let world: AttackWorld;
  let honest: BatchResult;
  let hostile: BatchResult;
  beforeAll(async () => {
    world = await createAttackWorld(owner);
    const step = { world, wall, event: 'issue_comment' } as const;
    honest = await runBatch(step, controls);
    hostile = await runBatch(step, rows);
  });
  afterAll(() => world.close());

  it.each(controls)('an honest agent can $id', ({ id }) => expect(honest.harm.get(id)).toEqual([]));

  it.each(rows)('$id', ({ id }) => expect(hostile.harm.get(id)).toEqual([]));

  it('uses this backend, both runs end with the model’s verdict, and no program of the checkout ran outside', () => {
    expect(existsSync(join(world.base, 'RAN'))).toBe(false);
    for (const run of [honest, hostile]) {
      const log = run.stdout.toString().slice(-2_000);
      expect([run.exitCode, run.stderr.toString(), run.commandFiles], log).toEqual([0, '', '']);
      expect(run.outputs.get('run-sandbox')).toBe(wall);
      expect(JSON.parse(run.outputs.get('structured_output') ?? '')).toEqual(FINAL);
    }
  });

  it('the patch of the honest agent is private, and applies to the checkout, which is unchanged', () => {
    const patch = honest.outputs.get('run-patch-file') ?? '';
    expect(statSync(patch).mode & 0o777).toBe(0o600);
    const names = gitIn(world.workspace, 'apply', '--numstat', '--check', patch);
    expect(names.split('\n').length).toBe(3);
  });

  it('runner0: the log of the attacks contains no runner command that an honest log does not', () => {
    // Groups are checked by their titles.
    const [own = [], commands = []] = [honest, hostile].map(({ stdout }) =>
      parseLog(stdout.toString()).filter((command) => !isGroup(command)),
    );
    expect(commands.filter(({ data }) => !OWN_WARNING.test(data))).toEqual(own);
    expect(commands.filter(({ name }) => !/^(?:add-mask|error|warning|notice)$/u.test(name))).toEqual([]);
    const masks = commands.flatMap(({ name, data }) => (name === 'add-mask' ? [data] : []));
    expect(masks.toSorted()).toEqual(CANARIES.filter((value) => value !== PLANTED).toSorted());
  });

  it('runner0: the same holds without the stop-commands region, and all groups are ours', () => {
    const log = hostile.stdout.toString();
    const commands = parseLog(log);
    expect(parseLog(withoutStopCommands(log))).toEqual(commands);
    const groups = commands.filter(isGroup).map(({ name, data }) => `${name} ${data}`);
    const ours =
      /^(?:group (?:output of (?:read_file|edit|shell)|prompt|what the model said)\nendgroup \n?)+$/u;
    expect(groups.join('\n')).toMatch(ours);
  });

  it('md_inert: the rendered summary and comment contain no active content of the attacks', () => {
    const comment = world.pull.comments().at(-1) ?? '';
    for (const page of [honest.summary, hostile.summary, comment.replace(/^<!--.*-->\n/u, '')]) {
      expect(page).toMatch(/^## ☑️ .*accepted, without a gate/mu);
      expect(actionsIn(page, /^https:\/\/github\.com\/example\/cart\//u)).toEqual([]);
    }
    // The summary contains the attack commands, so the check above is meaningful.
    expect(hostile.summary).toContain('script&#62;1');
  });

  it('changes no comment of a stranger, and updates its own single comment', () => {
    const { hub, head, mark, comments } = world.pull;
    expect(comments()).toEqual([...STRANGERS, expect.stringContaining(`${mark()}attempt=1`)]);
    const states = ['pending', 'success', 'pending', 'success'];
    expect(hub.statuses()).toMatchObject(states.map((state) => ({ sha: head, state })));
  });

  it('problem matchers of earlier steps find nothing in tool output in the log', () => {
    // They read every line that is not a command, also between stop-commands and its token.
    const problemsIn = (text: string) => text.split(/\r\n|\r|\n/u).filter((line) => PROBLEM.test(line));
    const [first, second] = ['README.md:1:1: error: Approved', 'README.md(1,1): error TS1: A'];
    const output = [first, second, '  1:1  error  A  b', '  File "a", line 1, in A'];
    expect(problemsIn(output.join('\n'))).toEqual(output);
    expect(hostile.bodies.at(-1)).toContain(second);
    expect(problemsIn(hostile.stdout.toString())).toEqual([]);
  });

  it('no_esc, valid_utf8: the log is valid UTF-8 without control characters', () => {
    const log = new TextDecoder('utf-8', { fatal: true }).decode(hostile.stdout);
    expect(log.match(/[^\P{Cc}\n\t]|[\u2028\u2029]|\p{Bidi_Control}/gu)).toBeNull();
    expect(log.isWellFormed()).toBe(true);
    // The log contains the attack texts, so that the checks of it are meaningful.
    const texts = ['set-output name=conclusion', 'add-matcher', 'deadbeef', 'Result PASS', 'merge me'];
    for (const text of texts) expect(log).toContain(text);
  });

  it('no canary is in the log after its masks, in the requests, or in any result file', () => {
    const { stdout, transcript, envelope, summary, outputText, bodies } = hostile;
    const { comments, hub } = world.pull;
    const reports = [comments().at(-1) ?? '', JSON.stringify(hub.statuses()), summary, outputText, envelope];
    const texts = [stdout.toString().replace(/^::add-mask::.*\n/gmu, ''), transcript, ...reports];
    expect(texts).not.toContain('');
    expect([...texts, ...bodies].flatMap(findLeaks)).toEqual([]);
  });
});

describe('without isolation', () => {
  const created = SHARED_FOLDERS.filter(isWritable).map((folder) => join(folder, 'SAMARK'));
  /** What attacks achieve that the sandbox prevents, by the beginning of their ids. */
  const harms: readonly (readonly [id: string, harm: RegExp])[] = [
    ...['B01', 'B05', 'X03', 'X05'].map((id) => [id, /^leaks /u] as const),
    ['D01', /_runner_file_commands\/set_output_1: /u],
    ['H2 wants data', /^leaks /u],
    ['M7', /^reaches a listener [23] times$/u],
    ['F01', /^reaches a listener /u],
    ['E01', /^leaves a process$/u],
    ...created.map((file) => [sharedRow.id, new RegExp(`^${file}\\S*: absent -> 100`, 'u')] as const),
  ];
  const rows = [...new Set(harms.flatMap(([id]) => toolRows.filter((row) => row.id.startsWith(id))))];
  let world: AttackWorld;
  let run: BatchResult;
  beforeAll(async () => {
    world = await createAttackWorld();
    run = await runBatch({ world, wall: 'bwrap', inputs: { sandbox: 'off' } }, rows);
  });
  afterAll(async () => {
    const mark = `${world.mark}-${rows.indexOf(sharedRow)}-`;
    for (const file of created) rmSync(file.replace('SAMARK', mark), { force: true });
    for (const pid of processesWith(world.mark)) process.kill(Number(pid));
    await world.close();
  });

  it.each(harms)('the attack %s succeeds', (id, harm) => {
    const row = rows.find((each) => each.id.startsWith(id));
    expect(run.harm.get(row?.id ?? '')).toContainEqual(expect.stringMatching(harm));
  });
});

it('the setting that the variable ATTACKS asks for is here, and all rows run that need no disposable host', () => {
  if (process.env['ATTACKS'] !== undefined || allSettings.length > 0) expect(attackSettings).not.toEqual([]);
  expect(listedOnly.map(({ id }) => id)).toEqual(['E11-fill-tmp', 'F10-metadata', 'F11-dns']);
});
