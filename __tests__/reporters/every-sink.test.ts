/** No sink reveals a known secret, however it is disguised, and none does what a text of the model or the repository says. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReportPage } from '../../src/commands/report/report-page.ts';
import { describeMerge } from '../../src/merge/report.ts';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import { createLiveLog, createProgress } from '../../src/reporters/live-log.ts';
import type { Log } from '../../src/reporters/log.ts';
import { createTranscript } from '../../src/reporters/messages.ts';
import type { Report, Reporter, SourcePlace, ViewFacts } from '../../src/reporters/report-types.ts';
import { createSarif } from '../../src/reporters/sarif.ts';
import { createCommitStatus } from '../../src/reporters/status.ts';
import { createStdout, type OutputFormat } from '../../src/reporters/stdout.ts';
import { createComment, createSummary } from '../../src/reporters/summary-and-comment.ts';
import { legVote, sampleMerged } from '../merge/sample-merged.ts';
import { testAll } from '../support/all.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets, makeFolder, textOf } from '../support/surroundings.ts';
import { actionsIn } from '../support/texts/gfm.ts';
import { eventsSaying } from './sample-events.ts';
import { notMet, sampleCoverage, sampleReport, VIEW } from './sample-report.ts';

const LONG = 'sk-canary+0123456789/abcXYZ';
const SHORT = 'hush7x';
const secrets = knowSecrets(LONG, SHORT);
const facts = { ...VIEW, secrets };
const folder = makeFolder();
const options = { file: path.join(folder, 'sink'), secrets, version: '0', cwd: '/', mask: secrets.mask };
/** Every file is there. */
const locate = (place: SourcePlace) => place;

/** A report with texts wherever the model, a tool or the repository can put one. */
function said([text = '', ...others]: readonly string[]): Report {
  const finding = { severity: 'error', path: text, line: 3, rule: text, title: text, message: text };
  const findings = [finding, ...others.map((message) => ({ severity: 'error', path: 'src/b.js', message }))];
  const unproven = { path: text, line: 3, grounding: 'unproven' } as const;
  return sampleReport({
    verdict: { ...notMet, error: `It says ${text} here.` },
    payload: {
      ...{ passed: false, summary: text, [text]: text, list: [text, { [text]: text }] },
      findings: [...findings, { ...finding, path: 'src/a.js' }],
    },
    gate: { status: 'not_met', issues: [{ path: `/${text}`, keyword: 'const', message: text }] },
    repaired: { kind: 'unwrapped', key: text },
    model: text,
    lastAssistantText: text,
    // A comment has twenty rows.
    weaknesses: [text, ...others.slice(18)],
    policyChanges: [{ what: 'schema', path: text, applied: true }],
    evidence: {
      ...{ context: 'truncated', toolCalls: 1, grounding: { exact: 1, moved: 0, unproven: 1 } },
      coverage: {
        ...sampleCoverage({ shown: 0, unseen: [text], notRequired: [{ path: text, why: 'binary' }] }),
        ...{ status: 'partial', why: text },
      },
      commands: [{ command: text, exitCode: 0, seconds: 1 }],
      findings: [...findings.map(() => unproven), { path: 'src/a.js', line: 1, grounding: 'exact' }],
    },
  });
}

function merged([text = '', ...others]: readonly string[]): Report {
  const merged = sampleMerged({ api: 'f' });
  const hostile = { path: text, rule: text, title: text, message: text, legs: [text] };
  const findings = merged.findings.map((finding) => ({ ...finding, ...hostile }));
  const legs = [text, ...others].map((why) => {
    const vote = { ...legVote('api', null, 'fail'), vote: text, model: text, why };
    return { leg: why, outcome: vote.outcome, votes: [vote] };
  });
  return describeMerge(said([text]), { ...merged, legs, findings });
}

/** A payload with a secret is never published, so that no data masks its payload. */
const published = (texts: readonly string[]): Report => ({ ...said(texts), payload: { passed: false } });

/** Returns what a sink writes of a run in which these texts occur. */
type Sink = (...texts: string[]) => Promise<string>;

/** A run with the first text in each event, and a call with each of the others. */
const eventsOf = ([text = '', ...others]: readonly string[]) => [
  ...eventsSaying(text),
  ...others.flatMap((each) =>
    eventsSaying(each)
      .filter(({ type }) => /^tool_/u.test(type))
      .slice(0, 2),
  ),
];

/** Where a reporter writes, besides its file. */
interface Place {
  readonly log: Log;
  readonly write: (text: string) => void;
  /** The name of the check. */
  readonly name: string;
}

/** What a reporter writes of the events of a run, and of its report. */
function reported(make: (place: Place) => Reporter, reportOf = said): Sink {
  return async (...texts) => {
    const { log, text } = captureLog(secrets);
    let written = '';
    const write = (part: string) => {
      written += part;
    };
    writeFileSync(options.file, '');
    const reporter = make({ log, write, name: texts[0] ?? '' });
    for (const event of eventsOf(texts)) reporter.event?.(event);
    await reporter.report?.(reportOf(texts), new AbortController().signal);
    return readFileSync(options.file, 'utf8') + text() + written;
  };
}

function onStdout(format: OutputFormat, reportOf = published): Sink {
  return reported(({ write }) => {
    const stream = new Writable({ write: (chunk, _, done) => done(void write(String(chunk))) });
    const { reporter, writeOutputs } = createStdout(stream, format, options);
    return { ...reporter, report: writeOutputs };
  }, reportOf);
}

const summary = (reportOf: typeof said, more: Partial<ViewFacts> = {}) =>
  reported(({ name }) => createSummary(options.file, { ...facts, name, ...more }), reportOf);

const comment = reported(({ write, name }) =>
  createComment({
    ...{ ...facts, name, locate, key: 'k', mode: 'always', notice: () => undefined },
    async write({ body }) {
      write(body);
      return 'created';
    },
  }),
);

const status = reported(({ write }) =>
  createCommitStatus(async ({ description }) => write(description) === undefined, facts),
);

const blocks = reported(({ log, name }) => ({ name, report: async () => log.group(name, name) }));
const progress = (level: 'turns' | 'full') =>
  reported(({ write }) => createProgress(write, level, secrets).reporter);

const liveLog = reported(({ log }) => createLiveLog(log, 'full', facts));
const annotations = reported(({ log }) => createAnnotations(log, locate, 'x'));

/** How many texts one call takes, and what is wrong with what was written. */
interface Kind {
  readonly batch: number;
  readonly wrong: (written: string) => readonly string[];
}

/** Characters that no line may contain. */
const ACTIVE = /[^\P{Cc}\n\t]|[\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ufeff]|[\ud800-\udfff]/gu;
const OURS = /^https:\/\/github\.com\/octo\/demo\/|#gate_not_met$/u;
const markdown: Kind = { batch: 45, wrong: (page) => actionsIn(page, OURS) };
const logText = (...names: readonly string[]): Kind => ({
  batch: 20,
  wrong: (text) => [
    ...(text.match(ACTIVE) ?? []),
    ...[...parseLog(text), ...parseLog(withoutStopCommands(text))]
      .filter(({ name }) => !names.includes(name))
      .map(({ name }) => `the command ${name}`),
  ],
});
const plainText: Kind = {
  batch: 40,
  wrong: (text) => [...(text.match(ACTIVE) ?? []), ...(text.match(/^\s*::|##\[/gmu) ?? [])],
};
const jsonLines: Kind = {
  batch: 40,
  wrong: (text) =>
    text
      .trimEnd()
      .split('\n')
      .filter((line) => typeof JSON.parse(line) !== 'object'),
};
/** Data on a terminal, or in the log of a job. */
const stdoutLines: Kind = {
  batch: 40,
  wrong: (text) => [
    ...jsonLines.wrong(text),
    ...(text.match(/[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069\ufeff]|##\[/gu) ?? []),
  ],
};
const html: Kind = {
  batch: 40,
  wrong: (page) => [
    ...(page.match(
      /<(?!\/?(?:html|head|meta|title|style|body|section|h[1-3]|p|br|ul|li|span|code|b|details|summary|pre|footer|!doctype)\b)[^>]*/gu,
    ) ?? []),
    ...(page.match(/[\0\x1b\u200b\u202e]/gu) ?? []),
  ],
};
/** The outputs are in `outputs.test.ts`. */
const sinks: readonly (readonly [string, Sink, Kind])[] = [
  ['the job summary', summary(said, { locate }), markdown],
  ['the summary of a merge', summary(merged), markdown],
  ['the comment', comment, markdown],
  ['the commit status', status, { batch: 1, wrong: (text) => text.match(ACTIVE) ?? [] }],
  ['blocks of the log', blocks, logText('group', 'endgroup')],
  ['the live log', liveLog, logText('warning', 'error', 'group', 'endgroup')],
  ['the annotations of findings', annotations, logText('warning', 'error')],
  ['progress on stderr', progress('turns'), plainText],
  ['the whole progress on stderr', progress('full'), plainText],
  ['the report page', reported(() => createReportPage(options), published), html],
  ['the SARIF file', reported(() => createSarif({ ...options, locate })), jsonLines],
  ['the transcript', reported(() => createTranscript(options.file, options)), jsonLines],
  ['the envelope', async (...texts) => json({ ...said(texts), payload: null }), { ...jsonLines, batch: 1 }],
  ['the envelope of a merge', async (...texts) => json({ ...merged(texts), payload: null }), jsonLines],
  ['a payload on stdout', onStdout('text', said), stdoutLines],
  ['an object on stdout', onStdout('object'), stdoutLines],
  ['messages on stdout', onStdout('stream-json'), stdoutLines],
];

function json(report: Report): string {
  return JSON.stringify(envelope(report, secrets.mask));
}

const bytes = Buffer.from(LONG);
const FORMS = [
  ...[LONG, SHORT, bytes.toString('base64'), bytes.toString('hex')],
  ...[encodeURIComponent(LONG), [...LONG].reverse().join('')],
];
const HIDDEN = [
  ...'\u200b\u00ad\ufe0f\u{e0041}\u{e01ef}\u3164\u2066\0\x7f\x1b',
  '\x1b[31m',
  '\x1b]0;title\x07',
];

/** A secret with invisible characters between its letters. */
function disguised(secret: string): fc.Arbitrary<string> {
  const gap = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.constantFrom(...HIDDEN));
  return fc
    .array(gap, { minLength: secret.length, maxLength: secret.length })
    .map((gaps) => [...secret].map((letter, at) => letter + gaps[at]).join(''));
}

/** The visible text: without markup and invisible characters, with escapes and character references decoded. */
function seen(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g, '')
    .replace(/(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g, '')
    .replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`]/gu, '');
}

// A payload that holds a secret is not published.
const withPayload = sinks.filter(([name]) => name !== 'a payload on stdout');

describe('a secret', () => {
  it.each(withPayload)('is not shown in %s', async (_, sink) => {
    for (const form of FORMS) {
      const visible = seen(await sink(`before ${form} after`));
      expect(visible).not.toContain(form);
      expect(visible).not.toContain(LONG);
    }
  });

  // The others hold data, in which an invisible character is one of many ways to write a secret that is not known.
  const forPeople = withPayload.filter(
    ([, , kind]) => kind.wrong !== jsonLines.wrong && kind !== stdoutLines,
  );
  const PAYLOAD = /<details><summary>Payload as JSON.*?<\/details>/su;

  it.each(forPeople)('with invisible characters in it or before it is not shown in %s', async (_, sink) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(disguised(LONG), disguised(SHORT)), async (text) => {
        const visible = seen((await sink(`before ${text} after`)).replace(PAYLOAD, ''));
        expect(visible).not.toContain(LONG);
        expect(visible).not.toContain(SHORT);
      }),
      { numRuns: 60 },
    );
    // Invisible characters fill what is read of a text, so that its end is shown as well.
    const before = '\u200b'.repeat(64 * 1024 - LONG.length / 2);
    expect(seen(await sink(before + LONG))).not.toContain(LONG.slice(0, 3));
  });
});

describe('hostile texts', () => {
  const PIECES = [
    '@octocat #1 /deploy GH-1 http:// www.a.bc [x](http://a.b) ![i](x) <!-- --> </details> </td> <script>',
    '| ` ``` ~~~ > - + 1. === --- # * _ ~ ^ $ \\ & &#64; ; : { } " \' ] ::error:: ::stop-commands::tok ::tok::',
    '##[error] %0A %25 << EOF = run-reason <<E E end_E __proto__ constructor structured_output ../x src/a.js',
    '\0 \x1b[31m \x9b2J \x1b]0;t\x07 \u200b \u202e \ufeff \ud800 \udc00 🐙',
  ].flatMap((line) => line.split(' '));
  const SPACES = '\n,\r,\r\n,\t, ,    ,\u2028,\u0085,\n# ,\n::error::x'.split(',');
  const texts = fc.sample(textOf([...PIECES, ...SPACES], { pieceCount: 6 }), {
    numRuns: testAll ? 80_000 : 8_000,
  });

  it.each(sinks)(
    'do nothing in %s',
    async (_, sink, { batch, wrong }) => {
      for (let at = 0; at < texts.length; at += batch) {
        const some = texts.slice(at, at + batch);
        expect(wrong(await sink(...some)), JSON.stringify(some)).toEqual([]);
      }
    },
    testAll ? 1_200_000 : 120_000,
  );
});
