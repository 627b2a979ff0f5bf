import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createLog } from '../../src/reporters/log.ts';
import { createSecrets } from '../../src/secrets.ts';
import type { Report } from '../../src/types.ts';
import { parseLog, withoutStopCommands } from '../support/runner.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished } from './sample-report.ts';

async function told(level: 'summary' | 'full', report: Report | null): Promise<string> {
  let text = '';
  const secrets = createSecrets();
  secrets.add('sk-canary-1');
  const write = (part: string) => {
    text += part;
  };
  const live = createLiveLog({ log: createLog({ write, secrets, token: () => 'tok' }), level });
  if (report === null) for (const event of sampleEvents) live.event?.(event);
  else await live.report?.(report, new AbortController().signal);
  return text;
}

describe('the log of a run', () => {
  it('tells each turn and call as it starts and ends', async () => {
    expect(await told('summary', null)).toMatchInlineSnapshot(`
      "::warning::No sandbox.
      structured-agent · anthropic · claude-sonnet-4-5
      turn 1
        model answered in 1.2 s · 2 calls
        ▸ read_file src/a : :error: :.js
        ✗ read_file src/a : :error: :.js · 3 ms · 3,210 tokens · $0.0042 · There is no such file.
        ▸ shell npm test
        ✓ shell npm test · 2.1 s · 3,210 tokens · $0.0042
      turn 1 done in 3.3 s · 3,210 tokens · $0.0042
      turn 2 · asked once more, for structured_output only
        model answered in 0.8 s · 1 call · cut off by the output-token limit
        ✗ structured_output · rejected · Rejected: /passed (type)
      turn 2 done in 0.8 s · 3,210 tokens
      turn 3
      turn 3 done in 0.7 s · no tool call · 3,210 tokens · $0.0042
      turn 4 · asked once more, for structured_output only
        model answered in 0.7 s · 1 call
        ✓ structured_output · accepted
      turn 4 done in 0.7 s · 3,210 tokens · $0.0042
      a remark
      "
    `);
  });

  it('folds prose, prompts and output of tools in at level full', async () => {
    expect(await told('full', null)).toMatchInlineSnapshot(`
      "::warning::No sandbox.
      structured-agent · anthropic · claude-sonnet-4-5
      ::group::Prompt
      ::stop-commands::tok
        | Judge this.
      ::tok::
      ::endgroup::
      turn 1
      ::group::What the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        model answered in 1.2 s · 2 calls
        ▸ read_file src/a : :error: :.js
        ✗ read_file src/a : :error: :.js · 3 ms · 3,210 tokens · $0.0042 · There is no such file.
      ::group::Output of read_file src/a : :error: :.js
      ::stop-commands::tok
        | There is no such file.
        | More.
      ::tok::
      ::endgroup::
        ▸ shell npm test
        ✓ shell npm test · 2.1 s · 3,210 tokens · $0.0042
      ::group::Output of shell npm test
      ::stop-commands::tok
        | OUTPUT-CANARY ***
        | : :endgroup: :
      ::tok::
      ::endgroup::
      turn 1 done in 3.3 s · 3,210 tokens · $0.0042
      turn 2 · asked once more, for structured_output only
      ::group::What the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        model answered in 0.8 s · 1 call · cut off by the output-token limit
        ✗ structured_output · rejected · Rejected: /passed (type)
      turn 2 done in 0.8 s · 3,210 tokens
      turn 3
      ::group::What the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
      turn 3 done in 0.7 s · no tool call · 3,210 tokens · $0.0042
      ::group::What the model was told
      ::stop-commands::tok
        | Call structured_output now.
      ::tok::
      ::endgroup::
      turn 4 · asked once more, for structured_output only
      ::group::What the model said
      ::stop-commands::tok
        | PROSE-CANARY : :error: :x
      ::tok::
      ::endgroup::
        model answered in 0.7 s · 1 call
        ✓ structured_output · accepted
      turn 4 done in 0.7 s · 3,210 tokens · $0.0042
      a remark
      "
    `);
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
    const live = createLiveLog({ log: createLog({ write, secrets, token: () => 'tok' }), level: 'summary' });
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
        0 files changed in the workspace
        result: /tmp/result.json
        transcript: /tmp/transcript.jsonl
      "
    `);
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
    expect(text).toContain('✗ FAILURE · gate_not_met · gate not met · exit code 1\n  The gate is not met.\n');
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
      "::error title=structured-agent%3A plain_text::It said: "a%0A: :set-output name=x: :y ## [error]z ***"
      ────────────────────────────────────────────────────────────
      ? INCONCLUSIVE · plain_text · exit code 1
        It said: "a : :set-output name=x: :y ## [error]z ***"
        0 turns · 4.3 s · sandbox bwrap
        patch: /tmp/changes.patch
      "
    `);
  });

  it('tells a skipped run with a warning', async () => {
    const report = sampleReport(unpublished('No key.', { conclusion: 'skipped', exitCode: 0 }));
    expect(parseLog(await told('summary', report)).map((command) => command.name)).toEqual(['warning']);
  });
});
