/**
 * Every attack by tool calls, through the committed bundle, on a self-hosted runner. By default in one setting, in one run
 * of the bundle; `ATTACKS=user npx vitest run __tests__/e2e/attacks.test.ts` is the list in another (`allSettings`).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allSettings, attackSettings, isWritable } from '../support/attacks/backends.ts';
import { type BatchResult, FINAL, type Observation, runBatch } from '../support/attacks/batch.ts';
import { groupRow, machineRows, PLANTED } from '../support/attacks/machine.ts';
import { type AttackPull, openAttackPull } from '../support/attacks/pull-request.ts';
import { type AttackRow, controls, listedOnly, shell, toolRows } from '../support/attacks/rows.ts';
import { SYSTEM_FOLDERS } from '../support/attacks/system.ts';
import { type AttackWorld, CANARIES, createAttackWorld } from '../support/attacks/world.ts';
import {
  effectsOf,
  parseLog,
  problemsIn,
  type RunnerCommand,
  withoutStopCommands,
} from '../support/fakes/runner/runner.ts';
import { actionsIn } from '../support/texts/gfm.ts';

/** The file tools' own messages, not those of another failure. */
const DENIED = /^".*" (?:does not exist\. Read|is not a regular file)|^Access to ".*" is denied\.$/mu;
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

/** What an attack achieved, one line each, and what the row expects and the result does not show. */
function harmOf({ expect: expected }: AttackRow, seen: Observation): readonly string[] {
  const { result, elapsedMs } = seen;
  const { tool, match, max_ms: maxMs, max_out: maxOut, not_match: unwanted } = expected;
  const harm = [...leaksIn(result).map((needle) => `leaks ${needle}`), ...seen.changed];
  if (seen.reached > 0) harm.push(`reaches a listener ${seen.reached} times`);
  if (seen.alive) harm.push('leaves a process');
  if (tool === 'denied' && !DENIED.test(result)) harm.push(`is not denied: ${result}`);
  for (const text of [match, tool === 'timeout' ? 'timed out after' : null])
    if (typeof text === 'string' && !result.includes(text)) harm.push(`lacks ${text} in ${result}`);
  if (typeof unwanted === 'string' && result.includes(unwanted)) harm.push(`says ${unwanted}`);
  if (typeof maxMs === 'number' && elapsedMs >= 4 * maxMs) harm.push(`takes ${elapsedMs} ms`);
  if (typeof maxOut === 'number' && result.length >= maxOut) harm.push(`prints ${result.length} characters`);
  return harm;
}

function expectRow(row: AttackRow, run: BatchResult): void {
  const seen = run.observations.get(row.id);
  if (seen === undefined) throw new Error('the run ended before this attack: see the test of its exit code');
  expect(harmOf(row, seen)).toEqual([]);
}

const isGroup = ({ name }: RunnerCommand) => name === 'group' || name === 'endgroup';

const settings = attackSettings().map((setting) => ({
  ...setting,
  rows: [...toolRows, ...machineRows, ...(setting.wall === 'bwrap' ? [] : [groupRow])],
}));

describe.each(settings)('$name', ({ wall, rows, ...options }) => {
  let world: AttackWorld;
  let honest: BatchResult;
  let hostile: BatchResult;
  let pull: AttackPull;
  beforeAll(async () => {
    world = await createAttackWorld(options);
    pull = await openAttackPull(world);
    const step = (run: number) => ({ world, wall, inputs: pull.inputs, ...pull.step('issue_comment', run) });
    honest = await runBatch(step(1), controls);
    hostile = await runBatch(step(2), rows);
  });
  afterAll(async () => {
    await world.close();
    // The fake GitHub throws its complaints here.
    await pull.hub.close();
  });

  it.each(controls)('an honest agent can $id', (row) => expectRow(row, honest));

  it.each(rows)('$id', (row) => expectRow(row, hostile));

  it('uses this backend, and both runs end with the model’s verdict', () => {
    for (const run of [honest, hostile]) {
      expect(
        [run.exitCode, run.stderr.toString(), run.commandFiles],
        run.stdout.toString().slice(-2_000),
      ).toEqual([0, '', '']);
      expect(run.outputs.get('run-sandbox')).toBe(wall);
      expect(JSON.parse(run.outputs.get('structured_output') ?? '')).toEqual(FINAL);
    }
    const patch = readFileSync(honest.outputs.get('run-patch-file') ?? '', 'utf8');
    expect(patch.match(/^diff --git /gmu)).toHaveLength(3);
  });

  it('no program of the checkout ran outside', () => {
    expect(existsSync(join(world.base, 'RAN'))).toBe(false);
  });

  it('runner0: the log of the attacks contains no runner command that an honest log does not', () => {
    // Groups are checked by their titles.
    const [own = [], commands = []] = [honest, hostile].map(({ stdout }) =>
      parseLog(stdout.toString()).filter((command) => !isGroup(command)),
    );
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
    const groups = commands.filter(isGroup).map(({ name, data }) => `${name} ${data}`);
    expect(groups.join('\n')).toMatch(
      /^(?:group (?:output of (?:read_file|edit|shell)|prompt|what the model said)\nendgroup \n?)+$/u,
    );
  });

  it('md_inert: the rendered summary and comment contain no active content of the attacks', () => {
    const [comment = ''] = pull.comments().own;
    for (const page of [honest.summary, hostile.summary, comment.replace(/^<!--.*-->\n/u, '')]) {
      expect(page).toContain('## ☑️ Accepted: no gate was asked for');
      expect(actionsIn(page, 'https://github.com/example/cart/')).toEqual([]);
    }
    // The summary contains the attack commands, so the check above is meaningful.
    expect(hostile.summary).toContain('script&#62;1');
  });

  it('changes no comment of a stranger, and updates its own single comment', () => {
    const { hub, strangers, head } = pull;
    const { own, theirs } = pull.comments();
    expect(theirs).toEqual(strangers);
    expect(own).toEqual([expect.stringContaining(`commit=${head} run=2 attempt=1`)]);
    expect(hub.statuses().map(({ sha, state }) => [sha, state])).toEqual(
      ['pending', 'success', 'pending', 'success'].map((state) => [head, state]),
    );
  });

  it('the log contains the attack texts, so that the checks above are meaningful', () => {
    const log = hostile.stdout.toString();
    const texts = ['set-output name=conclusion', 'add-matcher', 'deadbeef', 'Result PASS', 'merge me'];
    for (const text of texts) expect(log).toContain(text);
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
      pull.comments().own.join(),
      JSON.stringify(pull.hub.statuses()),
    ];
    expect(texts.every((text) => text.length > 0)).toBe(true);
    expect([...texts, ...hostile.bodies].flatMap(leaksIn)).toEqual([]);
  });

  it('the canaries are where the attacks look, so that their absence is meaningful', () => {
    expect(Object.values(world.variables).join(' ')).toContain(PLANTED);
    const files = [join(world.home, '.npmrc'), join(world.temp, 'git-credentials-1.config')];
    for (const file of [...files, join(world.workspace, '.git', 'config')])
      expect(readFileSync(file, 'utf8')).toContain(PLANTED);
  });
});

describe('without isolation', () => {
  const SHARED = [...SYSTEM_FOLDERS, '/tmp', '/var/tmp', '/dev/shm'].filter(isWritable);
  const created = shell(
    'files in the shared folders',
    `umask 022; for d in ${SHARED.join(' ')}; do echo x > "$d/SAMARK"; done`,
  );
  /** What attacks achieve that the sandbox prevents, by the beginning of their ids. */
  const harms: readonly (readonly [id: string, harm: RegExp])[] = [
    ['X05', /^leaks /u],
    ['X11', /_runner_file_commands\/set_output_1: /u],
    ['H2 wants the key', /\/\.runner: /u],
    ['H2 wants data', /^leaks /u],
    ['M7', /^reaches a listener 2 times$/u],
    ['F01', /^reaches a listener /u],
    [created.id, /^\/tmp\/SAMARK\S*: absent -> file 100644 /u],
  ];
  const rows = harms.flatMap(([id]) =>
    [...toolRows, ...machineRows, created].filter((row) => row.id.startsWith(id)),
  );
  let world: AttackWorld;
  let run: BatchResult;
  const createdIn = (folder: string) => join(folder, `${world.mark}-${harms.length}-`);
  beforeAll(async () => {
    world = await createAttackWorld();
    run = await runBatch({ world, wall: 'bwrap', inputs: { sandbox: 'off' } }, rows);
  });
  afterAll(async () => {
    for (const folder of SHARED) rmSync(createdIn(folder), { force: true });
    await world.close();
  });

  it.each(harms)('the attack %s succeeds', (id, harm) => {
    const row = rows.find((each) => each.id.startsWith(id)) ?? created;
    const seen = run.observations.get(row.id);
    expect(seen && harmOf(row, seen)).toContainEqual(expect.stringMatching(harm));
  });

  it('a file in each shared folder is noticed', () => {
    const changed = run.observations.get(created.id)?.changed ?? [];
    const uid = process.getuid?.();
    expect(changed).toEqual(
      expect.arrayContaining(SHARED.map((folder) => `${createdIn(folder)}: absent -> file 100644 ${uid}`)),
    );
  });
});

it('the setting that the variable ATTACKS asks for is available here', () => {
  if (process.env['ATTACKS'] !== undefined || allSettings.length > 0) expect(settings).not.toEqual([]);
});

if (allSettings.length === 0)
  it('a required sandbox without a backend ends the run before any tool call', async () => {
    const world = await createAttackWorld();
    const run = await runBatch({ world, wall: 'bwrap' }, []);
    await world.close();
    expect([run.exitCode, run.observations.size]).toEqual([44, 0]);
  });

it('all rows of the list run but those that need a disposable host', () => {
  expect(listedOnly.map(({ id }) => id)).toEqual(['E11-fill-tmp', 'F10-metadata', 'F11-dns']);
});
