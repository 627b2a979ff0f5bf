/**
 * Holds every envelope of the test suite to the published schema: what `src/reporters/envelope.ts` makes in a test's own
 * process (vitest.config.ts has it tell), and what a test reads that a process of ours wrote. A setup file.
 */
import { afterAll, afterEach } from 'vitest';

declare global {
  /** Hears of each envelope that this process makes. */
  var seeEnvelope: ((envelope: object) => void) | undefined;
}

let seen: object[] = [];

globalThis.seeEnvelope = (envelope) => {
  seen.push(envelope);
};

const parse = JSON.parse;
JSON.parse = (text, reviver) => {
  const value: unknown = parse(text, reviver);
  for (const each of Array.isArray(value) ? value : [value])
    if (isEnvelope(each) && !isUnderTest()) seen.push(each);
  return value;
};

function isEnvelope(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return 'type' in value && value.type === 'result' && 'subtype' in value && 'exit_code' in value;
}

/** Whether the code under test reads: a test may have given it an envelope that is broken on purpose. */
function isUnderTest(): boolean {
  return /\/src\/[\w/-]+\.ts/u.test(new Error('here').stack ?? '');
}

afterEach(hold);
afterAll(hold);

async function hold(): Promise<void> {
  if (seen.length === 0) return;
  const envelopes = seen;
  seen = [];
  // Compiled for those test files only that have an envelope.
  const { issuesOf } = await import('./envelope-issues.ts');
  for (const envelope of envelopes) {
    const text = JSON.stringify(envelope);
    const issues = issuesOf(parse(text));
    if (issues.length === 0) continue;
    const told = issues.map((issue) => `${issue.path || '/'}: ${issue.message}`).join('\n');
    throw new Error(
      `An envelope is not as schemas/envelope.schema.json has it:\n${told}\n${text.slice(0, 2_000)}`,
    );
  }
}
