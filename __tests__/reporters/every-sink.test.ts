/** No sink reveals a known secret, however the model or the repository has disguised it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReportPage } from '../../src/commands/report/report-page.ts';
import { mergedJson } from '../../src/merge/merge.ts';
import { describeMerge } from '../../src/merge/report.ts';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import { createCommitStatus } from '../../src/reporters/commit-status.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { SourcePlace } from '../../src/reporters/findings.ts';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import type { Log } from '../../src/reporters/log.ts';
import { createMessages, createTranscript } from '../../src/reporters/messages.ts';
import { renderPage } from '../../src/reporters/page.ts';
import type { Evidence, Report, Reporter } from '../../src/reporters/report-types.ts';
import { createSarif } from '../../src/reporters/sarif.ts';
import { createTimeline } from '../../src/reporters/timeline.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleVote } from '../merge/sample-merged.ts';
import { captureLog, knowSecrets, makeFolder } from '../support/surroundings.ts';
import { eventsSaying } from './sample-events.ts';
import { notMet, sampleReport, unpublished, VIEW } from './sample-report.ts';

const folder = makeFolder();

const LONG = 'sk-canary+0123456789/abcXYZ';
const SHORT = 'hush7x';
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

const bytes = Buffer.from(LONG);
const forms = [
  ...[LONG, SHORT, bytes.toString('base64'), bytes.toString('hex')],
  ...[encodeURIComponent(LONG), [...LONG].reverse().join('')],
];

/** The visible text: without markup and invisible characters, with character references decoded. */
function seen(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]/g, '')
    .replace(/(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n\r]*(?:\x07|\x1b\\|\x9c)/g, '')
    .replace(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}`]/gu, '');
}

/** Every string and property name of a JSON text. */
function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [key, ...strings(child)]);
}

const parsed = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => strings(JSON.parse(line)))
    .join('\uffff');

/** Findings that were looked up, in a change of which files were not shown. */
const evidenceOf = (text: string): Evidence => ({
  ...{ context: 'truncated', toolCalls: 1, grounding: { exact: 1, moved: 0, unproven: 1 } },
  coverage: {
    ...{ status: 'partial', why: text },
    files: {
      ...{ changed: 2, required: 1, shown: 0, unseen: [text] },
      notRequired: [{ path: text, why: 'binary' }],
    },
  },
  findings: [
    { path: text, line: 3, grounding: 'unproven' },
    { path: 'src/a.js', line: 1, grounding: 'exact' },
  ],
});

const said = (text: string): Report =>
  sampleReport({
    verdict: { ...notMet, error: `It says ${text} here.` },
    payload: { passed: false, [text]: text, list: [text, { [text]: text }], findings: findings(text) },
    gate: {
      status: 'not_met',
      issues: [{ path: `/${text}`, keyword: 'const', message: text }],
    },
    repaired: { kind: 'unwrapped', key: text },
    model: text,
    lastAssistantText: text,
    weaknesses: [text],
    evidence: evidenceOf(text),
  });

/** A payload with a secret is never published, so that no envelope masks its payload. */
const published = (text: string): Report => ({ ...said(text), payload: { passed: false } });

/** Every file is there. */
const locate = (place: SourcePlace) => place;

const ofProse = (text: string): Report =>
  sampleReport({ ...unpublished(`It says ${text} here.`), model: text, lastAssistantText: text });

const findings = (text: string): Json => [
  { severity: 'error', path: text, line: 3, rule: text, title: text, message: text, quote: text },
  { severity: 'error', path: 'src/a.js', line: 3, rule: text, title: text, message: text, quote: text },
];

const votes = (text: string) =>
  sampleMerged({
    legs: [
      sampleLeg(text, 'fail', [sampleVote('fail', { vote: text, why: text, model: text })]),
      sampleLeg('b', 'pass'),
    ],
    models: [text],
  });

const mergedOf = (text: string): Report => describeMerge(said(text), votes(text));

/** The events and the report of a whole run. */
async function hear(reporter: Reporter, text: string, report = said(text)): Promise<void> {
  for (const event of eventsSaying(text)) reporter.event?.(event);
  await reporter.report?.(report, new AbortController().signal);
}

type Sink = (text: string) => Promise<string> | string;

const secrets = knowSecrets(LONG, SHORT);
const facts = { ...VIEW, secrets };
const messages = { version: '0', cwd: '/', mask: secrets.mask };
const page = (report: Report, text: string) =>
  renderPage(viewOf(report, { ...facts, name: text, locate }), { bytes: 1e6, openRows: 25 });
/** The timeline of a run, which is made of its events. */
const timelineOf = (text: string) => {
  const timeline = createTimeline(secrets);
  for (const event of eventsSaying(text)) timeline.event(event);
  return timeline.render();
};

function logged(use: (log: Log, text: string) => Promise<void> | void): Sink {
  return async (said) => {
    const { log, text } = captureLog(secrets);
    await use(log, said);
    return text();
  };
}

const written = (
  make: (file: string, text: string) => Reporter,
  read = (text: string) => text,
  reportOf = said,
): Sink => {
  return async (text) => {
    const file = path.join(folder, 'sink');
    await hear(make(file, text), text, reportOf(text));
    return read(readFileSync(file, 'utf8'));
  };
};

const ignore = () => undefined;
const sarifFacts = { version: '0', category: 'x', informationUri: 'https://example.com', serverUrl: null };

const sinks: readonly (readonly [string, Sink])[] = [
  ['the job summary', (text) => page(said(text), text)],
  ['the summary of a merge', (text) => page(mergedOf(text), text)],
  ['the comment', (text) => commentBody(said(text), { ...facts, locate })],
  ['the timeline', timelineOf],
  ['a line of the log', logged((log, text) => log.info(text))],
  ['an annotation', logged((log, text) => log.error(text, { title: text, file: text }))],
  ['a block of the log', logged((log, text) => log.group(text, text))],
  ['the live log', logged((log, text) => hear(createLiveLog({ ...facts, log, level: 'full' }), text))],
  [
    'the annotations of findings',
    logged((log, text) => hear(createAnnotations({ log, locate, elsewhere: 'x' }), text)),
  ],
  ['the transcript', written((file) => createTranscript({ file, ...messages }), parsed)],
  [
    'the report page',
    written((file) => createReportPage({ file, secrets, notify: ignore, ...messages }), undefined, published),
  ],
  [
    'the SARIF file',
    written((file) => {
      return createSarif({ file, secrets, locate, notify: ignore, ...sarifFacts });
    }, parsed),
  ],
  [
    'the commit status',
    async (text) => {
      let description = '';
      const reporter = createCommitStatus({
        ...facts,
        set: async (status) => {
          description += status.description;
          return true;
        },
      });
      await hear(reporter, text);
      return description;
    },
  ],
  ['the envelope of a verdict', (text) => parsed(JSON.stringify(envelope(published(text), secrets.mask)))],
  ['the envelope of prose', (text) => parsed(JSON.stringify(envelope(ofProse(text), secrets.mask)))],
  ['the envelope of a merge', (text) => strings(mergedJson(votes(text), secrets.mask)).join('\uffff')],
  [
    'messages on stdout',
    (text) => {
      return parsed(
        eventsSaying(text)
          .flatMap(createMessages(messages))
          .map((each: JsonObject) => JSON.stringify(each))
          .join('\n'),
      );
    },
  ],
];

describe('a secret', () => {
  it.each(sinks)('is not shown in %s', async (_, sink) => {
    for (const form of forms) {
      const visible = seen(await sink(`before ${form} after`));
      expect(visible).not.toContain(form);
      expect(visible).not.toContain(LONG);
    }
  });

  // The others hold data, in which an invisible character is one of many ways to write a secret that is not known.
  const sanitized = sinks.filter(([name]) => !/^(?:the transcript|the envelope|messages)/.test(name));

  // A payload that holds such a secret is not published.
  const PAYLOAD = /<details><summary>Payload as JSON.*?<\/details>/su;

  it.each(sanitized)('with invisible characters between its letters is not shown in %s', async (_, sink) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(disguised(LONG), disguised(SHORT)), async (text) => {
        const visible = seen((await sink(`before ${text} after`)).replace(PAYLOAD, ''));
        expect(visible).not.toContain(LONG);
        expect(visible).not.toContain(SHORT);
      }),
      { numRuns: 60 },
    );
  });

  it.each(sanitized)('that is behind what is read of a text is not shown in part in %s', async (_, sink) => {
    // Invisible characters fill the text, so that its end is shown as well.
    const before = '\u200b'.repeat(64 * 1024 - LONG.length / 2);
    expect(seen(await sink(before + LONG))).not.toContain(LONG.slice(0, 3));
  });
});
