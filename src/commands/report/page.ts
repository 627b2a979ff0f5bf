/** The report: a single self-contained page that runs only its own script and makes no network requests. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { warningsAbout } from '../../reporters/verdict-text.ts';
import { readCoverage } from '../../text/coverage.ts';
import { findObject, readCount, readObject, readText } from '../../text/json-fields.ts';
import { counted } from '../../text/messages.ts';
import type { JsonObject } from '../../types.ts';
import { contradicts, endingOf } from './ending.ts';
import { charts, payloadSection, storySection, titleOf, verdictSection } from './sections.ts';
import type { Story } from './story.ts';
import { type Html, html, type Showing, verbatim } from './visible.ts';

// The page's policy contains their hashes, so that no other style or script runs. The build inlines the files here.
const STYLE = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const SCRIPT = readFileSync(new URL('./page.js', import.meta.url), 'utf8');

export interface PageFacts {
  readonly story: Story;
  /** The parsed result envelope; null when it is not available. */
  readonly envelope: JsonObject | null;
  readonly showing: Showing;
  /** Whether the findings are shown, and the gate's words about them. */
  readonly withPayload: boolean;
  /** Notes of this program about what could not be read. */
  readonly notes: readonly string[];
}

/** Returns the page as HTML. All text from the transcript is escaped. */
export function reportPage({ story, envelope, showing, withPayload, notes }: PageFacts): string {
  const ending = endingOf(story, envelope, showing, withPayload);
  const remarks = [...notes, ...remarksOn(story, envelope, showing, withPayload)];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${titleOf(ending)} · structured-agent</title>
<style>${verbatim(STYLE)}</style>
</head>
<body>
<a class="skip" href="#story">Skip to what happened</a>
<header class="page"><p><b>structured-agent</b> <span class="dim">report of a run</span></p><button type="button" id="theme" hidden>Theme: system</button></header>
<main>
${verdictSection(ending)}
${remarks.length === 0 ? null : html`<aside class="remarks" aria-label="About this report"><ul>${remarks.map((each) => html`<li>${each}</li>`)}</ul></aside>`}
${ending.payload === null ? null : payloadSection(ending.payload, ending.evidence, showing)}
${charts(story.turns)}
${tools()}
${storySection(story.turns)}
</main>
<footer class="dim"><p>Made from the redacted transcript of the run, in which arguments of structured_output are not recorded${ending.payload === null ? '' : ', and from its result envelope, which holds the accepted payload'}. Invisible characters are shown by their codes. What the model and the repository said is text, and nobody vouches for it.</p></footer>
<script>${verbatim(SCRIPT)}</script>
</body>
</html>
`;
  return page.html;
}

/** Controls that are shown by the script, which they need. */
function tools(): Html {
  return html`<form class="tools" id="tools" role="search" hidden>
<label for="search">Search</label><input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/" aria-describedby="keys">
<label><input id="problems" type="checkbox"> Only problems</label>
<button type="button" id="unfold">Unfold all</button><button type="button" id="fold">Fold all</button>
<output id="count" for="search problems" aria-live="polite"></output>
<p class="dim keys"><label><input id="letters" type="checkbox" checked> Keys</label> <span id="keys"><kbd>/</kbd> search · <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>Enter</kbd> fold · <kbd>Esc</kbd> clear</span></p>
</form>`;
}

function remarksOn(
  story: Story,
  envelope: JsonObject | null,
  showing: Showing,
  withPayload: boolean,
): readonly string[] {
  const { unknown, left, finished } = story;
  const conclusion = finished === null ? null : readText(finished, 'conclusion');
  const isForeign = envelope !== null && contradicts(story, envelope);
  return [
    ...(envelope === null ? [] : weaknessesOf(envelope).map((text) => showing.text(text).text)),
    ...(unknown === 0
      ? []
      : [
          `${counted(unknown, 'line')} of the transcript ${unknown === 1 ? 'is' : 'are'} no event, and left out.`,
        ]),
    ...(left === 0
      ? []
      : [`${counted(left, 'more entry').replace('entrys', 'entries')}: see the transcript itself.`]),
    ...(finished === null && envelope === null
      ? ['The transcript ends before the run did: the verdict is not in it.']
      : []),
    ...(isForeign
      ? [
          `The result file tells of another ending than the transcript. Do they belong to the same run?${withPayload ? ' Its payload is not shown.' : ''}`,
        ]
      : []),
    ...(withPayload && envelope === null && (conclusion === 'success' || conclusion === 'failure')
      ? ['What was found is in the result file, which was not given: --result FILE adds it to this page.']
      : []),
  ];
}

/** Returns what limits the evidence for the verdict. */
function weaknessesOf(envelope: JsonObject): readonly string[] {
  const evidence = readObject(envelope, 'evidence');
  const [context, toolCalls] = [readText(evidence, 'context'), readCount(evidence, 'tool_calls')];
  if (toolCalls === null) return [];
  const known = CONTEXTS.find((each) => each === context) ?? 'none';
  const hasPayload = Object.hasOwn(envelope, 'structured_output');
  const subject = findObject(envelope, 'subject');
  const event = subject === null ? null : (readText(subject, 'event') ?? '');
  return warningsAbout(
    { context: known, toolCalls, coverage: readCoverage(evidence) ?? null },
    hasPayload,
    event === null ? null : { event },
  );
}

const CONTEXTS = ['complete', 'truncated', 'missing', 'none'] as const;

/** The content security policy: nothing is loaded or sent, and only the page's own scripts and styles run. */
function policy(): string {
  const sources = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return `default-src 'none'; script-src ${sources(SCRIPT)}; style-src ${sources(STYLE)}; base-uri 'none'; form-action 'none'`;
}
