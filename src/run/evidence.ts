/** What a run's verdict rests on: measures coverage and looks findings up, with the files of this machine. */
import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config/parse-config.ts';
import { type CoverageMeter, createCoverageMeter } from '../evidence/coverage.ts';
import { type Claim, countGrounding, groundFindings, readClaim } from '../evidence/grounding.ts';
import { createReview, isCovered } from '../evidence/review.ts';
import { unknownCoverage } from '../evidence/share.ts';
import type { SourceTexts } from '../evidence/texts.ts';
import { refuseComponents } from '../files/protected-names.ts';
import { readBounded } from '../files/read-bounded.ts';
import { isBelow, realOrNull } from '../reporters/checkouts.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import type { Locate } from '../reporters/source-locations.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { isObject } from '../text/json.ts';
import { EVIDENCE } from '../text/limits.ts';
import { namingFor } from '../text/naming.ts';
import type { Issue, JsonObject } from '../types.ts';
import { type EvidencePolicy, requiresCoverage } from './evidence-policy.ts';
import type { EarlierEvidence, LookedUp, RunEvidence, RunState, World } from './world.ts';

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

type Meter = Pick<CoverageMeter, 'observe' | 'measure'> & { identify(): string | null };

interface Looked extends LookedUp {
  readonly issues: readonly Issue[];
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
    const files = openSources(claims, openedAt, options);
    const grounded = await groundFindings(claims, files, state.change);
    const list = policy.findings?.list ?? 'findings';
    const issues = grounded.flatMap(({ issue }, at) =>
      issue === null ? [] : [{ path: `/${list}/${at}/quote`, keyword: 'quote', message: issue }],
    );
    const looked = { findings: grounded, counts: countGrounding(grounded), issues };
    opened.set(payload, looked);
    return looked;
  };
  const review = createReview({
    ...policy,
    isRed: (payload) => isRed(payload, state),
    meter,
    ground: async (payload) => (await look(payload)).issues,
    naming: namingFor(world.entry),
  });
  return {
    review,
    coverage: meter.measure,
    changeId: meter.identify,
    groundingOf: (payload) => opened.get(payload) ?? null,
  };
}

/** Whether an earlier verdict may stand for this run: by what its own model was shown. */
export function mayReuse(
  payload: JsonObject,
  { coverage, changeId }: EarlierEvidence,
  policy: EvidencePolicy,
  state: RunState,
): boolean {
  if (isRed(payload, state)) return true;
  // The same files can be another change, as on another base.
  const own = state.evidence?.changeId() ?? null;
  if (own !== null && own !== changeId && requiresCoverage(policy)) return false;
  const known = coverage ?? unknownCoverage('The earlier run did not measure it.');
  // A run that was about no change, as on a schedule, cannot answer for one whose change has to be shown.
  if (known.status === 'unknown' && state.context !== 'none' && requiresCoverage(policy)) return false;
  return isCovered(payload, known, policy);
}

/** Without a gate, as in the legs of a merge, `passed` is what others will decide by. */
function isRed(payload: JsonObject, { gate }: RunState): boolean {
  const status = gate?.evaluate(payload).status ?? 'none';
  return status === 'none'
    ? Object.hasOwn(payload, 'passed') && payload['passed'] === false
    : status === 'not_met';
}

function createMeter({ root, sandbox, config, state, world }: EvidenceOptions): Meter {
  if (state.change === null) {
    const coverage = unknownCoverage(state.changeUnknown);
    return { observe: () => undefined, measure: () => coverage, identify: () => null };
  }
  return createCoverageMeter(state.change, {
    root: root.forTools,
    workingDirectory: sandbox.workingDirectory,
    subjectPaths: config.subjectPaths.map((each) =>
      path.relative(root.here, path.resolve(world.workspace, each)),
    ),
  });
}

function readClaims(payload: JsonObject, locate: Locate | null): readonly Claim[] {
  return findingRows(payload).map((row) => {
    if (!isObject(row)) return readClaim({}, null);
    const written = locationOfRow(row)?.place ?? null;
    const place = written && {
      path: locate?.(written)?.path ?? null,
      ...{ line: written.line, endLine: written.endLine },
    };
    return readClaim(row, place);
  });
}

/** Opens the files as they were before the agent: in the checkout, without what it wrote there. */
function openSources(
  claims: readonly Claim[],
  openedAt: number,
  { root, config, state }: EvidenceOptions,
): SourceTexts {
  const known = new Set(claims.map((claim) => claim.path));
  for (const file of state.change?.files ?? []) known.add(file.path);
  const home = realOrNull(root.here) ?? root.here;
  /** A verdict must not tell of what the tools do not read: a model may name any path. */
  const refuse = (real: string) => {
    const components = path.relative(home, real).split(path.sep);
    return isBelow(real, home)
      ? refuseComponents(components, 'read', true)
      : 'it is outside of the repository';
  };
  const isOfAgent = (file: string) => {
    if (config.workspaceAccess !== 'in-place') return false;
    // Unlike the time of the last change to the contents, this one cannot be set back.
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats !== undefined && stats.ctimeMs >= openedAt;
  };
  return {
    text(name) {
      const file = path.resolve(home, name);
      if (!known.has(name) || isOfAgent(file)) return null;
      const read = readBounded(file, { maxBytes: EVIDENCE.sourceFile, links: 'refuse', refuse });
      return read.ok ? read.bytes.toString('utf8') : null;
    },
  };
}
