/** What a run's verdict rests on: measures coverage and looks findings up, with the files of this machine. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/parse-config.ts';
import { findBlockingRows } from '../evidence/blocking.ts';
import { type Claim, readClaim } from '../evidence/claims.ts';
import { type CoverageMeter, createCoverageMeter, type SeenResult } from '../evidence/coverage.ts';
import { countGrounding, groundFindings, groundingIssue } from '../evidence/grounding.ts';
import type { SourceTexts } from '../evidence/library.ts';
import { createReview, isCovered } from '../evidence/review.ts';
import { unknownCoverage } from '../evidence/share.ts';
import { refuseComponents } from '../files/protected-names.ts';
import { readBounded } from '../files/read-bounded.ts';
import { isBelow, realOrNull } from '../reporters/checkouts.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import type { Locate } from '../reporters/source-locations.ts';
import { quote } from '../sandbox/exec/shell-line.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { GIT, SETTINGS } from '../sandbox/workspace/git-diff.ts';
import { isObject } from '../text/json.ts';
import { READ, WAIT } from '../text/limits.ts';
import { namingFor } from '../text/naming.ts';
import type { Issue, JsonObject } from '../types.ts';
import { type EvidencePolicy, requiresCoverage } from './evidence-policy.ts';
import type { LookedUp, RunEvidence, RunState, World } from './world.ts';

interface EvidenceOptions {
  readonly policy: EvidencePolicy;
  /** When the agent had not written anything yet, in milliseconds of the system's clock. */
  readonly openedAt: number;
  readonly sandbox: OpenedSandbox;
  /** The root of the repository, which is at the same path for tools unless the agent works in a copy elsewhere. */
  readonly root: { readonly here: string; readonly forTools: string };
  readonly config: Config;
  readonly state: RunState;
  readonly world: World;
}

type Meter = Pick<CoverageMeter, 'observe' | 'measure'>;

interface Looked extends LookedUp {
  readonly issues: readonly (Issue | null)[];
}

/** Opens the evidence of a run, once its change is known, or known to be unknown. */
export function openEvidence(options: EvidenceOptions): RunEvidence {
  const { policy, openedAt, state, world } = options;
  const meter = createMeter(options);
  const opened = new WeakMap<JsonObject, Looked>();
  const look = async (payload: JsonObject): Promise<Looked> => {
    const known = opened.get(payload);
    if (known !== undefined) return known;
    const claims = readClaims(payload, world.locate);
    const files = await openSources(claims, openedAt, options);
    const grounded = await groundFindings(claims, files, state.change);
    const list = policy.findings?.list ?? 'findings';
    const issues = grounded.map((each, at) => {
      const claim = claims[at];
      return claim === undefined ? null : groundingIssue(`/${list}/${at}`, claim, each);
    });
    const looked = { findings: grounded, counts: countGrounding(grounded), issues };
    opened.set(payload, looked);
    return looked;
  };
  const review = createReview({
    ...policy,
    isRed: (payload) => isRed(payload, state),
    meter,
    async ground(payload) {
      if (policy.grounding === 'off') return [];
      const { findings, issues } = await look(payload);
      return findings.map(({ status }, at) => ({ status, issue: issues[at] ?? null }));
    },
    blocking: (payload) =>
      findBlockingRows(payload, policy.findings?.list ?? 'findings', (each) => meetsGate(each, state)),
    naming: namingFor(world.entry),
  });
  return {
    review,
    coverage: meter.measure,
    groundingOf: (payload) => opened.get(payload) ?? null,
  };
}

/** Without a gate, as in the legs of a merge, `passed` is what others will decide by. */
function isRed(payload: JsonObject, { gate }: RunState): boolean {
  const status = gate?.evaluate(payload).status ?? 'none';
  return status === 'none'
    ? Object.hasOwn(payload, 'passed') && payload['passed'] === false
    : status === 'not_met';
}

/** Without a gate others decide by the payload, and it is not known by what of it: then nothing counts as enough. */
function meetsGate(payload: JsonObject, { gate }: RunState): boolean {
  return gate?.evaluate(payload).status === 'met';
}

function createMeter({ root, sandbox, config, state, world }: EvidenceOptions): Meter {
  if (state.change === null) {
    const coverage = unknownCoverage(state.changeUnknown);
    return { observe: () => undefined, measure: () => coverage };
  }
  return readBeside(
    createCoverageMeter(state.change, {
      root: root.forTools,
      workingDirectory: sandbox.workingDirectory,
      subject: path.relative(root.here, path.resolve(world.workspace, config.workingDirectory)),
    }),
  );
}

/** Reads results while the next tool or request is under way, which would wait for it otherwise. */
function readBeside(meter: CoverageMeter): Meter {
  const waiting: SeenResult[] = [];
  const errors: unknown[] = [];
  const readAll = () => {
    for (const result of waiting.splice(0)) {
      try {
        meter.observe(result);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  return {
    observe(result) {
      waiting.push(result);
      setImmediate(readAll);
    },
    /** Throws what reading threw, once: a verdict must not rest on it, but there is still a report. */
    measure() {
      readAll();
      for (const error of errors.splice(0)) throw error;
      return meter.measure();
    },
  };
}

function readClaims(payload: JsonObject, locate: Locate | null): readonly Claim[] {
  return findingRows(payload).map((row) => {
    if (!isObject(row)) return readClaim({}, null);
    const written = locationOfRow(row)?.place ?? null;
    const place = written && {
      path: locate?.(written)?.path ?? null,
      ...{ line: written.line, endLine: written.endLine },
    };
    const claim = readClaim(row, place);
    const { path: name = null, text = null } = claim.missing ?? {};
    return name === null ? claim : { ...claim, missing: { path: findFile(name, locate) ?? name, text } };
  });
}

function findFile(name: string, locate: Locate | null): string | null {
  return locate?.({ path: name, line: null, endLine: null, column: null })?.path ?? null;
}

/** Opens the files as they were before the agent: in the checkout, without what it wrote there and what git ignores. */
async function openSources(
  claims: readonly Claim[],
  openedAt: number,
  { root, sandbox, config, state, world }: EvidenceOptions,
): Promise<SourceTexts> {
  const changed = new Set(state.change?.files.map((file) => file.path));
  const named = claims.flatMap(({ path: name, missing }) => [
    ...(name === null ? [] : [name]),
    ...(missing?.path == null || findFile(missing.path, world.locate) === null ? [] : [missing.path]),
  ]);
  const others = new Set(named.filter((name) => !changed.has(name)));
  const ignored = await findIgnored([...others], root, sandbox, state);
  const home = realOrNull(root.here) ?? root.here;
  /** A verdict must not tell of what the tools do not read: `missing` of a model may name any path. */
  const refuse = (real: string) => {
    const components = path.relative(home, real).split(path.sep);
    return isBelow(real, home)
      ? refuseComponents(components, 'read', true)
      : 'it is outside of the repository';
  };
  return {
    text(name) {
      const file = path.resolve(home, name);
      const isKnown = changed.has(name) || others.has(name);
      if (!isKnown || ignored.has(name)) return null;
      const read = readBounded(file, { maxBytes: READ.sourceFile, links: 'refuse', refuse });
      return read.ok ? read.bytes.toString('utf8') : null;
    },
    exists(name) {
      const found = findFile(name, world.locate);
      return found !== null;
    },
    async holdsSecret(text) {
      const rules = await import('./secret-rules.ts');
      return rules.holdsSecret(text);
    },
  };
}

/**
 * Returns those of the paths that git ignores; where git fails, all that it was asked about. What the index lists is not
 * ignored, whatever the agent made of the folder meanwhile.
 */
async function findIgnored(
  paths: readonly string[],
  root: EvidenceOptions['root'],
  sandbox: OpenedSandbox,
  { stop }: RunState,
): Promise<ReadonlySet<string>> {
  const ignored = new Set<string>();
  if (!sandbox.shellOffered || !isRepository(root.here)) return ignored;
  const ask = async (names: readonly string[], command: string) => {
    const words = names.map(quote).join(' ');
    const script = `${SETTINGS}cd ${quote(root.forTools)} && printf '%s\\0' ${words} | ${command}`;
    const limits = {
      timeoutMs: WAIT.helper,
      maxOutputBytes: Buffer.byteLength(script),
      signal: stop.signal,
    };
    const result = await sandbox.exec(script, limits).catch(() => null);
    stop.signal.throwIfAborted();
    // 1 if there is none.
    return result?.exitCode === 0 || result?.exitCode === 1
      ? result.output.split('\0').filter(Boolean)
      : null;
  };
  for (const some of splitByLength(paths, COMMAND_CHARACTERS)) {
    const listed = new Set(await ask(some, `xargs -0 ${GIT} --literal-pathspecs ls-files -z --full-name --`));
    const others = some.filter((name) => !listed.has(name));
    if (others.length === 0) continue;
    // A single path beyond a link makes git fail for all of them.
    for (const name of (await ask(others, `${GIT} check-ignore -z --stdin`)) ?? others) ignored.add(name);
  }
  return ignored;
}

/** Characters of paths in one command: Linux takes no argument of more than 128 KiB, and a character has at most 3 bytes. */
const COMMAND_CHARACTERS = 30_000;

function isRepository(folder: string): boolean {
  return lstatSync(path.join(folder, '.git'), { throwIfNoEntry: false }) !== undefined;
}

/** Splits texts into lists of at most so many characters each, or of a single text. */
function splitByLength(texts: readonly string[], most: number): readonly (readonly string[])[] {
  const lists: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const text of texts) {
    length += text.length;
    if (length > most) {
      lists.push([]);
      length = text.length;
    }
    lists.at(-1)?.push(text);
  }
  return lists;
}
