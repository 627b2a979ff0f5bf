/** Every attack that a model can make by its tools, through the committed bundle, behind every wall of this machine. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackWalls, isWritable, missingWalls, runnerFor } from '../support/attacks/backends.ts';
import { type BatchResult, FINAL, type Observation, runBatch } from '../support/attacks/batch.ts';
import { type AttackPull, openAttackPull } from '../support/attacks/pull-request.ts';
import { type AttackRow, controls, fakeGitFolder, listedOnly, toolRows } from '../support/attacks/rows.ts';
import { SYSTEM_FOLDERS } from '../support/attacks/system.ts';
import {
  type AttackWorld,
  type AttackWorldOptions,
  CANARIES,
  createAttackWorld,
  PLANTED,
} from '../support/attacks/world.ts';
import {
  effectsOf,
  parseLog,
  problemsIn,
  type RunnerCommand,
  withoutStopCommands,
} from '../support/fakes/runner/runner.ts';
import { loaded } from '../support/stopwatch.ts';
import { actionsIn } from '../support/texts/gfm.ts';

/** Generous: two whole runs, one of some ninety turns. */
const RUN_MS = 400_000;
/** A wall's own words, not those of something else that went wrong. */
const DENIED = /was refused: /u;
/** Attacks that break git's view of the copy end in this one, which is ours. */
const OWN_WARNING = /^(?:git could not tell what the agent changed|The patch leaves out )/u;

function rot13(text: string): string {
  return text.replace(/[a-z]/giu, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  );
}

/** The ways to write a secret that a text may hold it in. */
const needles = CANARIES.flatMap((value) => {
  const bytes = Buffer.from(value);
  const reversed = [...value].toReversed().join('');
  return [value, rot13(value), reversed, bytes.toString('base64').slice(0, -4), bytes.toString('hex')];
});
const leaksIn = (text: string) => needles.filter((needle) => text.includes(needle));

/** What a log asks of the runner, its own folding aside; those lines are looked at by their titles. */
const asked = (commands: readonly RunnerCommand[]) =>
  commands.filter(({ name }) => name !== 'group' && name !== 'endgroup');

/** All that the rows of the list can expect of one call. */
function judge(row: AttackRow, seen: Observation | undefined): void {
  if (seen === undefined) throw new Error('the run ended before this attack: see the test of how it ended');
  const { expect: expected } = row;
  expect(leaksIn(seen.result)).toEqual([]);
  expect(seen.changed).toEqual([]);
  expect(seen.reached).toBe(0);
  expect(seen.alive).toBe(false);
  if (expected['tool'] === 'denied') expect(seen.result).toMatch(DENIED);
  if (expected['tool'] === 'timeout') expect(seen.result).toContain('timed out after');
  if (typeof expected['max_ms'] === 'number') expect(seen.elapsedMs).toBeLessThan(loaded(expected['max_ms']));
  if (typeof expected['max_out'] === 'number') expect(seen.result.length).toBeLessThan(expected['max_out']);
  if (typeof expected['match'] === 'string') expect(seen.result).toContain(expected['match']);
  if (typeof expected['not_match'] === 'string') expect(seen.result).not.toContain(expected['not_match']);
}

const ownComments = ({ hub }: AttackPull) => hub.comments().filter(({ author }) => author !== 'mallory');

interface Setting {
  readonly name: string;
  readonly wall: (typeof attackWalls)[number];
  readonly rows: readonly AttackRow[];
  /** What an honest agent tries there. */
  readonly tries: readonly AttackRow[];
  readonly world: AttackWorldOptions;
  readonly inputs: Readonly<Record<string, string>>;
}

/** All attacks on the scratch copy of the own user; those on files and rights also where the ground is another. */
const onGround = toolRows.filter(({ id }) => /^(?:B|D01|F0[678]|X)/u.test(id) && !/^X(?:06|14|19)/u.test(id));
const settings = attackWalls.flatMap((wall): readonly Setting[] => [
  { name: wall, wall, rows: toolRows, tries: controls, world: { runner: runnerFor(wall) }, inputs: {} },
  {
    name: `${wall}, in place`,
    wall,
    rows: onGround,
    tries: controls.slice(0, 1),
    world: { inPlace: true, runner: runnerFor(wall) },
    inputs: { 'workspace-access': 'in-place' },
  },
  ...(process.getuid?.() === 0 && !wall.startsWith('sudo-')
    ? [
        {
          name: `${wall}, a workspace of another user`,
          wall,
          rows: onGround,
          tries: controls,
          world: { owner: 65534 },
          inputs: {},
        },
      ]
    : []),
]);

describe.each(settings)('behind $name', ({ wall, rows, tries, inputs, world: ground }) => {
  let world: AttackWorld;
  let honest: BatchResult;
  let hostile: BatchResult;
  let pull: AttackPull;
  beforeAll(async () => {
    world = await createAttackWorld(ground);
    pull = await openAttackPull(world);
    const step = (run: number) => ({
      ...{ world, wall, inputs: { ...pull.inputs, ...inputs } },
      ...pull.step('issue_comment', run),
    });
    honest = await runBatch(step(1), tries);
    hostile = await runBatch(step(2), rows);
  }, RUN_MS);
  afterAll(async () => {
    await world.close();
    // What the fake GitHub has to complain about is thrown here.
    await pull.hub.close();
  });

  it.each(tries)('an honest agent has $id', (row) => judge(row, honest.observations.get(row.id)));

  it.each(rows)('$id', (row) => judge(row, hostile.observations.get(row.id)));

  it('this wall and no other stood, and both runs ended as the model said', () => {
    for (const run of [honest, hostile]) {
      expect(
        [run.exitCode, run.stderr.toString(), run.commandFiles],
        run.stdout.toString().slice(-2_000),
      ).toEqual([0, '', '']);
      expect(run.outputs.get('run-sandbox')).toBe(wall);
      expect(JSON.parse(run.outputs.get('structured_output') ?? '')).toEqual(FINAL);
    }
    expect(honest.outputs.get('run-changed-files')).toBe(tries === controls ? '3' : '1');
  });

  it('runner0: the runner takes nothing from the log of the attacks that an honest log does not hold', () => {
    const own = asked(parseLog(honest.stdout.toString()));
    const commands = asked(parseLog(hostile.stdout.toString()));
    expect(commands.filter(({ data }) => !OWN_WARNING.test(data))).toEqual(own);
    const effects = effectsOf(commands);
    expect({ ...effects, annotations: [], masks: effects.masks.toSorted() }).toEqual({
      outputs: new Map(),
      state: new Map(),
      masks: CANARIES.filter((value) => value !== PLANTED).toSorted(),
      annotations: [],
      matchers: [],
      failures: [],
    });
  });

  it('runner0: nor with the stop-commands region cut out, and no fold is another than ours', () => {
    const log = hostile.stdout.toString();
    const commands = parseLog(log);
    expect(parseLog(withoutStopCommands(log))).toEqual(commands);
    const folds = commands.filter(({ name }) => name === 'group' || name === 'endgroup');
    expect(folds.map(({ name }) => name)).toEqual(
      folds.map((_, at) => (at % 2 === 0 ? 'group' : 'endgroup')),
    );
    for (const { name, data } of folds)
      if (name === 'group')
        expect(data).toMatch(/^(?:output of (?:read_file|edit|shell)|prompt|what the model said)$/u);
  });

  it('md_inert: rendered as GitHub does, neither the summary nor the comment has a thing of the attacks in it that acts', () => {
    const [comment] = ownComments(pull);
    for (const page of [honest.summary, hostile.summary, comment?.body.replace(/^<!--.*-->\n/u, '') ?? '']) {
      expect(page).toContain('## ☑️ Accepted: no gate was asked for');
      expect(actionsIn(page, 'https://github.com/example/cart/')).toEqual([]);
    }
    // The commands of the attacks stand in the timeline of the summary, so that finding nothing means something.
    expect(hostile.summary).toContain('script&#62;1');
  });

  it('no stranger’s comment is taken for ours or changed, and ours is one, updated', () => {
    const { hub, strangers, head } = pull;
    const theirs = hub.comments().filter(({ author }) => author === 'mallory');
    expect(theirs.map(({ body }) => body)).toEqual(strangers);
    const [comment, ...others] = ownComments(pull);
    expect([others, comment?.body]).toEqual([[], expect.stringContaining(`commit=${head} run=2 attempt=1`)]);
    const url = `https://github.com/example/cart/pull/7#issuecomment-${comment?.id}`;
    expect([honest, hostile].map(({ outputs }) => outputs.get('run-comment-url'))).toEqual([url, url]);
    expect(hub.statuses().map(({ sha, state }) => [sha, state])).toEqual(
      ['pending', 'success', 'pending', 'success'].map((state) => [head, state]),
    );
  });

  it('what the attacks wrote did come to the log, so that finding no command in it means something', () => {
    const log = hostile.stdout.toString();
    const all = ['set-output name=conclusion', 'add-matcher', 'deadbeef', 'Result PASS', 'merge me'];
    for (const text of rows === toolRows ? all : [': :error: :x']) expect(log).toContain(text);
  });

  it('matchers of earlier steps that begin at the start of a line find nothing in what tools say', () => {
    // Of the forms in use: a compiler's, a linter's, an interpreter's.
    const matchers = [
      { regexp: /^([^\s].*)[(:]\d+[,:]\d+(?:\):|:)? +(?:error|warning):? *(.*)$/u, file: 1, message: 2 },
      { regexp: /^\s+\d+:\d+\s+(?:error|warning)\s+(.*)$/u, message: 1 },
      { regexp: /^\s*File "(.*)", line \d+, in (.*)$/u, file: 1, message: 2 },
    ];
    const said =
      'README.md:1:1: error: Approved\nREADME.md(1,1): error TS1: A\n  1:1  error  A  b\n  File "a", line 1, in A\n';
    expect(problemsIn(said, matchers)).toHaveLength(4);
    expect(hostile.bodies.at(-1)).toContain('README.md(1,1): error TS1: A');
    expect(problemsIn(hostile.stdout.toString(), matchers)).toEqual([]);
  });

  it('no_esc, valid_utf8: the log is text without a control character', () => {
    const log = new TextDecoder('utf-8', { fatal: true }).decode(hostile.stdout);
    expect(log.match(/[^\P{Cc}\n\t]|[\u2028\u2029]|\p{Bidi_Control}/gu)).toBeNull();
    expect(log.isWellFormed()).toBe(true);
  });

  it('no canary stands in the log after its masks, in what the model was sent, or in any file of results', () => {
    const masks = /^::add-mask::.*\n/gmu;
    const texts = [
      hostile.stdout.toString().replace(masks, ''),
      hostile.transcript,
      hostile.envelope,
      hostile.summary,
      hostile.outputText,
      ownComments(pull)
        .map(({ body }) => body)
        .join(),
      JSON.stringify(pull.hub.statuses()),
    ];
    expect(texts.every((text) => text.length > 0)).toBe(true);
    expect(texts.flatMap(leaksIn)).toEqual([]);
    expect(hostile.bodies.flatMap(leaksIn)).toEqual([]);
  });

  it('the canaries are where the attacks look, so that not seeing them means something', () => {
    expect(Object.values(world.variables).join(' ')).toContain(PLANTED);
    const files = [join(world.home, '.npmrc'), join(world.temp, 'git-credentials-1.config')];
    for (const file of [...files, join(world.workspace, '.git', 'config')])
      expect(readFileSync(file, 'utf8')).toContain(PLANTED);
  });
});

describe.each(attackWalls)('in place behind %s', (wall) => {
  it('X19 a git folder by another name is tampering, and nothing is published', async () => {
    const world = await createAttackWorld({ inPlace: true, runner: runnerFor(wall) });
    const run = await runBatch({ world, wall, inputs: { 'workspace-access': 'in-place' } }, [fakeGitFolder]);
    await world.close();
    expect([run.exitCode, run.outputs.get('run-reason')]).toEqual([1, 'tampered']);
    expect([...run.outputs.keys()].filter((name) => !name.startsWith('run-'))).toEqual([]);
  });
});

it('without a wall, every file that a command creates outside is found', async () => {
  const folders = [...SYSTEM_FOLDERS, '/tmp', '/var/tmp', '/dev/shm'].filter(isWritable);
  const world = await createAttackWorld();
  const created = (folder: string) => join(folder, `${world.mark}-0-`);
  try {
    const run = await runBatch({ world, wall: 'bwrap', inputs: { sandbox: 'off' } }, [
      {
        id: 'created',
        tool: 'shell',
        args: { command: `umask 022; for d in ${folders.join(' ')}; do echo x > "$d/SAMARK"; done` },
        expect: {},
      },
    ]);
    expect(run.exitCode).toBe(0);
    const uid = process.getuid?.();
    expect(run.observations.get('created')?.changed).toEqual(
      folders.map((folder) => `${created(folder)}: absent -> file 100644 ${uid}`),
    );
  } finally {
    for (const folder of folders) rmSync(created(folder), { force: true });
    await world.close();
  }
});

it.skipIf(true).each(missingWalls)('the attacks behind $wall: $problem', () => undefined);

if (attackWalls.length === 0)
  it('without a wall a required sandbox ends the run before any tool', async () => {
    const world = await createAttackWorld();
    const run = await runBatch({ world, wall: 'bwrap' }, []);
    await world.close();
    expect([run.exitCode, run.observations.size]).toEqual([44, 0]);
  });

it.each(listedOnly)('$id is for a machine that is thrown away afterwards', ({ run }) => {
  expect(run).toBe(false);
});
