import path from 'node:path';
import { type CoverageMeter, createCoverageMeter } from '../evidence/coverage.ts';
import { type Claim, countGrounding, groundFindings, type ReadSource } from '../evidence/grounding.ts';
import { isLockFile } from '../evidence/not-required.ts';
import { createReview } from '../evidence/review.ts';
import { readBounded } from '../files/read-bounded.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import { isBelow, realOrNull } from '../reporters/places.ts';
import type { Locate } from '../reporters/report-types.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { isClosedPath } from '../text/file-names.ts';
import { isObject, readText } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { listNames } from '../text/messages.ts';
import type { Issue, JsonObject } from '../types.ts';
import type { EvidencePolicy } from './evidence-policy.ts';
import type { LookedUp, RunEvidence, RunState, World } from './world.ts';

interface EvidenceOptions {
  readonly policy: EvidencePolicy;
  readonly sandbox: Pick<OpenedSandbox, 'workingDirectory'>;
  /** The root of the repository, and the judged folder, relative to it. */
  readonly root: string;
  readonly subject: string;
  readonly state: RunState;
  readonly world: Pick<World, 'locate'>;
}

/** Bytes of a file in which quotes are looked up. */
const MAX_SOURCE_FILE = 1024 ** 2;

/** Opens the evidence of a run, once its change is known, or known to be unknown. */
export function openEvidence(options: EvidenceOptions): RunEvidence {
  const { policy, root, state, world } = options;
  const meter = createMeter(options);
  const lookedUp = new WeakMap<JsonObject, LookedUp>();
  async function ground(payload: JsonObject): Promise<readonly Issue[]> {
    const findings = await groundFindings(readClaims(payload, world.locate), openSources(root), state.change);
    lookedUp.set(payload, { findings, counts: countGrounding(findings) });
    const list = policy.findings?.list ?? 'findings';
    return findings.flatMap(({ issue }, at) =>
      issue === null ? [] : [{ path: `/${list}/${at}/quote`, keyword: 'quote', message: issue }],
    );
  }
  const review = createReview({
    ...policy,
    isRed: (payload) => isRed(payload, state),
    meter,
    hasLooked: () => state.record.toolCalls > 0 || receivedDiff(state) !== null,
    judgeCommand: async (payload) => (policy.namesCommand ? judgeCommand(payload, state) : null),
    ground,
  });
  return { review, coverage: meter.measure, groundingOf: (payload) => lookedUp.get(payload) ?? null };
}

/** Without a gate, as in the legs of a merge, `passed` is what others will decide by. */
function isRed(payload: JsonObject, { gate }: RunState): boolean {
  const status = gate?.evaluate(payload).status ?? 'none';
  return status === 'none'
    ? Object.hasOwn(payload, 'passed') && payload['passed'] === false
    : status === 'not_met';
}

function createMeter({ root, subject, sandbox, state }: EvidenceOptions): CoverageMeter {
  const { change, diffs, noChange } = state;
  if (change === null) {
    const files = { changed: 0, required: 0, shown: 0, unseen: [], notRequired: [] };
    return { observe: () => undefined, measure: () => ({ ...noChange, files }) };
  }
  const { workingDirectory } = sandbox;
  const meter = createCoverageMeter(change, { root, workingDirectory, subject, diffs });
  return {
    observe: meter.observe,
    measure() {
      meter.observe({ tool: 'message', target: '', text: receivedDiff(state) ?? '' });
      return meter.measure();
    },
  };
}

/** Characters of a token: code has three or four. */
const MAX_PER_TOKEN = 6;

/** The diff of the first message; null if there was none, or the usage says that the provider cut it. */
function receivedDiff({ inlined, firstUsage }: RunState): string | null {
  const isCut =
    inlined !== null && firstUsage !== null && firstUsage.inputTokens * MAX_PER_TOKEN < inlined.length;
  return isCut ? null : inlined;
}

/** Compares the command of a payload with what was run; a clause about what is wrong with it, or null. */
async function judgeCommand(payload: JsonObject, state: RunState): Promise<string | null> {
  const line = (readText(payload, 'command') ?? '').trim();
  const name = JSON.stringify(line.slice(0, DISPLAY.path));
  const run = state.commands.findLast(({ command }) => command.trim() === line);
  if (run === undefined) return `no command was run whose whole line is ${name}.`;
  if (run.exitCode === null) return `the last run of ${name} did not end by itself.`;
  if (run.exitCode !== 0) return `the last run of ${name} ended with exit code ${run.exitCode}.`;
  const { files } = (await state.changes?.(state.stop.signal)) ?? { files: [] };
  if (files === null) return 'it is not known which files the agent changed.';
  state.judgedWith = files.map((each) => each.path);
  const edited = files.filter((each) => !each.isNew && !isLockFile(each.path));
  if (edited.length === 0) return null;
  return `files of the checkout were changed before ${name} was judged: ${listNames(edited.map((each) => each.path))}.`;
}

/** Returns what each finding claims; null for one about no file. */
function readClaims(payload: JsonObject, locate: Locate | null): readonly (Claim | null)[] {
  return findingRows(payload).map((row) => {
    const written = locationOfRow(row)?.place ?? null;
    if (written === null) return null;
    const quote = isObject(row) ? (readText(row, 'quote') ?? '') : '';
    const path = locate?.(written)?.path ?? null;
    return { path, line: written.line, quote: quote.trim() === '' ? null : quote };
  });
}

/** Opens the files as they were before the agent: in the checkout, without what it wrote there. */
function openSources(root: string): ReadSource {
  const home = realOrNull(root) ?? root;
  return (name) => {
    const read = readBounded(path.resolve(home, name), { maxBytes: MAX_SOURCE_FILE, links: 'refuse' });
    // A verdict must not tell of what the tools do not read: a model may name any path.
    if (!read.ok || !isBelow(read.realPath, home)) return null;
    return isClosedPath(path.relative(home, read.realPath)) ? null : read.bytes.toString('utf8');
  };
}
