/** The merge at its largest: 256 legs of three votes each, envelopes of 100 KB, as download-artifact lays them out. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BUNDLE } from '../examples/demo/runner.ts';

const MERGE = path.join(path.dirname(BUNDLE), 'merge.js');
/** Loads before the bundle, and tells as it leaves what the process took: `getrusage`, in KB and microseconds. */
const PEAK =
  'data:text/javascript,process.on("exit",()=>{const u=process.resourceUsage();console.error(`took ${u.maxRSS} ${u.userCPUTime+u.systemCPUTime}`)})';
const LEGS = 256;
const VOTES = 3;
const BYTES = 100_000;
const SHA = '0123456789012345678901234567890123456789';

/** What one merge took. */
export interface MergeRun {
  readonly ms: number;
  /** Of all its threads: tells a busy machine from a slow merge. */
  readonly cpuMs: number;
  readonly peakBytes: number;
  /** How many envelopes there were, and what became of their findings. */
  readonly envelopes: number;
  readonly found: number;
  readonly told: number;
}

/** Merges 768 envelopes, `runs` times. @throws Error where the merge does not say what it must. */
export async function measureMerge(parent: string, runs: number): Promise<readonly MergeRun[]> {
  const folder = mkdtempSync(path.join(parent, 'merge-'));
  try {
    const found = writeEnvelopes(path.join(folder, 'repo', 'verdicts'));
    const measured: MergeRun[] = [];
    for (let run = 0; run < runs; run++) measured.push(await mergeOnce(folder, run, found));
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function mergeOnce(folder: string, run: number, found: number): Promise<MergeRun> {
  const temp = path.join(folder, `temp-${run}`);
  mkdirSync(temp);
  const [output, summary] = ['output', 'summary'].map((name) => path.join(temp, name));
  if (output === undefined || summary === undefined) throw new Error('Two names make two files.');
  for (const file of [output, summary]) writeFileSync(file, '');
  const resultFile = path.join(temp, 'merged.json');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', PEAK, MERGE], {
    cwd: path.join(folder, 'repo'),
    env: {
      ...{
        PATH: process.env['PATH'],
        HOME: folder,
        RUNNER_TEMP: temp,
        GITHUB_WORKSPACE: path.join(folder, 'repo'),
      },
      ...{ GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: output, GITHUB_STEP_SUMMARY: summary },
      ...{ GITHUB_REPOSITORY: 'example/cart', GITHUB_SHA: SHA, GITHUB_REF: 'refs/heads/main' },
      ...{ GITHUB_EVENT_NAME: 'push', GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1' },
      ...{ INPUT_VERDICTS: 'verdicts', INPUT_EXPECT: String(LEGS * VOTES), 'INPUT_RESULT-FILE': resultFile },
      ...{ INPUT_VOTES: `majority of ${VOTES}`, INPUT_RULE: 'all' },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (chunk) => {
    told += String(chunk);
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const ms = performance.now() - startedAt;
  const merged: { structured_output?: { findings: unknown[]; tally: { pass: number } } } = JSON.parse(
    readFileSync(resultFile, 'utf8'),
  );
  const { findings = [], tally } = merged.structured_output ?? {};
  if (exitCode !== 0 || tally?.pass !== LEGS) throw new Error(`The merge ended with ${exitCode}.\n${told}`);
  const [, peak, cpu] = /^took (\d+) (\d+)$/mu.exec(told) ?? [];
  const [peakBytes, cpuMs] = [Number(peak) * 1024, Number(cpu) / 1_000];
  return { ms, cpuMs, peakBytes, envelopes: LEGS * VOTES, found, told: findings.length };
}

/** The votes of a leg name the same places a line or two apart, in words of their own. Gives how many findings there are. */
function writeEnvelopes(folder: string): number {
  let found = 0;
  for (let leg = 0; leg < LEGS; leg++) {
    for (let vote = 0; vote < VOTES; vote++) {
      const findings = findingsOf(leg, vote);
      found += findings.length;
      const place = path.join(folder, `verdict-leg-${leg}-${vote}`);
      mkdirSync(place, { recursive: true });
      writeFileSync(path.join(place, 'result.json'), JSON.stringify(envelopeOf(leg, vote, findings)));
    }
  }
  return found;
}

/** So many that the envelope has 100 KB: the payload stands in it three times, once as text. */
function findingsOf(leg: number, vote: number) {
  const findings: { severity: string; file: string; line: number; rule: string; message: string }[] = [];
  for (let bytes = 2_000, at = 0; bytes < BYTES; at++) {
    const finding = {
      severity: at % 5 === 0 ? 'high' : 'low',
      file: `packages/leg-${leg}/src/part-${at % 9}/module-${at % 13}.ts`,
      line: 10 * at + vote,
      rule: `check-${at % 7}`,
      message: `Vote ${vote} says: "${'the value is read before it was written, and so it may be stale. '.repeat(4)}"`,
    };
    findings.push(finding);
    bytes += 3.06 * JSON.stringify(finding).length;
  }
  return findings;
}

function envelopeOf(leg: number, vote: number, findings: readonly object[]) {
  const payload = { passed: true, summary: `Leg ${leg}, vote ${vote}.`, findings };
  return {
    type: 'result',
    subtype: 'success',
    is_error: false,
    exit_code: 0,
    conclusion: 'success',
    reason: 'accepted',
    result: JSON.stringify(payload),
    structured_result: payload,
    structured_output: payload,
    gate: { status: 'none', issues: [] },
    num_turns: 12,
    rejections: 0,
    repaired: null,
    usage: { input_tokens: 40_000, output_tokens: 2_000, cached_input_tokens: 30_000, cache_write_tokens: 0 },
    total_cost_usd: 0.0213,
    duration_ms: 41_000,
    model: 'bench',
    provider: 'openai-compatible',
    session_id: `00000000-0000-4000-8000-${String(leg * VOTES + vote).padStart(12, '0')}`,
    sandbox: 'bwrap',
    subject: {
      ...{ repository: 'example/cart', sha: SHA, ref: 'refs/heads/main', event: 'push' },
      ...{ pull_request: null, run_id: '1', run_attempt: 1 },
    },
    judge: { schema_sha256: null, gate_sha256: null, prompt_sha256: 'a'.repeat(64), version: '0.1.0' },
    leg: `leg-${leg}`,
    vote: String(vote),
    reuse: null,
  };
}
