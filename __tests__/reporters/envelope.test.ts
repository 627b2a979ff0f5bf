import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Repair } from '../../src/types.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const same = (text: string) => text;

describe('envelope', () => {
  it('tells a published payload, its fields in the documented order', () => {
    const report = sampleReport({ repaired: { kind: 'parsed', paths: ['/a'] } });
    const payload = report.payload;
    const told = envelope(report, same);
    expect(told).toEqual({
      type: 'result',
      subtype: 'success',
      is_error: false,
      exit_code: 0,
      conclusion: 'success',
      reason: 'accepted',
      result: JSON.stringify(payload),
      structured_result: payload,
      structured_output: payload,
      gate: { status: 'met', issues: [] },
      num_turns: 2,
      rejections: 0,
      repaired: { kind: 'parsed', paths: ['/a'] },
      usage: { input_tokens: 3000, output_tokens: 210, cached_input_tokens: 1200, cache_write_tokens: 0 },
      total_cost_usd: 0.0042,
      duration_ms: 4321,
      model: 'claude-sonnet-4-5',
      provider: 'anthropic',
      session_id: '7f3c0c1e-0000-4000-8000-000000000000',
      sandbox: 'bwrap',
      subject: { ...report.subject },
      judge: { ...report.judge },
    });
    expect(Object.keys(told)).toEqual([
      ...['type', 'subtype', 'is_error', 'exit_code', 'conclusion', 'reason', 'result', 'structured_result'],
      ...[
        'structured_output',
        'gate',
        'num_turns',
        'rejections',
        'repaired',
        'usage',
        'total_cost_usd',
        'duration_ms',
      ],
      ...['model', 'provider', 'session_id', 'sandbox', 'subject', 'judge'],
    ]);
  });

  it('says of a replay that it was one, and of nothing else', () => {
    expect(envelope(sampleReport({ replayed: true }), same)).toMatchObject({ replayed: true });
    expect(envelope(sampleReport({ replayed: false }), same)).not.toHaveProperty('replayed');
  });

  it('tells every way in which a payload was repaired', () => {
    const told = (repaired: Repair | null) => envelope(sampleReport({ repaired }), same)['repaired'];
    expect([told({ kind: 'unwrapped', key: 'input' }), told(null)]).toEqual([
      { kind: 'unwrapped', key: 'input' },
      null,
    ]);
  });

  it('tells an error and no payload where none is published', () => {
    const report = sampleReport({
      ...unpublished('No key sk-1.'),
      costUsd: null,
      subject: null,
      lastAssistantText: 'sk-1!',
    });
    const told = envelope(report, (text) => text.replace('sk-1', '***'));
    expect(told).toMatchObject({
      is_error: true,
      result: 'No key ***.',
      error: 'No key ***.',
      last_assistant_text: '***!',
      gate: null,
      total_cost_usd: null,
      subject: null,
    });
    expect(Object.keys(told)).not.toContain('structured_output');
    expect(Object.keys(told)).not.toContain('structured_result');
  });

  it('E15 tells a payload and the issues of a gate that is not met, without an error', () => {
    const issues = [{ path: '/passed', keyword: 'const', message: 'must be true' }];
    const verdict = {
      ...sampleReport().verdict,
      exitCode: 1,
      subtype: 'gate_not_met',
      error: 'The gate is not met.',
    } as const;
    const told = envelope(sampleReport({ verdict, gate: { status: 'not_met', issues } }), same);
    expect(told).toMatchObject({
      is_error: true,
      gate: { status: 'not_met', issues },
      structured_output: { passed: true },
    });
    expect(Object.keys(told)).not.toContain('error');
  });
});
