import path from 'node:path';
import type { Config } from '../config/parse-config.ts';
import { type CoverageMeter, createCoverageMeter } from '../evidence/coverage.ts';
import { type Claim, countGrounding, groundFindings, readClaim } from '../evidence/grounding.ts';
import { createReview } from '../evidence/review.ts';
import { unknownCoverage } from '../evidence/share.ts';
import type { SourceTexts } from '../evidence/texts.ts';
import { isClosedPath } from '../files/names.ts';
import { readBounded } from '../files/read-bounded.ts';
import { isBelow, realOrNull } from '../reporters/checkouts.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import type { Locate } from '../reporters/source-locations.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { isObject } from '../text/json.ts';
import { EVIDENCE } from '../text/limits.ts';
import type { Issue, JsonObject } from '../types.ts';
import type { EvidencePolicy } from './evidence-policy.ts';
import type { LookedUp, RunEvidence, RunState, World } from './world.ts';

interface EvidenceOptions {
  readonly policy: EvidencePolicy;
  readonly sandbox: OpenedSandbox;
  /** The root of the repository. */
  readonly root: string;
  readonly config: Config;
  readonly state: RunState;
  readonly world: World;
}

type Meter = Pick<CoverageMeter, 'observe' | 'measure'>;

interface Looked extends LookedUp {
  readonly issues: readonly Issue[];
}

/** Opens the evidence of a run, once its change is known, or known to be unknown. */
export function openEvidence(options: EvidenceOptions): RunEvidence {
  const { policy, state, world } = options;
  const meter = createMeter(options);
  const opened = new WeakMap<JsonObject, Looked>();
  const look = async (payload: JsonObject): Promise<Looked> => {
    const known = opened.get(payload);
    if (known !== undefined) return known;
    const claims = readClaims(payload, world.locate);
    const files = openSources(claims, options);
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

function createMeter({ root, sandbox, config, state, world }: EvidenceOptions): Meter {
  if (state.change === null) {
    const coverage = unknownCoverage(state.changeUnknown);
    return { observe: () => undefined, measure: () => coverage };
  }
  return createCoverageMeter(state.change, {
    root,
    workingDirectory: sandbox.workingDirectory,
    subject: path.relative(root, path.resolve(world.workspace, config.workingDirectory)),
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
function openSources(claims: readonly Claim[], { root, state }: EvidenceOptions): SourceTexts {
  const known = new Set(claims.map((claim) => claim.path));
  for (const file of state.change?.files ?? []) known.add(file.path);
  const home = realOrNull(root) ?? root;
  return {
    text(name) {
      const file = path.resolve(home, name);
      if (!known.has(name)) return null;
      const read = readBounded(file, { maxBytes: EVIDENCE.sourceFile, links: 'refuse' });
      // A verdict must not tell of what the tools do not read: a model may name any path.
      if (!read.ok || !isBelow(read.realPath, home)) return null;
      return isClosedPath(path.relative(home, read.realPath)) ? null : read.bytes.toString('utf8');
    },
  };
}
