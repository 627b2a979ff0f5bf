/** The type of an envelope that the published schema has accepted. Its strings come from other jobs and are hostile. */
import type { Evidence } from '../reporters/report-types.ts';
import { isArray, isObject } from '../text/json.ts';
import type {
  Conclusion,
  GateResult,
  Json,
  JsonObject,
  PolicyDigest,
  Reason,
  Subject,
  Usage,
} from '../types.ts';

/** The fields of `schemas/envelope.schema.json` that are read. */
export interface Envelope {
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  /** The payload; present exactly if it was published. */
  readonly structured_output?: JsonObject;
  /** The result of the run's own gate; null if there is no payload. */
  readonly gate: Pick<GateResult, 'status' | 'issues'> | null;
  readonly exit_code: number;
  readonly sandbox: string;
  readonly duration_ms: number;
  readonly num_turns: number;
  readonly usage: Usage;
  readonly total_cost_usd: number | null;
  readonly model: string;
  /** Whether a recording answered, so that no model judged anything. */
  readonly replayed?: true;
  readonly error?: string;
  readonly subject: Subject | null;
  readonly judge: PolicyDigest;
  readonly leg: string | null;
  readonly vote: string | null;
  /** null if the run ended before it was known. */
  readonly evidence: Evidence | null;
  /** Only a merge writes it: its payload is then a tally and not a vote of a leg. */
  readonly merged?: JsonObject;
}

/** Returns an envelope that the schema has accepted as what its type says. */
export function typedEnvelope(accepted: JsonObject): Envelope {
  const { usage = null } = accepted;
  return { ...accepted, usage: camelKeys(usage), evidence: evidenceOf(accepted) } as unknown as Envelope;
}

/** Returns the evidence of an envelope that the schema has accepted; null if it has none. */
export function evidenceOf({ evidence }: JsonObject): Evidence | null {
  if (evidence === undefined) return null;
  const read = camelKeys(evidence) as unknown as Evidence;
  const findings = read.findings.map((each) =>
    isRepositoryPath(each.path) ? each : { ...each, path: null },
  );
  return { ...read, findings };
}

/** Renames fields from the wire's snake_case. */
function camelKeys(value: Json): Json {
  if (isArray(value)) return value.map(camelKeys);
  if (!isObject(value)) return value;
  const camel = (name: string) => name.replace(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
  // A name that no schema has judged must not become one that it has.
  const judged = Object.entries(value).filter(([name]) => !/[A-Z]/u.test(name));
  return Object.fromEntries(judged.map(([name, each]) => [camel(name), camelKeys(each)]));
}

/** Whether a path has the form that this program writes, of a file in the repository. */
function isRepositoryPath(path: string | null): boolean {
  const isOdd = (part: string) => ['', '.', '..', '.git'].includes(part.toLowerCase());
  return path !== null && !/[\p{Cc}\\]/u.test(path) && !path.split('/').some(isOdd);
}
