/** The parsers of hostile text, each as a function of a text, with the limits that the product applies to their input. */
import { constants } from 'node:buffer';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkWorkflow } from '../../../src/commands/check/check-workflow.ts';
import { parseExpression } from '../../../src/commands/check/expression.ts';
import { createFindings } from '../../../src/commands/check/finding.ts';
import { readWorkflow } from '../../../src/commands/check/workflow.ts';
import { readYaml } from '../../../src/commands/check/yaml-file.ts';
import { argumentsOf, createStory } from '../../../src/commands/report/story.ts';
import { createShowing, html } from '../../../src/commands/report/visible.ts';
import { readHeaders } from '../../../src/config/model.ts';
import { createReader } from '../../../src/config/values.ts';
import { parseStrings } from '../../../src/contract/repair.ts';
import { type Change, createHunk, type FileChange } from '../../../src/evidence/change.ts';
import { readClaim } from '../../../src/evidence/claims.ts';
import { createCoverageMeter } from '../../../src/evidence/coverage.ts';
import { groundFindings } from '../../../src/evidence/grounding.ts';
import { readQuote } from '../../../src/evidence/normalize.ts';
import { parseDiff, parsePatches } from '../../../src/evidence/parse-diff.ts';

import { foldName, refuseComponents } from '../../../src/files/protected-names.ts';
import { readCheckedOut } from '../../../src/github/checked-out.ts';
import { contextFiles } from '../../../src/github/pull-request-context.ts';
import { mergeFindings } from '../../../src/merge/findings.ts';
import { quoteName } from '../../../src/merge/vote.ts';
import { isOverflow, isToolless } from '../../../src/providers/errors.ts';
import { replayableArguments, replayableName } from '../../../src/providers/tool-calls.ts';
import { normalizeEvents } from '../../../src/providers/transport.ts';
import { readRecording } from '../../../src/replay/recording.ts';
import { findCheckouts } from '../../../src/reporters/checkouts.ts';
import { readFindings } from '../../../src/reporters/findings.ts';
import { asWritten } from '../../../src/reporters/links.ts';
import { createLog } from '../../../src/reporters/log.ts';
import { cell, code, fence, inline, prose } from '../../../src/reporters/markdown.ts';
import { sarifLog } from '../../../src/reporters/sarif.ts';
import { alertsOf } from '../../../src/reporters/sarif-alerts.ts';
import { sourceFile } from '../../../src/reporters/source-locations.ts';
import { fitColumns } from '../../../src/reporters/terminal.ts';
import { boundNames } from '../../../src/sandbox/isolation/sockets.ts';
import { readMountPoints } from '../../../src/sandbox/isolation/unshare.ts';
import {
  hasCredentials,
  includedPaths,
  withoutCredentials,
  worktreeOf,
} from '../../../src/sandbox/workspace/git-config.ts';
import { filterPatch } from '../../../src/sandbox/workspace/patch.ts';
import { indentedJson, parseJsonWithInexact, parseStrictJson } from '../../../src/text/json.ts';
import { DISPLAY, GITHUB, JSON_TEXT, MERGE, READ, TOOL } from '../../../src/text/limits.ts';
import { suggest, truncate } from '../../../src/text/messages.ts';
import { isExactNumber } from '../../../src/text/number-literal.ts';
import { rawSlice } from '../../../src/text/raw-slice.ts';
import { breakCommands, cleanText, jsonLine, shellSafeJson, singleLine } from '../../../src/text/sanitize.ts';
import { createSecrets } from '../../../src/text/secrets.ts';
import { replaceText } from '../../../src/tools/edit.ts';
import { sampleReport } from '../../reporters/sample-report.ts';
import { writeCommands } from '../fakes/runner/commands.ts';
import { SECRET } from './hostile.ts';

/** A parser; its result or error does not matter. */
export type Reader = (text: string) => unknown;

const secrets = createSecrets();
for (const value of [SECRET, 'a'.repeat(40)]) secrets.add(value);

const checkout = mkdtempSync(path.join(os.tmpdir(), 'parsers-'));
mkdirSync(path.join(checkout, '.git'));
process.on('exit', () => rmSync(checkout, { recursive: true }));

const log = () => createLog({ core: writeCommands(() => undefined), secrets, token: () => 'token' });
const failure = (message: string) => ({ status: 400, code: null, type: null, param: null, message });
const row = (text: string) => ({
  path: text,
  line: text,
  message: text,
  title: text,
  severity: text,
  rule: text,
});
const FIELDS = ['path', 'line', 'message', 'title', 'severity', 'rule'];
/** Many rows that together contain the text once. */
const rows = (text: string) =>
  (text.match(/[\s\S]{1,1200}/gu) ?? []).map((part) =>
    Object.fromEntries(FIELDS.map((field, at) => [field, part.slice(at * 200, (at + 1) * 200)])),
  );
/** Characters of a finding without any text, as JSON. */
const SHORTEST_FINDING = 80;
/** Many findings that together contain the text, with distinct rules if the lines of the text differ. */
const findings = (text: string) =>
  text
    .split('\n', text.length / SHORTEST_FINDING)
    .map((line, at) => ({ message: line, rule: line, severity: 'high', path: `a${at % 7}`, line: at }));
/** Three runs with such findings, as many and as long as a merge keeps them. */
function runsOf(text: string) {
  const kept = readFindings({ findings: findings(text) }).slice(0, MERGE.findings);
  const findingsOfRun = kept.map(({ place, severity, isKind, ...texts }) => ({
    ...{ severity, isKind, path: place?.path ?? null, line: place?.line ?? null, endLine: null },
    rule: texts.rule === null ? null : truncate(texts.rule, DISPLAY.sentence),
    title: texts.title === null ? null : truncate(texts.title, DISPLAY.sentence),
    message: truncate(texts.message, DISPLAY.cell),
    doubted: false,
  }));
  return [1, 2, 3].map(() => ({ leg: 'a', outvoted: false, findings: findingsOfRun }));
}

/** The parsers by their input. */
export const READERS: Readonly<Record<string, Reader>> = {
  'strict JSON': parseStrictJson,
  'JSON with inexact numbers': (text) => parseJsonWithInexact(text),
  'JSON in a string': (text) => parseStrictJson(JSON.stringify(text)),
  'text in quotes as JSON': (text) => parseStrictJson(`"${text}"`),
  'raw slice': (text) => rawSlice(`{"a":${text}}`, ['a']),
  'raw slice of a string': (text) => rawSlice(JSON.stringify({ b: text, a: 1 }), ['a']),
  'indented JSON': (text) => indentedJson([text, rows(text)], constants.MAX_STRING_LENGTH),
  'number literal': isExactNumber,
  'near names': (text) => suggest(text, [text, 'schema']),
  'repair of strings': (text) =>
    parseStrings({ a: text }, () => ({ ok: false, issues: [], errors: [{ ...TYPE_ERROR, data: text }] })),
  mask: secrets.mask,
  'secrets in a payload': (text) => secrets.find({ a: text }),
  'secrets in many rows': (text) => secrets.find({ a: rows(text) }),
  'name in a message': quoteName,
  'git config': (text) => [
    withoutCredentials(text),
    hasCredentials(text),
    includedPaths(text),
    worktreeOf(text),
  ],
  'value in a git config': (text) => withoutCredentials(`[remote "a"]\n\turl = ${text}`),
  patch: (text) => readPatch(text),
  'section of a patch': (text) => readPatch(`diff --git a/a b/a\nnew file mode 120000\n+${text}`),
  'bound sockets': boundNames,
  'name of a socket': (text) => boundNames(`\n1: 1 1 1 1 1 1 ${text}`),
  'mount points': readMountPoints,
  'name of a file': foldName,
  path: (text) => refuseComponents(text.split('/').filter(Boolean), 'edit', true),
  'events of a stream': async (text) => {
    for await (const data of streamOf(text).pipeThrough(normalizeEvents(() => undefined))) void data;
  },
  recording: readRecording,
  'failure of a provider': (text) => [isOverflow(failure(text)), isToolless(failure(text))],
  'arguments of a call': (text) => [replayableArguments(text), replayableName(text)],
  'clean text': (text) => breakCommands(cleanText(text)),
  'single line': (text) => singleLine(text, 1_000_000_000),
  terminal: (text) => fitColumns(text, text.length),
  log: (text) => log().untrusted(text),
  annotation: (text) => log().error(text, { file: text, title: text }),
  Markdown: (text) => [inline, prose, code, cell].map((write) => write(text, text.length)),
  fence: (text) => fence(text, 'text'),
  'JSON line': jsonLine,
  'shell-safe JSON': shellSafeJson,
  finding: (text) => readFindings({ findings: [row(text)], failures: [row(text)] }),
  alerts: (text) => alertsOf({ findings: rows(text) }, asWritten, secrets),
  alert: (text) => alertsOf({ findings: [{ ...row(text), path: 'a', line: 1 }] }, asWritten, secrets),
  'source file': (text) => sourceFile(text).line(1),
  HTML: (text) => html`${text}`,
  transcript: (text) =>
    tellStory([
      { type: 'tool_finished', call: { id: '1', name: 'a', target: '' }, result: { content: text } },
    ]),
  'target in a transcript': (text) =>
    tellStory([
      { type: 'tool_finished', call: { id: '1', name: 'a', target: text }, result: { content: '' } },
    ]),
  'lines of a transcript': (text) =>
    tellStory(
      text.split('\n', text.length / SHORTEST_ENTRY).map((line) => ({
        type: 'turn_completed',
        message: { text: line, tool_calls: [{ id: 'a', name: 'shell', raw_arguments: '{}' }] },
      })),
    ),
  'arguments in a report': (text) => argumentsOf('edit', text, ['edit'], createShowing(secrets.mask)),
  'context of a pull request': (text) =>
    contextFiles({
      subject: { about: 'pull request #1', contents: '', author: '' },
      pull: null,
      files: [
        { path: text, previous: text, status: 'added', additions: 1, deletions: 0, blob: '', patch: text },
      ],
      diffFromGit: false,
      notes: [],
    }),
  'check of conditions': checkTextIn('job', 'step'),
  'check of inputs': checkTextIn('prompt', 'gate'),
  'check of commands': checkTextIn('run', 'env'),
  'check of events': checkTextIn('push', 'matrix'),
  'remotes of a checkout': (text) => findCheckouts(checkoutWith('config', text), ['o/r']),
  'packed refs': (text) => readCheckedOut(checkoutWith('packed-refs', text)),
  headers: (text) => {
    const lines = text.split('\n').map((line, at) => `a${at}: ${line}.`);
    return readHeaders(createReader<'api-key' | 'headers'>(new Map([['headers', lines.join('\n')]])));
  },
  'findings of a merge': (text) => mergeFindings(runsOf(text)),
  'SARIF log': (text) =>
    sarifLog(sampleReport(), alertsOf({ findings: findings(text) }, asWritten, secrets), {
      version: '1.0.0',
      informationUri: null,
      category: text,
      serverUrl: null,
    }),
  diff: (text) => [parseDiff(text), parseDiff(`${DIFF_HEADER}@@ -0,0 +1,99999999 @@\n${text}`, true)],
  'path in a diff': (text) => parseDiff(`diff --git "a/${text}" "b/${text}"\n--- "a/${text}"\n+++ b/${text}`),
  'patch of a file': (text) => parsePatches([{ ...PATCH_ROW, patch: `@@ -1,9 +1,9 @@\n${text}` }]),
  coverage: (text) => {
    const added = text.replaceAll('\n', '\n+');
    const count = added.split('\n').length;
    const hunk = `@@ -0,0 +1,${count} @@\n+${added}\n`;
    const files = ['a', 'b', 'c'].map((name) => `${DIFF_HEADER.replaceAll('/a', `/${name}`)}${hunk}`);
    const change = { files: parseDiff(files.join('')), incomplete: null, marked: new Map() };
    const meter = createCoverageMeter(change, { root: '/r', workingDirectory: '/r', subjectPaths: [] });
    meter.observe({ tool: 'read_file', target: 'a', text });
    meter.observe({ tool: 'shell', target: 'cat a b c', text });
    meter.observe({ tool: 'shell', target: 'git diff', text: `${DIFF_HEADER}${text}` });
    meter.observe({ tool: 'shell', target: text, text });
    return [meter.measure(), meter.unseen()];
  },
  YAML: (text) => readYaml('ci.yml', text),
  expression: parseExpression,
  edit: (text) => replaceText(Buffer.from(text), text.slice(0, text.length / 4), 'b', true),
  // The text to replace is an argument of a call, a quarter as long as the largest file.
  'edit with a line longer than those of the file': (text) => {
    const lines = `${text.slice(0, text.length / 2)}${'b\n'.repeat(text.length / 4)}`;
    return replaceText(Buffer.from(lines), 'c'.repeat(text.length / 4), 'b', false);
  },
  'edit that fits nowhere': (text) =>
    replaceText(Buffer.from(text), `${text.slice(0, text.length / 4)}\0`, 'b', false),
  quote: (text) => readQuote(text),
  'quotes of a file': (text) => ground(rows(text), text, null),
  'quote of the end of a file': (text) => ground([text.slice(-900)], text, null),
  'quote that is in no file': (text) => ground([`${text.slice(0, 900)}\0`], text, changeOf(text)),
  'missing text': (text) =>
    groundFindings(
      [readClaim({ missing: { text: text.slice(0, 900) } }, AT_A)],
      { ...NO_FILES, text: () => text },
      null,
    ),
  'removed lines': (text) => ground(text.split('\n').slice(0, 5), '', changeOf(text)),
};

const DIFF_HEADER = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n';
const PATCH_ROW = { path: 'a', previous: '', status: 'modified', additions: 0, deletions: 0, blob: '' };
const AT_A = { path: 'a', line: 1, endLine: null };
const NO_FILES = { text: () => null, exists: () => false, holdsSecret: () => false };

/** Compares findings that quote texts, or parts of rows, with one file. */
function ground(
  quotes: readonly (string | { readonly [field: string]: string })[],
  text: string,
  change: Change | null,
) {
  const claims = quotes.map((quote) =>
    readClaim({ quote: typeof quote === 'string' ? quote : (quote['path'] ?? '') }, AT_A),
  );
  return groundFindings(claims, { ...NO_FILES, text: () => text }, change);
}

/** A change whose diff is a text: as one hunk, as hunks of one line each, and with all lines removed. */
function changeOf(text: string): Change {
  const lines = text.split('\n');
  const file: Omit<FileChange, 'path' | 'hunks'> = {
    previous: null,
    kind: 'text',
    isRemoved: false,
    isBinary: false,
  };
  const small = lines.map((line) => createHunk(1, 1, [`-${line}`]));
  const removed = createHunk(
    1,
    1,
    lines.map((line) => `-${line}`),
  );
  const files = [
    { ...file, path: 'a', hunks: [createHunk(1, 1, lines), ...small] },
    { ...file, path: 'b', hunks: [removed] },
  ];
  return { files, incomplete: null, marked: new Map() };
}

/** The root of a checkout whose `.git` has a file with the text. */
function checkoutWith(name: string, text: string): string {
  writeFileSync(path.join(checkout, '.git', 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(path.join(checkout, '.git', name), text);
  return checkout;
}

/** Characters of an entry in a transcript without any text. */
const SHORTEST_ENTRY = 100;

/**
 * Checks a workflow as long as a text, with a half of the text in each of two places, and pieces of it in many steps and
 * jobs of their own.
 */
function checkTextIn(one: string, other: string): Reader {
  return (text) => {
    const half = text.slice(0, text.length / 2);
    return checkParts((place) => (place === one || place === other ? half : 'a'), half);
  };
}

async function checkParts(at: (place: string) => string, text: string): Promise<unknown> {
  const inputs = { prompt: at('prompt'), schema: 'verdict', gate: at('gate') };
  const pieces = (text.match(/[\s\S]{1,100}/gu) ?? []).slice(0, 100);
  const steps = pieces.map((piece) => ({
    if: piece,
    run: `echo \${{ steps.judge.outputs.passed }} ${piece}`,
  }));
  const jobs = pieces.map((piece, index) => [
    `j${index}`,
    { needs: ['a', `j${index - 1}`], if: piece, steps: [{ run: piece }] },
  ]);
  const a = {
    'runs-on': 'x',
    if: at('job'),
    strategy: { matrix: { a: pieces, b: at('matrix') } },
    steps: [
      { uses: 'o/judge@v1', id: 'judge', with: inputs },
      { if: at('step'), run: at('run'), env: { A: at('env') } },
      ...steps,
    ],
  };
  const yaml = await readYaml(
    'ci.yml',
    JSON.stringify({ on: { push: at('push') }, jobs: { a, ...Object.fromEntries(jobs) } }),
  );
  if (!yaml.ok) throw new Error(yaml.problem);
  const workflow = readWorkflow(yaml.file, { names: ['o/judge'], localPart: () => null });
  if (workflow === null) throw new Error('This is no workflow.');
  const missing = async () => ({ ok: false, problem: 'is not there' }) as const;
  const checked = await checkWorkflow(workflow, {
    files: { readFile: missing, readElsewhere: missing },
    root: '/nonexistent',
    standIn: null,
    findings: createFindings(),
    readWorkflow: async () => null,
  });
  if (checked === null) throw new Error('No step was found.');
  return checked;
}

function readPatch(text: string): unknown {
  const holdsSecret = (part: string) => secrets.find({ a: part }) !== null;
  const patch = Buffer.from(text);
  return filterPatch(patch, { holdsSecret, asText: patch }, new AbortController().signal);
}

const TYPE_ERROR = { keyword: 'type', instancePath: '/a', schemaPath: '#', params: { type: 'object' } };

function tellStory(entries: readonly unknown[]): unknown {
  const story = createStory(createShowing(secrets.mask));
  for (const entry of entries) story.add(entry);
  return story.story();
}

/** Splits a text into chunks as from a network. */
function streamOf(text: string): ReadableStream<Uint8Array> {
  const bytes = Buffer.from(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + 16_384));
      at += 16_384;
    },
  });
}

/** The limit that keeps longer texts from a parser, and the file that applies it. */
export interface Limit {
  readonly file: string;
  readonly name: string;
  readonly most: number;
}

const workflow: Limit = { file: 'commands/check/sources.ts', name: 'READ.workflow', most: READ.workflow };
const call: Limit = {
  file: 'providers/tool-calls.ts',
  name: 'JSON_TEXT.arguments',
  most: JSON_TEXT.arguments,
};
const config: Limit = {
  file: 'sandbox/workspace/repositories.ts',
  name: 'READ.gitConfig',
  most: READ.gitConfig,
};

const edited: Limit = { file: 'tools/edit.ts', name: 'READ.editedFile', most: READ.editedFile };
const text: Limit = { file: 'agent/agent.ts', name: 'JSON_TEXT.prose', most: JSON_TEXT.prose };

/** By reader; one without a limit here is measured with 10 MB. */
export const LIMITS: Readonly<Record<string, Limit>> = {
  YAML: workflow,
  'check of conditions': workflow,
  'check of inputs': workflow,
  'check of commands': workflow,
  'check of events': workflow,
  expression: workflow,
  edit: edited,
  'edit that fits nowhere': edited,
  'edit with a line longer than those of the file': edited,
  'strict JSON': call,
  'JSON with inexact numbers': call,
  'JSON in a string': call,
  'text in quotes as JSON': call,
  'indented JSON': call,
  'repair of strings': call,
  'secrets in a payload': call,
  'secrets in many rows': call,
  'arguments of a call': call,
  'JSON line': call,
  'shell-safe JSON': call,
  finding: call,
  alert: call,
  alerts: call,
  'SARIF log': call,
  path: { file: 'files/protected-names.ts', name: 'TOOL.path', most: TOOL.path },
  'name of a file': { file: 'files/protected-names.ts', name: 'TOOL.path', most: TOOL.path },
  'raw slice': call,
  'raw slice of a string': call,
  'git config': config,
  'value in a git config': config,
  'remotes of a checkout': { ...config, file: 'reporters/checkouts.ts' },
  Markdown: { file: 'text/sanitize.ts', name: 'DISPLAY.sanitized', most: DISPLAY.sanitized },
  mask: text,
  'clean text': text,
  'single line': text,
  terminal: text,
  fence: text,
  HTML: text,
  transcript: text,
  'target in a transcript': text,
  'lines of a transcript': text,
  'arguments in a report': call,
  'context of a pull request': {
    file: 'github/pull-request-context.ts',
    name: 'GITHUB.diff',
    most: GITHUB.diff,
  },
  headers: { file: 'config/model.ts', name: 'READ.headers', most: READ.headers },
};

/** Parsers that a signal or the timeout of a run stops, because they yield to the event loop between two chunks. */
export const INTERRUPTIBLE: ReadonlySet<string> = new Set([
  'patch',
  'section of a patch',
  'events of a stream',
]);
