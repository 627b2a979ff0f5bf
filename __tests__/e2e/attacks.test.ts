/** Every attack by tool calls, through the committed bundle, behind every isolation backend of this host. */
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
import { actionsIn } from '../support/texts/gfm.ts';

/** Generous: two whole runs, one of some ninety turns. */
const RUN_MS = 400_000;
/** The sandbox's own message, not that of another failure. */
const DENIED = /was refused: /u;
/** Attacks that break git's view of the copy cause this warning, which is ours. */
const OWN_WARNING = /^(?:git could not tell what the agent changed|The patch leaves out )/u;

function rot13(text: string): string {
  return text.replace(/[a-z]/giu, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  );
}

/** The encodings in which a text may contain a secret. */
const needles = CANARIES.flatMap((value) => {
  const bytes = Buffer.from(value);
  const reversed = [...value].toReversed().join('');
  return [value, rot13(value), reversed, bytes.toString('base64').slice(0, -4), bytes.toString('hex')];
});
const leaksIn = (text: string) => needles.filter((needle) => text.includes(needle));

/** The runner commands in a log, except groups, which are checked by their titles. */
const commandsWithoutGroups = (commands: readonly RunnerCommand[]) =>
  commands.filter(({ name }) => name !== 'group' && name !== 'endgroup');

/** Checks everything that a row can expect of one call. */
function expectRow(row: AttackRow, seen: Observation | undefined): void {
  if (seen === undefined) throw new Error('the run ended before this attack: see the test of its exit code');
  const { expect: expected } = row;
  expect(leaksIn(seen.result)).toEqual([]);
  expect(seen.changed).toEqual([]);
  expect(seen.reached).toBe(0);
  expect(seen.alive).toBe(false);
  if (expected['tool'] === 'denied') expect(seen.result).toMatch(DENIED);
  if (expected['tool'] === 'timeout') expect(seen.result).toContain('timed out after');
  // On a busy machine. What the bound detects, such as a read that never ends, takes at least 30 s.
  if (typeof expected['max_ms'] === 'number') expect(seen.elapsedMs).toBeLessThan(4 * expected['max_ms']);
  if (typeof expected['max_out'] === 'number') expect(seen.result.length).toBeLessThan(expected['max_out']);
  if (typeof expected['match'] === 'string') expect(seen.result).toContain(expected['match']);
  if (typeof expected['not_match'] === 'string') expect(seen.result).not.toContain(expected['not_match']);
}

const ownComments = ({ hub }: AttackPull) => hub.comments().filter(({ author }) => author !== 'mallory');

interface Setting {
  readonly name: string;
  readonly wall: (typeof attackWalls)[number];
  readonly rows: readonly AttackRow[];
  /** What an honest agent tries in this setting. */
  readonly tries: readonly AttackRow[];
  readonly world: AttackWorldOptions;
  readonly inputs: Readonly<Record<string, string>>;
}

/** All attacks run in the scratch layer; those on files and permissions also in the other settings. */
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
    // The fake GitHub throws its complaints here.
    await pull.hub.close();
  });

  it.each(tries)('an honest agent can $id', (row) => expectRow(row, honest.observations.get(row.id)));

  it.each(rows)('$id', (row) => expectRow(row, hostile.observations.get(row.id)));

  it('uses this backend, and both runs end with the model’s verdict', () => {
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

  it('runner0: the log of the attacks contains no runner command that an honest log does not', () => {
    const own = commandsWithoutGroups(parseLog(honest.stdout.toString()));
    const commands = commandsWithoutGroups(parseLog(hostile.stdout.toString()));
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

  it('runner0: the same holds without the stop-commands region, and all groups are ours', () => {
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

  it('md_inert: the rendered summary and comment contain no active content of the attacks', () => {
    const [comment] = ownComments(pull);
    for (const page of [honest.summary, hostile.summary, comment?.body.replace(/^<!--.*-->\n/u, '') ?? '']) {
      expect(page).toContain('## ☑️ Accepted: no gate was asked for');
      expect(actionsIn(page, 'https://github.com/example/cart/')).toEqual([]);
    }
    // The summary contains the attack commands, so the check above is meaningful.
    expect(hostile.summary).toContain('script&#62;1');
  });

  it('changes no comment of a stranger, and updates its own single comment', () => {
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

  it('the log contains the attack texts, so that the checks above are meaningful', () => {
    const log = hostile.stdout.toString();
    const all = ['set-output name=conclusion', 'add-matcher', 'deadbeef', 'Result PASS', 'merge me'];
    for (const text of rows === toolRows ? all : [': :error: :x']) expect(log).toContain(text);
  });

  it('problem matchers of earlier steps find nothing in tool output in the log', () => {
    // Common forms: a compiler's, a linter's, an interpreter's.
    const matchers = [
      { regexp: /^([^\s].*)[(:]\d+[,:]\d+(?:\):|:)? +(?:error|warning):? *(.*)$/u, file: 1, message: 2 },
      { regexp: /^\s+\d+:\d+\s+(?:error|warning)\s+(.*)$/u, message: 1 },
      { regexp: /^\s*File "(.*)", line \d+, in (.*)$/u, file: 1, message: 2 },
    ];
    const output =
      'README.md:1:1: error: Approved\nREADME.md(1,1): error TS1: A\n  1:1  error  A  b\n  File "a", line 1, in A\n';
    expect(problemsIn(output, matchers)).toHaveLength(4);
    expect(hostile.bodies.at(-1)).toContain('README.md(1,1): error TS1: A');
    expect(problemsIn(hostile.stdout.toString(), matchers)).toEqual([]);
  });

  it('no_esc, valid_utf8: the log is valid UTF-8 without control characters', () => {
    const log = new TextDecoder('utf-8', { fatal: true }).decode(hostile.stdout);
    expect(log.match(/[^\P{Cc}\n\t]|[\u2028\u2029]|\p{Bidi_Control}/gu)).toBeNull();
    expect(log.isWellFormed()).toBe(true);
  });

  it('no canary is in the log after its masks, in the requests, or in any result file', () => {
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

  it('the canaries are where the attacks look, so that their absence is meaningful', () => {
    expect(Object.values(world.variables).join(' ')).toContain(PLANTED);
    const files = [join(world.home, '.npmrc'), join(world.temp, 'git-credentials-1.config')];
    for (const file of [...files, join(world.workspace, '.git', 'config')])
      expect(readFileSync(file, 'utf8')).toContain(PLANTED);
  });
});

describe.each(attackWalls)('in place behind %s', (wall) => {
  it('X19 a git folder under another name is tampering, and nothing is published', async () => {
    const world = await createAttackWorld({ inPlace: true, runner: runnerFor(wall) });
    const run = await runBatch({ world, wall, inputs: { 'workspace-access': 'in-place' } }, [fakeGitFolder]);
    await world.close();
    expect([run.exitCode, run.outputs.get('run-reason')]).toEqual([1, 'tampered']);
    expect([...run.outputs.keys()].filter((name) => !name.startsWith('run-'))).toEqual([]);
  });
});

it('without isolation, the test detects every file that a command creates outside', async () => {
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
  it('a required sandbox without a backend ends the run before any tool call', async () => {
    const world = await createAttackWorld();
    const run = await runBatch({ world, wall: 'bwrap' }, []);
    await world.close();
    expect([run.exitCode, run.observations.size]).toEqual([44, 0]);
  });

it.each(listedOnly)('$id needs a disposable host', ({ run }) => {
  expect(run).toBe(false);
});
