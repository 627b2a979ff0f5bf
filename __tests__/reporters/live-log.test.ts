import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createLog } from '../../src/reporters/log.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleFailedMerge, sampleLeg, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { writeCommands } from '../support/fakes/runner/commands.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, sampleReusedReport, unpublished } from './sample-report.ts';

async function told(level: 'summary' | 'full', report: Report | null): Promise<string> {
  let text = '';
  const secrets = createSecrets();
  secrets.add('sk-canary-1');
  const write = (part: string) => {
    text += part;
  };
  const live = createLiveLog({
    log: createLog({ core: writeCommands(write), secrets, token: () => 'tok' }),
    level,
  });
  if (report === null) for (const event of sampleEvents) live.event?.(event);
  else await live.report?.(report, new AbortController().signal);
  return text;
}

describe('the log of a run', () => {
  it('tells each turn and call as it starts and ends', async () => {
    expect(await told('summary', null)).toMatchInlineSnapshot(`
      "::warning title=structured-agent::No sandbox.
      structured-agent · anthropic · claude-sonnet-4-5
      turn 1
        model answered in 1.2 s · 2 calls · 3,210 tokens · $0.0042
        ▸ read_file src/a : :error: :.js
        ✗ read_file src/a : :error: :.js · 3 ms · 3,210 tokens · $0.0042 · There is no such file.
        ▸ shell npm test
        • shell npm test · exit code 1 · 2.1 s · 3,210 tokens · $0.0042
      turn 1 done in 3.3 s · 3,210 tokens · $0.0042
      turn 2 · asked once more, for structured_output only
        model answered in 0.8 s · 1 call · cut off by the output-token limit · 3,210 tokens · $0.0042
        ✗ structured_output · rejected · /passed (type)
      turn 2 done in 0.8 s · 3,210 tokens
      turn 3
      turn 3 done in 0.7 s · no tool call · 3,210 tokens · $0.0042
      turn 4 · asked once more, for structured_output only
        model answered in 0.7 s · 1 call · 3,210 tokens · $0.0042
        ✓ structured_output · accepted
      turn 4 done in 0.7 s · 3,210 tokens · $0.0042
      a remark
      "
    `);
  });

  it('folds prose, prompts and output of tools in at level full', async () => {
    expect(await told('full', null)).toMatchInlineSnapshot(`
      "::warning title=structured-agent::No sandbox.
      structured-agent · anthropic · claude-sonnet-4-5
      ::group::prompt
      ::stop-commands::tok
        | Judge this.
      ::tok::
      ::endgroup::
      turn 1
        model answered in 1.2 s · 2 calls · 3,210 tokens · $0.0042
      ::group::what the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        ▸ read_file src/a : :error: :.js
        ✗ read_file src/a : :error: :.js · 3 ms · 3,210 tokens · $0.0042 · There is no such file.
      ::group::output of read_file
      ::stop-commands::tok
        | There is no such file.
        | More.
      ::tok::
      ::endgroup::
        ▸ shell npm test
        • shell npm test · exit code 1 · 2.1 s · 3,210 tokens · $0.0042
      ::group::output of shell
      ::stop-commands::tok
        | OUTPUT-CANARY ***
        | : :endgroup: :
        | [exit code 1]
      ::tok::
      ::endgroup::
      turn 1 done in 3.3 s · 3,210 tokens · $0.0042
      turn 2 · asked once more, for structured_output only
        model answered in 0.8 s · 1 call · cut off by the output-token limit · 3,210 tokens · $0.0042
      ::group::what the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        ✗ structured_output · rejected · /passed (type)
      turn 2 done in 0.8 s · 3,210 tokens
      turn 3
      ::group::what the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
      turn 3 done in 0.7 s · no tool call · 3,210 tokens · $0.0042
      ::group::what the model was told
      ::stop-commands::tok
        | Call structured_output now.
      ::tok::
      ::endgroup::
      turn 4 · asked once more, for structured_output only
        model answered in 0.7 s · 1 call · 3,210 tokens · $0.0042
      ::group::what the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        ✓ structured_output · accepted
      turn 4 done in 0.7 s · 3,210 tokens · $0.0042
      a remark
      "
    `);
  });

  it.each([
    ['all well\n[exit code 0]', '✓ shell npm test · exit code 0 · 5 ms'],
    ['[exit code 7]', '• shell npm test · exit code 7 · 5 ms'],
    ['x\n[killed by SIGKILL]', '• shell npm test · killed by SIGKILL · 5 ms'],
    ['[timed out after 3 s and was killed. If it …]', '• shell npm test · timed out after 3 s · 5 ms'],
    ['[exit code 7]\n[exit code 0]x', '✓ shell npm test · 5 ms'],
    ['[exit code ::error::]', '✓ shell npm test · 5 ms'],
  ])('of a command whose answer is %j it tells how it ended', (content, line) => {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const log = createLog({ core: writeCommands(write), secrets: createSecrets(), token: () => 'tok' });
    createLiveLog({ log, level: 'summary' }).event?.({
      type: 'tool_finished',
      turn: 1,
      call: { id: 'c', name: 'shell', target: 'npm test' },
      decision: 'ok',
      durationMs: 5,
      result: { callId: 'c', content, isError: false },
      totals: {
        turns: 1,
        usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 },
        costUsd: null,
      },
    });
    expect(text).toBe(`  ${line} · 2 tokens\n`);
  });

  it('tells a failure of one line once, also at level full', async () => {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const log = createLog({ core: writeCommands(write), secrets: createSecrets(), token: () => 'tok' });
    const [failed] = sampleEvents.filter((event) => event.type === 'tool_finished');
    if (failed?.type !== 'tool_finished') throw new Error('There is no such event.');
    const result = { ...failed.result, content: 'There is no such file.\n' };
    createLiveLog({ log, level: 'full' }).event?.({ ...failed, result });
    expect(text).toMatch(/^ {2}✗ read_file .* There is no such file\.\n$/);
  });

  it('P7 holds no prose of the model and no output of a tool at level summary', async () => {
    expect(await told('summary', null)).not.toMatch(/CANARY|sk-canary/);
  });

  it('masks a secret before cutting what it stands in', () => {
    let text = '';
    const secrets = createSecrets();
    secrets.add('sk-canary-1');
    const write = (part: string) => {
      text += part;
    };
    const live = createLiveLog({
      log: createLog({ core: writeCommands(write), secrets, token: () => 'tok' }),
      level: 'summary',
    });
    for (let at = 105; at < 125; at += 1) {
      const call = { id: 'c', name: 'shell', target: `${'x'.repeat(at)}sk-canary-1` };
      live.event?.({ type: 'tool_started', turn: 1, call });
    }
    expect(text).not.toContain('sk');
  });

  it('C17 gives the runner no commands but its own, at either level', async () => {
    const names = async (level: 'summary' | 'full') => {
      const text = await told(level, null);
      return [text, withoutStopCommands(text)].map(
        (each) => new Set(parseLog(each).map((command) => command.name)),
      );
    };
    expect(await names('summary')).toEqual([new Set(['warning']), new Set(['warning'])]);
    const full = new Set(['warning', 'group', 'endgroup']);
    expect(await names('full')).toEqual([full, full]);
  });
});

describe('the verdict, the last lines', () => {
  it('tells a success', async () => {
    expect(await told('summary', sampleReport())).toMatchInlineSnapshot(`
      "────────────────────────────────────────────────────────────
      ✓ SUCCESS · accepted · gate met · exit code 0
        claude-sonnet-4-5 · 2 turns · 3,210 tokens · $0.0042 · 4.3 s · sandbox bwrap
        result: /tmp/result.json
        transcript: /tmp/transcript.jsonl
      "
    `);
  });

  it('says of a replay in the same breath that no model judged', async () => {
    expect(await told('summary', sampleReport({ replayed: true }))).toContain(
      '✓ SUCCESS · accepted · gate met · replayed: no model judged this · exit code 0',
    );
  });

  it('P3 tells nothing of the payload', async () => {
    const report = sampleReport({ payload: { passed: true, summary: 'PAYLOAD-CANARY' } });
    expect(await told('full', report)).not.toContain('PAYLOAD-CANARY');
  });

  it('E15 tells a gate that is not met with one annotation', async () => {
    const verdict = {
      conclusion: 'failure',
      reason: 'gate_not_met',
      subtype: 'gate_not_met',
      exitCode: 1,
      published: true,
    } as const;
    const report = sampleReport({
      verdict: { ...verdict, error: 'The gate is not met.' },
      gate: { status: 'not_met', issues: [] },
    });
    const text = await told('summary', report);
    expect(parseLog(text)).toEqual([
      {
        name: 'error',
        properties: { title: 'structured-agent: gate_not_met' },
        data: 'The gate is not met.',
      },
    ]);
    expect(text).toContain('✗ FAILURE · gate_not_met · exit code 1\n::error title=');
  });

  it('tells what a gate wanted that did not end the run', async () => {
    const gate = {
      status: 'met',
      issues: [],
      words: ['wants `passed` to be true; the payload agrees'],
    } as const;
    expect(await told('summary', sampleReport({ gate }))).toContain(
      'exit code 0\n  the gate wants `passed` to be true; the payload agrees\n  claude',
    );
  });

  it('tells an ending without a payload, its hostile sentence inert', async () => {
    const report = sampleReport({
      ...unpublished('It said: "a\n::set-output name=x::y ##[error]z sk-canary-1"'),
      model: '',
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 },
      turnCount: 0,
      changedFiles: null,
      resultFile: null,
      transcriptFile: null,
      patchFile: '/tmp/changes.patch',
    });
    expect(await told('summary', report)).toMatchInlineSnapshot(`
      "────────────────────────────────────────────────────────────
      ? INCONCLUSIVE · plain_text · exit code 1
      ::error title=structured-agent%3A plain_text::It said: "a%0A: :set-output name=x: :y ## [error]z ***"
        0 turns · 4.3 s
        patch: /tmp/changes.patch
      "
    `);
  });

  it('says how a payload was repaired', async () => {
    const parsed = sampleReport({ repaired: { kind: 'parsed', paths: ['/a', ''] } });
    expect(await told('summary', parsed)).toContain(
      '  the payload was repaired before it was accepted: a JSON string read as what it holds, at /a, the root\n',
    );
    const unwrapped = sampleReport({ repaired: { kind: 'unwrapped', key: 'output' } });
    expect(await told('summary', unwrapped)).toContain('accepted: taken out of a wrapper named output\n');
  });

  it('tells a skipped run with a warning', async () => {
    const report = sampleReport(unpublished('No key.', { conclusion: 'skipped', exitCode: 0 }));
    expect(parseLog(await told('summary', report)).map((command) => command.name)).toEqual(['warning']);
  });
});

describe('the log of a merge', () => {
  it('tells the verdict, what holds it up and what it took, and nothing of an agent’s run', async () => {
    const legs = [sampleLeg('api', 'pass'), sampleLeg('web', 'fail')];
    const report = sampleMergedReport(sampleMerged({ legs, summary: 'web fails.' }));
    expect(await told('summary', report)).toMatchInlineSnapshot(`
      "────────────────────────────────────────────────────────────
      ✗ FAILURE · gate_not_met · exit code 1
      ::error title=structured-agent%3A gate_not_met::The gate is not met: it wants every leg to pass (rule: all), and 1 of 2 passes, 1 fails ("web").
        1 of 2 legs passes, 1 fails (rule all)
        ✗ web fails: The gate is not met: it wants \`passed\` to be true; the payload says false.
        2 runs · 4 turns · 6,420 tokens · $0.0400 · 0.3 s
        result: /tmp/result.json
      "
    `);
  });

  it('that could not count tells its error', async () => {
    expect(
      await told('summary', sampleFailedMerge('No file is there.', { reason: 'config', exitCode: 52 })),
    ).toMatchInlineSnapshot(`
      "────────────────────────────────────────────────────────────
      ? INCONCLUSIVE · config · exit code 52
      ::error title=structured-agent%3A config::No file is there.
        0.3 s
        result: /tmp/result.json
      "
    `);
  });
});

describe('the log of a reused verdict', () => {
  it('says whose it is, and that no model was asked', async () => {
    expect(await told('summary', sampleReusedReport({ turnCount: 0, turns: [] }))).toMatchInlineSnapshot(`
      "────────────────────────────────────────────────────────────
      ✓ SUCCESS · accepted · gate met · reused: the verdict of run 41, no model was asked · exit code 0
        4.3 s
        result: /tmp/result.json
        transcript: /tmp/transcript.jsonl
      "
    `);
  });
});
