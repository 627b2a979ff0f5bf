/** Converts a transcript's events to the story that the page shows: turns, and the events in each, in order. */

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
import { REPORT_PAGE } from '../../text/limits.ts';
import type { Json, JsonObject, Usage } from '../../types.ts';
import type { Showing, Shown } from './visible.ts';

export interface Call {
  readonly kind: 'call';
  readonly id: string;
  readonly name: string;
  readonly target: string;
  /** How the provider marked arguments that are incomplete or malformed. */
  readonly damage: 'truncated' | 'malformed' | null;
  readonly arguments: readonly Argument[];
  /** null until the result is known. */
  readonly done: {
    readonly decision: string;
    readonly durationMs: number | null;
    readonly result: Shown;
  } | null;
}

/** A text and its author. */
export interface Words {
  readonly kind: 'prompt' | 'user' | 'model' | 'info' | 'warning';
  readonly text: Shown;
}

export type Part = Call | Words;

/** A request to the model, and everything that followed until the next one. */
export interface Turn {
  /** The number in the transcript; null for what came before the first turn. */
  readonly turn: number | null;
  readonly forced: boolean;
  readonly durationMs: number | null;
  readonly stopReason: string | null;
  readonly usage: Usage | null;
  /** The cost of the run so far, in US dollars. */
  readonly costUsd: number | null;
  readonly parts: readonly Part[];
}

export interface Story {
  readonly model: string;
  readonly provider: string;
  readonly turns: readonly Turn[];
  /** The line about the end; null when there is none. */
  readonly finished: JsonObject | null;
  /** The number of entries that are not events. */
  readonly unknown: number;
  /** The number of parts left out because of `REPORT_PAGE.entries`. */
  readonly left: number;
}

/** Takes entries one by one. */
interface StoryTeller {
  /** Adds a parsed line of a transcript, or any other value. */
  add(entry: unknown): void;
  story(): Story;
}

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenTurn = Open<Omit<Turn, 'parts'>> & {
  readonly parts: Part[];
  /** Calls without a result, by id; ids may repeat. */
  readonly waiting: Map<string, Open<Call>[]>;
};

/** The tools whose arguments are shown if the transcript does not list the offered ones. */
const TOOLS: readonly string[] = ['read_file', 'edit', 'shell'];

interface State {
  model: string;
  provider: string;
  /** The names of the tools that the model was offered. */
  offered: readonly string[];
  finished: JsonObject | null;
  unknown: number;
  parts: number;
  now: OpenTurn;
  readonly turns: OpenTurn[];
  readonly showing: Showing;
}

/** Creates a story from entries, whose contents are not trusted. */
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
      left: Math.max(0, state.parts - REPORT_PAGE.entries),
    }),
  };
}

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

/** Starts a turn. Turns count towards the maximum number of parts. */
function startTurn(entry: JsonObject, state: State): void {
  state.now = blankTurn(readCount(entry, 'turn') ?? state.turns.length);
  state.now.forced = readFlag(entry, 'forced');
  state.parts += 1;
  if (state.parts <= REPORT_PAGE.entries) state.turns.push(state.now);
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

/** Parts beyond the maximum are not created. */
function put(make: () => Part, state: State): void {
  state.parts += 1;
  if (state.parts <= REPORT_PAGE.entries) state.now.parts.push(make());
}

function blankTurn(turn: number | null): OpenTurn {
  const nothing = { durationMs: null, stopReason: null, usage: null, costUsd: null };
  return { turn, forced: false, ...nothing, parts: [], waiting: new Map() };
}

/** Returns a call as the model wrote it, or as an event names it. */
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

/** An argument by name, or the raw text when a tool would not parse it. */
export interface Argument {
  readonly name: string | null;
  readonly text: Shown;
}

const STRUCTURED_OUTPUT_NAME = 'structured_output';

/**
 * Returns the arguments of a call one by one, strings without quotes. The arguments of `structured_output`, however the
 * model misspelled the name, and of tools that were not offered are never returned, even if the transcript contains
 * them.
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
  if (entries === null || entries.length > REPORT_PAGE.arguments)
    return [{ name: null, text: showing.text(raw) }];
  return entries.map(([key, value]) => ({
    name: showing.label(key),
    text: showing.text(typeof value === 'string' ? value : readable(value)),
  }));
}

function readable(value: Json): string {
  return indentedJson(value, REPORT_PAGE.text) ?? JSON.stringify(value);
}
