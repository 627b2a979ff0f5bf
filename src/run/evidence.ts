import path from 'node:path';
import { type CoverageOptions, createCoverageMeter } from '../evidence/coverage.ts';
import { type Claim, countGrounding, groundFindings } from '../evidence/grounding.ts';
import { isLockFile } from '../evidence/not-required.ts';
import { createReview } from '../evidence/review.ts';
import { readBounded } from '../files/read-bounded.ts';
import { isWithin, realOrNull } from '../files/real-paths.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import type { Evidence, Locate } from '../reporters/report-types.ts';
import { isClosedPath } from '../text/file-names.ts';
import { isObject, readText } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { listNames } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import type { Plan } from './prepare.ts';
import type { RunEvidence, RunState, World } from './world.ts';

/** Bytes of a file in which quotes are looked up. */
const MAX_SOURCE_FILE = 1024 ** 2;

/** Opens the evidence of a run, once its change is known, or known to be unknown. */
export function openEvidence(
  policy: Plan['policy']['evidence'],
  folders: CoverageOptions,
  state: RunState,
  { locate }: Pick<World, 'locate'>,
): RunEvidence {
  const meter = createCoverageMeter(state.change, folders);
  function coverage() {
    meter.observe({ tool: 'message', target: '', text: state.inlined ?? '' });
    return meter.measure();
  }
  const lookedUp = new WeakMap<JsonObject, Pick<Evidence, 'grounding' | 'findings'>>();
  async function ground(payload: JsonObject): Promise<readonly string[]> {
    const claims = readClaims(payload, locate);
    const findings = await groundFindings(claims, (name) => readSource(name, folders.root), state.change);
    lookedUp.set(payload, { findings, grounding: countGrounding(findings) });
    const list = policy.findings?.list ?? 'findings';
    return findings.flatMap(({ grounding }, at) =>
      grounding === 'unproven' && claims[at]?.quote != null ? [`/${list}/${at}/quote`] : [],
    );
  }
  const review = createReview({
    ...policy,
    isRed: (payload) => isRed(payload, state),
    meter: { observe: meter.observe, measure: coverage },
    hasLooked: () => state.record.toolCalls > 0 || state.inlined !== null,
    judgeCommand: async (payload) => (policy.namesCommand ? judgeCommand(payload, state) : null),
    ground,
  });
  return {
    review,
    describe: (payload) => ({ coverage: coverage(), ...(payload && lookedUp.get(payload)) }),
  };
}

/** Without a gate, as in the legs of a merge, `passed` is what others will decide by. */
function isRed(payload: JsonObject, { gate }: RunState): boolean {
  const status = gate?.evaluate(payload).status ?? 'none';
  return status === 'none' ? payload['passed'] === false : status === 'not_met';
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
  const edited = files.filter((each) => !each.isNew && !isLockFile(each.path)).map((each) => each.path);
  if (edited.length === 0) return null;
  return `files of the checkout were changed before ${name} was judged: ${listNames(edited)}.`;
}

/** Returns what each finding claims; null for one about no file. */
function readClaims(payload: JsonObject, locate: Locate): readonly (Claim | null)[] {
  return findingRows(payload).map((row) => {
    const written = locationOfRow(row)?.place ?? null;
    if (written === null) return null;
    const quote = isObject(row) ? (readText(row, 'quote') ?? '') : '';
    const file = locate(written)?.path ?? null;
    return { path: file, line: written.line, quote: quote.trim() === '' ? null : quote };
  });
}

/** Reads a file as it was before the agent: in the checkout, without what it wrote there. */
function readSource(name: string, root: string): string | null {
  const home = realOrNull(root) ?? root;
  const read = readBounded(path.resolve(home, name), { maxBytes: MAX_SOURCE_FILE, links: 'refuse' });
  // A verdict must not tell of what the tools do not read: a model may name any path.
  const isOpen =
    read.ok && isWithin(read.realPath, home) && !isClosedPath(path.relative(home, read.realPath));
  return isOpen ? read.bytes.toString('utf8') : null;
}
