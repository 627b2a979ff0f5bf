/** A transcript's events → the story that the page tells: turns, and in them what happened, in order. */

import { indentedJson, isObject, parseStrictJson } from '../../text/json.ts';
import {
  readCount,
  readFlag,
  readObject,
  readObjects,
  readText,
  readTexts,
  readUsage,
} from '../../text/json-fields.ts';
import type { Json, JsonObject, Usage } from '../../types.ts';
import type { Showing, Shown } from './visible.ts';

/** A tool call and what became of it. */
export interface Call {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  readonly target: string;
  /** What the provider said of the arguments, where they are not whole. */
  readonly damage: 'truncated' | 'malformed' | null;
  readonly arguments: readonly Argument[];
  /** null until its result is known. */
  readonly done: {
    readonly decision: string;
    readonly durationMs: number | null;
    readonly result: Shown;
  } | null;
}

/** A text that somebody said. */
export interface Words {
  readonly kind: 'prompt' | 'user' | 'model' | 'info' | 'warning';
  readonly text: Shown;
}

/** One thing that happened. */
export type Part = Call | Words;

/** What was asked of the model once, and all that followed until it was asked again. */
export interface Turn {
  /** As the transcript numbers it; null for what came before the first. */
  readonly turn: number | null;
  readonly forced: boolean;
  readonly durationMs: number | null;
  readonly stopReason: string | null;
  readonly usage: Usage | null;
  /** US dollars of the run so far. */
  readonly costUsd: number | null;
  readonly parts: readonly Part[];
}

/** A whole run as its transcript tells it. */
export interface Story {
  readonly model: string;
  readonly provider: string;
  readonly turns: readonly Turn[];
  /** The line about the end; null where there is none. */
  readonly finished: JsonObject | null;
  /** How many entries were no events. */
  readonly unknown: number;
  /** How many parts there were no room for. */
  readonly left: number;
}

/** Hears entries one by one. */
interface StoryTeller {
  /** Takes a parsed line of a transcript, or anything else. */
  add(entry: unknown): void;
  story(): Story;
}

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenTurn = Open<Omit<Turn, 'parts'>> & {
  readonly parts: Part[];
  /** Calls without a result, by their ids, which may well repeat. */
  readonly waiting: Map<string, Open<Call>[]>;
};

/** A browser folds and searches so many without a pause that anybody notices. */
const MAX_PARTS = 30_000;
/** Whose arguments are shown where the transcript does not say what was offered. */
const TOOLS: readonly string[] = ['read_file', 'edit', 'shell'];

interface State {
  model: string;
  provider: string;
  /** Names of the tools that the model was offered. */
  offered: readonly string[];
  finished: JsonObject | null;
  unknown: number;
  parts: number;
  now: OpenTurn;
  readonly turns: OpenTurn[];
  readonly showing: Showing;
}

/** Makes a story of entries; nothing in them is believed but its type. */
export function createStory(showing: Showing): StoryTeller {
  const first = blankTurn(null);
  const state: State = {
    model: '',
    provider: '',
    offered: TOOLS,
    finished: null,
    unknown: 0,
    parts: 0,
    now: first,
    turns: [first],
    showing,
  };
  return {
    add(entry) {
      const take = isObject(entry) ? TAKE.get(readText(entry, 'type') ?? '') : undefined;
      if (isObject(entry) && take !== undefined) take(entry, state);
      else state.unknown += 1;
    },
    story: () => ({
      model: state.model,
      provider: state.provider,
      turns: state.turns.filter((turn) => turn.turn !== null || turn.parts.length > 0),
      finished: state.finished,
      unknown: state.unknown,
      left: Math.max(0, state.parts - MAX_PARTS),
    }),
  };
}

/** What each type of event means. */
const TAKE: ReadonlyMap<string, (entry: JsonObject, state: State) => void> = new Map([
  ['run_started', startRun],
  ['turn_started', startTurn],
  ['turn_completed', completeTurn],
  ['tool_started', startCall],
  ['tool_finished', finishCall],
  ['user_message', (entry: JsonObject, state: State) => say('user', readText(entry, 'text'), state)],
  ['notice', notice],
  [
    'run_finished',
    (entry: JsonObject, state: State) => {
      state.finished = entry;
    },
  ],
]);

function startRun(entry: JsonObject, state: State): void {
  state.model = state.showing.label(readText(entry, 'model') ?? '');
  state.provider = state.showing.label(readText(entry, 'provider') ?? '');
  state.offered = readTexts(entry, 'tools');
  say('prompt', readText(entry, 'prompt'), state);
}

/** Turns are parts too where there are too many. */
function startTurn(entry: JsonObject, state: State): void {
  state.now = blankTurn(readCount(entry, 'turn') ?? state.turns.length);
  state.now.forced = readFlag(entry, 'forced');
  state.parts += 1;
  if (state.parts <= MAX_PARTS) state.turns.push(state.now);
}

function completeTurn(entry: JsonObject, state: State): void {
  const { now } = state;
  now.durationMs = readCount(entry, 'duration_ms');
  now.stopReason = readText(entry, 'stop_reason');
  now.usage = readUsage(entry, 'usage');
  now.costUsd = readCount(readObject(entry, 'totals'), 'cost_usd');
  const message = readObject(entry, 'message');
  say('model', readText(message, 'text'), state);
  for (const each of readObjects(message, 'tool_calls')) {
    put(() => {
      const call = asked(each, state);
      const same = now.waiting.get(call.id);
      if (same === undefined) now.waiting.set(call.id, [call]);
      else same.push(call);
      return call;
    }, state);
  }
}

function startCall(entry: JsonObject, { now, showing }: State): void {
  const open = now.waiting.get(callId(entry))?.[0];
  if (open !== undefined) open.target = showing.label(readText(readObject(entry, 'call'), 'target') ?? '');
}

function finishCall(entry: JsonObject, state: State): void {
  const { now, showing } = state;
  now.costUsd = readCount(readObject(entry, 'totals'), 'cost_usd') ?? now.costUsd;
  const open = now.waiting.get(callId(entry))?.shift();
  if (open !== undefined) Object.assign(open, finish(open, entry, showing));
  else put(() => finish(asked(readObject(entry, 'call'), state), entry, showing), state);
}

function notice(entry: JsonObject, state: State): void {
  say(readText(entry, 'level') === 'warning' ? 'warning' : 'info', readText(entry, 'text'), state);
}

function say(kind: Words['kind'], text: string | null, state: State): void {
  if (text !== null && text.trim() !== '') put(() => ({ kind, text: state.showing.text(text) }), state);
}

/** What there is no room for is not made. */
function put(make: () => Part, state: State): void {
  state.parts += 1;
  if (state.parts <= MAX_PARTS) state.now.parts.push(make());
}

function blankTurn(turn: number | null): OpenTurn {
  const nothing = { durationMs: null, stopReason: null, usage: null, costUsd: null };
  return { turn, forced: false, ...nothing, parts: [], waiting: new Map() };
}

/** A call as the model wrote it, or as an event names it. */
function asked(call: JsonObject, { offered, showing }: State): Call {
  const name = readText(call, 'name') ?? '';
  const status = readText(call, 'status');
  return {
    kind: 'call',
    id: readText(call, 'id') ?? '',
    name: showing.label(name) || 'a tool without a name',
    target: showing.label(readText(call, 'target') ?? ''),
    damage: status === 'truncated' || status === 'malformed' ? status : null,
    arguments: argumentsOf(name, readText(call, 'raw_arguments'), offered, showing),
    done: null,
  };
}

function callId(entry: JsonObject): string {
  return readText(readObject(entry, 'call'), 'id') ?? '';
}

function finish(call: Call, entry: JsonObject, showing: Showing): Call {
  return {
    ...call,
    target: showing.label(readText(readObject(entry, 'call'), 'target') ?? '') || call.target,
    done: {
      decision: showing.label(readText(entry, 'decision') ?? ''),
      durationMs: readCount(entry, 'duration_ms'),
      result: showing.text(readText(readObject(entry, 'result'), 'content') ?? ''),
    },
  };
}

/** One argument by its name, or the raw text where it is not what a tool would read. */
export interface Argument {
  readonly name: string | null;
  readonly text: Shown;
}

const STRUCTURED_OUTPUT_NAME = 'structured_output';
const MAX_NAMES = 50;
/** An argument with a longer indented form is shown on one line: that form may be hundreds of times as long. */
const MAX_INDENTED = 60_000;

/**
 * The arguments of a call one by one, texts without their quotes. Those of `structured_output`, however the model garbled
 * the name, and those of a tool that is not among the offered ones never appear, whatever the transcript holds of them.
 */
export function argumentsOf(
  name: string,
  raw: string | null,
  offered: readonly string[],
  showing: Showing,
): readonly Argument[] {
  if (name.includes(STRUCTURED_OUTPUT_NAME) || !offered.includes(name)) {
    return [{ name: null, text: showing.text('These arguments are not recorded.') }];
  }
  if (raw === null || raw.trim() === '') return [];
  const read = parseStrictJson(raw);
  const entries = read.ok && isObject(read.value) ? Object.entries(read.value) : null;
  if (entries === null || entries.length > MAX_NAMES) return [{ name: null, text: showing.text(raw) }];
  return entries.map(([key, value]) => ({
    name: showing.label(key),
    text: showing.text(typeof value === 'string' ? value : readable(value)),
  }));
}

function readable(value: Json): string {
  return indentedJson(value, MAX_INDENTED) ?? JSON.stringify(value);
}
