/** Renders a run as one static page: the verdict, the findings, and the conversation turn by turn. */
import { createHash } from 'node:crypto';
import type { Envelope } from '../../envelope/envelope.ts';
import { type Finding, readFindings } from '../../reporters/findings.ts';
import { coverageSentence, duration, groundingSentence, spent } from '../../reporters/sentences.ts';
import { headlineOf } from '../../text/exit-codes.ts';
import * as read from '../../text/json.ts';
import { isObject, parseOrUndefined } from '../../text/json.ts';
import { counted } from '../../text/messages.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Secrets } from '../../text/secrets.ts';
import type { JsonObject } from '../../types.ts';

export interface PageSources {
  readonly envelope: Envelope;
  /** The lines of the transcript; empty if there is none. */
  readonly transcript: string;
  readonly secrets: Pick<Secrets, 'mask'>;
}

/** Characters of a text that are shown; the results folder has the rest. */
const MAX_TEXT = 20_000;

/** Masks, cleans and shortens a hostile text. */
type Show = (text: string) => string;

/** Finished HTML, created only by `html`. */
interface Html {
  readonly html: string;
}

/** Returns the page as HTML. The texts of both sources are hostile: each is masked, cleaned and escaped. */
export function renderReportPage({ envelope, transcript, secrets }: PageSources): string {
  const show: Show = (text) => sanitize(text, secrets, MAX_TEXT);
  const style = createHash('sha256').update(STYLE).digest('base64');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${{ html: style }}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${headline(envelope)} · structured-agent</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
${verdictOf(envelope, show)}
${payloadOf(envelope, show)}
${conversationOf(transcript, show)}
<footer>Texts that are too long for this page are whole in result.json and transcript.jsonl.</footer>
</body>
</html>
`.html;
}

function headline({ gate, reason, replayed }: Envelope): string {
  return headlineOf(reason, gate?.status !== 'none', replayed === true);
}

function verdictOf(envelope: Envelope, show: Show): Html {
  const { model, num_turns, usage, total_cost_usd: costUsd, subject, evidence, gate, error } = envelope;
  const sentences = [
    error,
    ...(gate?.issues ?? []).map(({ message }) => message),
    coverageSentence(evidence?.coverage),
    groundingSentence(evidence),
  ];
  const costs = [
    model,
    counted(num_turns, 'turn'),
    spent({ usage, costUsd }),
    duration(envelope.duration_ms),
  ];
  const origin = [
    subject?.repository,
    subject?.pull_request && `#${subject.pull_request}`,
    subject?.sha,
    `reason ${envelope.reason}`,
    `exit code ${envelope.exit_code}`,
    `sandbox ${envelope.sandbox}`,
  ];
  return html`<section class="verdict ${envelope.conclusion}">
<h1>${headline(envelope)}</h1>
${sentences.map((sentence) => (sentence ? html`<p>${show(sentence)}</p>` : ''))}
<p class="dim">${show(listed(costs))}<br>${show(listed(origin))}</p>
</section>`;
}

function listed(parts: readonly (string | number | null | undefined)[]): string {
  return parts.filter(Boolean).join(' · ');
}

/** The payload: its summary, its findings at the places where they were proven, and all of it as JSON. */
function payloadOf({ structured_output: payload, evidence }: Envelope, show: Show): Html | string {
  if (payload === undefined) return '';
  const rows = readFindings(payload, evidence).map((finding) => html`<li>${findingRow(finding, show)}</li>`);
  const isShort = JSON.stringify(payload).length <= MAX_TEXT;
  const json = isShort ? JSON.stringify(payload, null, 2) : 'Too long for this page: see result.json.';
  return html`<section>
<p class="text">${show(read.readText(payload, 'summary') ?? '')}</p>
${rows.length === 0 ? '' : html`<h2>${counted(rows.length, 'finding')}</h2><ul>${rows}</ul>`}
<details><summary>Payload as JSON</summary>${block(json, show)}</details>
</section>`;
}

function findingRow({ severity, place, title, message, isDoubted }: Finding, show: Show): Html {
  const where = place === null ? '' : listed([place.path, place.line === null ? null : `line ${place.line}`]);
  return html`<span class="tag ${severity}">${severity}</span> <code>${show(where)}</code> <b>${show(title ?? '')}</b>
<p class="text">${show(message)}</p>${isDoubted ? html`<p class="dim">not proven</p>` : ''}`;
}

/** Shows the lines of a transcript that are messages, and skips the others. */
function conversationOf(transcript: string, show: Show): Html {
  const lines = transcript.split('\n').map(parseOrUndefined).filter(isObject);
  const content = (line: JsonObject) => read.readObjects(read.readObject(line, 'message'), 'content');
  // By id and in order, because two calls may have one id.
  const results = Map.groupBy(
    lines.filter((line) => read.readText(content(line)[0] ?? {}, 'type') === 'tool_result'),
    (line) => read.readText(content(line)[0] ?? {}, 'tool_use_id'),
  );
  let turns = 0;
  const parts = lines.flatMap((line): readonly Html[] => {
    const blocks = content(line);
    const texts = blocks.flatMap((block) => read.readText(block, 'text') ?? []);
    switch (read.readText(line, 'type')) {
      case 'user':
        return said('Sent to the model', texts.join('\n'), show);
      case 'assistant': {
        turns += 1;
        const calls = blocks.filter((block) => read.readText(block, 'type') === 'tool_use');
        return [
          html`<h3>Turn ${String(turns)} <span class="dim">${durationOf(line)}</span></h3>`,
          ...said('Model', texts.join('\n'), show),
          ...calls.map((call) => callRow(call, results.get(read.readText(call, 'id'))?.shift() ?? {}, show)),
        ];
      }
      default:
        return [];
    }
  });
  return html`<section><h2>Conversation</h2>
${parts.length === 0 ? html`<p class="dim">There is no transcript of this run.</p>` : parts}
</section>`;
}

function durationOf(line: JsonObject): string {
  return duration(read.readCount(line, 'duration_ms') ?? 0);
}

function said(speaker: string, text: string, show: Show): readonly Html[] {
  if (text.trim() === '') return [];
  return [html`<details open><summary>${speaker}</summary>${block(text, show)}</details>`];
}

function callRow(call: JsonObject, line: JsonObject, show: Show): Html {
  const result = read.readObjects(read.readObject(line, 'message'), 'content')[0] ?? {};
  const isError = read.readFlag(result, 'is_error');
  const decision = isError ? 'error' : (read.readText(line, 'decision') ?? 'no result');
  const input = read.readObject(call, 'input');
  const target = read.readText(input, 'command') ?? read.readText(input, 'path') ?? '';
  return html`<details><summary><b>${show(read.readText(call, 'name') ?? '')}</b> <code>${show(target.split('\n', 1)[0] ?? '')}</code>
<span class="tag ${isError ? 'error' : 'note'}">${show(decision)}</span> <span class="dim">${durationOf(line)}</span></summary>
${block(argumentsOf(call, input), show)}${block(read.readText(result, 'content') ?? '', show)}</details>`;
}

/** Returns the arguments of a call one below the other, strings without quotes. */
function argumentsOf(call: JsonObject, input: JsonObject): string {
  const raw = read.readText(call, 'raw_input');
  if (raw !== null) return raw;
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

function block(text: string, show: Show): Html {
  // The HTML parser drops a line feed right after <pre>, so it is not part of the text.
  return html`<pre>
${show(text)}</pre>`;
}

type Hole = string | Html;

/** A template that escapes the texts in it, for elements and double-quoted attributes. */
function html(parts: TemplateStringsArray, ...holes: readonly (Hole | readonly Hole[])[]): Html {
  const filled = holes.map((hole) => [hole].flat().map(fill).join(''));
  return { html: parts.map((part, at) => part + (filled[at] ?? '')).join('') };
}

function fill(hole: Hole): string {
  if (typeof hole !== 'string') return hole.html;
  return hole.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = `
:root {
  color-scheme: light dark;
  --dim: light-dark(#59636e, #9198a1);
  --block: light-dark(#f4f6f8, #161c24);
  --good: light-dark(#1a7f37, #3fb950);
  --bad: light-dark(#cf222e, #f85149);
  --warn: light-dark(#9a6700, #d29922);
  color: light-dark(#1f2328, #d7dde4);
  background: light-dark(#fff, #0d1117);
}
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1, h2, h3, p { margin: 0.5rem 0; }
h1 { font-size: 1.5rem; }
h1::first-letter { text-transform: uppercase; }
h2 { font-size: 1.2rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-top: 1.5rem; }
code, pre { font: 0.85rem/1.45 ui-monospace, monospace; }
code, b, span { unicode-bidi: isolate; }
pre, .text { white-space: pre-wrap; }
pre { margin: 0.5rem 0; padding: 0.75rem; border-radius: 6px; background: var(--block); }
ul { padding: 0; list-style: none; }
li, .verdict { margin-bottom: 1.25rem; }
summary { padding: 0.2rem 0; cursor: pointer; }
footer { margin-top: 3rem; }
.dim, footer { color: var(--dim); font-size: 0.875rem; font-weight: normal; }
.verdict { padding: 0.5rem 1rem; border: 1px solid var(--dim); border-left: 6px solid var(--warn); border-radius: 6px; }
.success { border-left-color: var(--good); }
.failure { border-left-color: var(--bad); }
.tag { padding: 0 0.4rem; border: 1px solid; border-radius: 1rem; font-size: 0.75rem; color: var(--dim); }
.tag.error { color: var(--bad); }
.tag.warning { color: var(--warn); }
`;
