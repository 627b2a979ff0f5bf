import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reportPage } from '../../../src/commands/report/page.ts';
import { argumentsOf, createStory } from '../../../src/commands/report/story.ts';
import { createShowing } from '../../../src/commands/report/visible.ts';
import { toWire } from '../../../src/reporters/transcript.ts';
import { isObject } from '../../../src/text/json.ts';
import { sampleEvents } from '../../reporters/sample-events.ts';

function collect(entries: readonly unknown[]) {
  const teller = createStory(createShowing((text) => text));
  for (const entry of entries) teller.add(entry);
  return teller.story();
}

const turn = { type: 'turn_started', turn: 1, forced: false };
const asks = (...ids: string[]) => ({
  type: 'turn_completed',
  message: { tool_calls: ids.map((id) => ({ id, name: 'shell', raw_arguments: '{}', status: 'complete' })) },
});
const ends = (id: string, content: string) => ({
  type: 'tool_finished',
  call: { id, name: 'shell', target: content },
  decision: 'ok',
  duration_ms: 5,
  result: { content },
});

describe('createStory', () => {
  it('collects the events of a run, each call with its result', () => {
    const story = collect(sampleEvents.map((event) => toWire(event, (text) => text)));
    const head = { model: 'claude-sonnet-4-5', provider: 'anthropic' };
    expect(story).toMatchObject({ ...head, unknown: 0, left: 0, finished: null });
    const outline = story.turns.map(({ turn, forced, parts }) => [
      turn,
      forced,
      parts.map((part) => (part.kind === 'call' ? `${part.name} ${part.done?.decision}` : part.kind)),
    ]);
    expect(outline).toEqual([
      [null, false, ['warning', 'prompt']],
      [1, false, ['model', 'read_file error', 'shell ok']],
      [2, true, ['model', 'structured_output rejected']],
      [3, false, ['model', 'user']],
      [4, true, ['model', 'structured_output accepted', 'info']],
    ]);
    expect(story.turns[1]).toMatchObject({ durationMs: 1200, stopReason: 'tool_calls', costUsd: 0.0042 });
    expect(story.turns[1]?.usage).toMatchObject({ inputTokens: 3000, outputTokens: 210 });
  });

  it('P3 shows no arguments of tools that were not offered, whatever the transcript contains', () => {
    const says = (name: string) => ({
      ...turn,
      type: 'turn_completed',
      message: { tool_calls: [{ id: 'a', name, raw_arguments: '{"path":"CANARY"}', status: 'complete' }] },
    });
    const shown = (...entries: readonly unknown[]) => JSON.stringify(collect([...entries]).turns);
    for (const name of ['StructuredOutput', 'struct_output', 'structured_output'])
      expect(shown(turn, says(name))).not.toContain('CANARY');
    const started = { type: 'run_started', tools: ['read_file', 'structured_output'] };
    expect(shown(started, turn, says('read_file'))).toContain('CANARY');
    expect(shown(started, turn, says('shell'))).not.toContain('CANARY');
    expect(shown(turn, says('shell'))).toContain('CANARY');
  });

  it('matches results to calls in order when ids repeat, and keeps a call without a result', () => {
    const { turns } = collect([turn, asks('x', 'x', 'y'), ends('x', 'one'), ends('x', 'two')]);
    const results = turns[0]?.parts.map((part) =>
      part.kind === 'call' ? (part.done?.result.text ?? null) : '',
    );
    expect(results).toEqual(['one', 'two', null]);
  });

  it('keeps a result without a call', () => {
    expect(collect([turn, ends('z', 'alone')]).turns[0]?.parts).toMatchObject([
      { name: 'shell', target: 'alone', done: { result: { text: 'alone' } } },
    ]);
  });

  it.each([
    null,
    3,
    'run_started',
    [],
    {},
    ...['constructor', '__proto__', 7, 'result'].map((type) => ({ type })),
  ])('counts %j as an unknown event', (entry) => {
    expect(collect([entry])).toMatchObject({ unknown: 1, turns: [] });
  });

  it('accepts events whose fields have any other type', () => {
    const types =
      'run_started turn_started turn_completed tool_started tool_finished user_message notice run_finished';
    const fields = 'turn message call result totals usage text prompt duration_ms'.split(' ');
    for (const value of [null, -1, Number.POSITIVE_INFINITY, 'x', [], {}, [null], { usage: 3, text: [] }]) {
      const rest = Object.fromEntries(fields.map((field) => [field, value]));
      expect(collect(types.split(' ').map((type) => ({ type, ...rest }))).unknown).toBe(0);
    }
  });

  it('makes a page of any entries, in which all markup is ours', () => {
    const types = 'run_started turn_started turn_completed tool_finished notice run_finished'.split(' ');
    const text = fc.oneof(
      fc.constantFrom('<script>', '"><i a="', "</title><i x='", '&lt;', 'constructor'),
      fc.string(),
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.oneof(fc.double(), fc.boolean(), fc.constant(null)),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 8 }),
    })).object;
    const entry = fc
      .tuple(fc.constantFrom(...types), value)
      .map(([type, rest]) => Object.assign({}, rest, { type }));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), value, (entries, envelope) => {
        const showing = createShowing((each) => each);
        const whole = isObject(envelope) ? envelope : null;
        const story = collect(entries);
        const page = reportPage({ story, envelope: whole, showing, withPayload: true, notes: [] });
        expect(foreignIn(page)).toEqual([]);
        expect(page).not.toMatch(/undefined|NaN|\[object/);
      }),
      { numRuns: 300 },
    );
  });

  it('limits the number of parts, and keeps the end of the run', () => {
    const many = Array.from({ length: 40_000 }, () => ({ type: 'notice', level: 'info', text: 'x' }));
    const story = collect([...many, { type: 'run_finished', conclusion: 'success' }]);
    expect(story).toMatchObject({ turns: [{ parts: { length: 30_000 } }], left: 10_000 });
    expect(story.finished).not.toBeNull();
  });
});

const NAMES =
  'turn message call result totals usage text prompt duration_ms tool_calls name id target raw_arguments status decision content cost_usd input_tokens stop_reason level gate issues path keyword conclusion reason error subject judge sha version model total_cost_usd __proto__'.split(
    ' ',
  );
/** The elements of a page. */
const ELEMENTS =
  'html head meta title style body a header p b span button main section h1 h2 h3 h4 ul li dl div dt dd aside figure figcaption svg g rect polygon polyline form label input output kbd table thead tbody tr th td article details summary code pre footer script'.split(
    ' ',
  );
const ATTRIBUTES =
  'lang charset http-equiv content name class href type id hidden aria-labelledby aria-label aria-hidden aria-keyshortcuts aria-describedby aria-live role viewBox preserveAspectRatio x y width height points for autocomplete spellcheck checked tabindex scope data-name data-row data-problem open'.split(
    ' ',
  );

/** Elements and attributes that are not part of the page’s template, and any second script. */
function foreignIn(page: string): readonly string[] {
  const tags = [...page.matchAll(/<([a-z][a-z0-9]*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>/gi)];
  const names = tags.map((tag) => tag[1] ?? '').filter((name) => !ELEMENTS.includes(name));
  const attributes = tags
    .flatMap((tag) => [...(tag[2] ?? '').matchAll(/([\w-]+)(?:="[^"]*")?/g)].map((each) => each[1] ?? ''))
    .filter((name) => !ATTRIBUTES.includes(name));
  const [head = '', ...bodies] = page.split(/<(?=[a-z!/])/i);
  const broken = bodies.filter((each) => !/^[^<>]*(?:"[^"]*"[^<>]*)*>/.test(each));
  const scripts = tags.filter((tag) => tag[1] === 'script').slice(1);
  return [...names, ...attributes, ...scripts.map(String), ...broken, ...(head === '' ? [] : [head])];
}

const showing = createShowing((text) => text.replaceAll('sk-canary', '***'));
const read = (name: string, raw: string | null) =>
  argumentsOf(name, raw, ['shell', 'structured_output'], showing).map((each) => [each.name, each.text.text]);

describe('argumentsOf', () => {
  it('shows each argument by name, strings as they are and other values as JSON', () => {
    expect(read('shell', '{"command":"a |\\n b","timeout_seconds":3,"x":{"y":[1]}}')).toEqual([
      ['command', 'a |\n b'],
      ['timeout_seconds', '3'],
      ['x', '{\n  "y": [\n    1\n  ]\n}'],
    ]);
  });

  it.each(['{"command":"a","command":"b"}', '{"command":', '[1]', '"x"', '[['.repeat(5_000)])(
    'shows %.30s raw, because a tool would not read it either',
    (raw) => {
      expect(read('shell', raw)).toEqual([[null, raw]]);
    },
  );

  it('shows an argument on one line when its indented form would be too long', () => {
    const deep = `${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}`;
    const [[name, text] = []] = read('shell', `{"x":${deep}}`);
    expect([name, text]).toEqual(['x', deep.slice(0, 60_000)]);
  });

  it('shows nothing when there are no arguments', () => {
    expect(read('shell', null)).toEqual([]);
    expect(read('shell', '')).toEqual([]);
  });

  it.each(['structured_output', 'functions.structured_output', 'StructuredOutput', 'Shell', ''])(
    'P3 never shows arguments of %s',
    (name) => {
      expect(JSON.stringify(read(name, '{"summary":"PAYLOAD-CANARY"}'))).not.toContain('CANARY');
    },
  );

  it('masks a secret that JSON escapes had hidden', () => {
    expect(read('shell', '{"command":"echo sk-\\u0063anary"}')).toEqual([['command', 'echo ***']]);
  });
});
