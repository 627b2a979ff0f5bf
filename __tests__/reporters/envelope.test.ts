import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { maxPayloadDepth, parseStrictJson } from '../../src/text/json.ts';
import type { Repair } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from '../merge/sample-merged.ts';
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
      turns: 2,
      rejections: 0,
      repaired: { kind: 'parsed', paths: ['/a'] },
      usage: { input_tokens: 3000, output_tokens: 210, cached_input_tokens: 1200, cache_write_tokens: 0 },
      total_input_tokens: 3000,
      total_output_tokens: 210,
      total_cost_usd: 0.0042,
      duration_ms: 4321,
      model: 'claude-sonnet-4-5',
      provider: 'anthropic',
      session_id: '7f3c0c1e-0000-4000-8000-000000000000',
      sandbox: 'bwrap',
      subject: { ...report.subject },
      judge: { ...report.policy },
      leg: null,
      vote: null,
      reuse: null,
    });
    expect(Object.keys(told)).toEqual([
      ...['type', 'subtype', 'is_error', 'exit_code', 'conclusion', 'reason', 'result', 'structured_result'],
      ...[
        'structured_output',
        'gate',
        'num_turns',
        'turns',
        'rejections',
        'repaired',
        'usage',
        'total_input_tokens',
        'total_output_tokens',
        'total_cost_usd',
        'duration_ms',
      ],
      ...['model', 'provider', 'session_id', 'sandbox', 'subject', 'judge', 'leg', 'vote', 'reuse'],
    ]);
  });

  it('tells what the verdict rests on behind what was reused, its paths masked and well formed', () => {
    const evidence = {
      context: 'missing',
      toolCalls: 7,
      findings: [{ path: 'src/hunter2/a.js' }, { path: null }, { path: 'half \ud800' }],
    } as const;
    const told = envelope(sampleReport({ evidence }), (text) => text.replaceAll('hunter2', '***'));
    expect(told['evidence']).toEqual({
      context: 'missing',
      tool_calls: 7,
      findings: [{ path: 'src/***/a.js' }, { path: null }, { path: 'half \ufffd' }],
    });
    expect(Object.keys(told).slice(-2)).toEqual(['reuse', 'evidence']);
    expect(envelope(sampleReport({ evidence: null }), same)).not.toHaveProperty('evidence');
  });

  it('can be read again by a merge, however deep the payload is', () => {
    const deepest = `{"a":${'['.repeat(maxPayloadDepth - 1)}${']'.repeat(maxPayloadDepth - 1)}}`;
    const text = JSON.stringify(envelope(sampleReport({ payload: JSON.parse(deepest) }), (each) => each));
    expect(parseStrictJson(text).ok).toBe(true);
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
      conclusion: 'failure',
      reason: 'gate_not_met',
      subtype: 'gate_not_met',
      exitCode: 1,
      published: true,
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

  it('tells which leg and vote it is, and whose payload was taken', () => {
    const from = { run_id: '41', run_attempt: 2, session_id: 's' };
    const reuse = { key: 'a'.repeat(64), tree: 'b'.repeat(40), from };
    const told = (changes: Partial<Report>) => envelope(sampleReport(changes), same);
    expect(told({ leg: 'api', vote: '2', reuse })).toMatchObject({ leg: 'api', vote: '2', reuse });
    expect(told({ reuse: { ...reuse, from: null } })['reuse']).toEqual({ ...reuse, from: null });
    expect(told({})).not.toHaveProperty('merged');
  });

  it('tells what a merge counted, decided or not, in snake_case and its sentences masked', () => {
    const votes = [sampleVote('pass', { vote: '1' }), sampleVote('abstain', { why: 'No sk-1.' })];
    const merged = sampleMerged({ votes: 'all of 2', legs: [sampleLeg('api', 'abstain', votes)] });
    const told = envelope(sampleMergedReport(merged), (text) => text.replace('sk-1', '***'));
    expect(told).toMatchObject({ reason: 'undecided', gate: null });
    expect(told['merged']).toEqual({
      rule: 'all',
      votes: 'all of 2',
      tally: { pass: 0, fail: 0, abstain: 1, expected: 1 },
      legs: [
        {
          leg: 'api',
          passed: null,
          conclusion: 'inconclusive',
          reason: 'undecided',
          weight: 1,
          num_turns: 2,
          total_cost_usd: 0.02,
          url: 'https://github.com/octo/demo/actions/runs/42/attempts/1',
          votes: [
            {
              vote: '1',
              passed: true,
              conclusion: 'success',
              reason: 'accepted',
              why: null,
              num_turns: 2,
              usage: {
                input_tokens: 3000,
                output_tokens: 210,
                cached_input_tokens: 1200,
                cache_write_tokens: 0,
              },
              total_cost_usd: 0.02,
              model: 'claude-sonnet-4-5',
              reused: false,
              evidence: null,
              attempt: 1,
              url: 'https://github.com/octo/demo/actions/runs/42/attempts/1',
            },
            {
              vote: null,
              passed: null,
              conclusion: 'missing',
              reason: 'missing',
              why: 'No ***.',
              num_turns: 0,
              usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0 },
              total_cost_usd: 0,
              model: '',
              reused: false,
              evidence: null,
              attempt: null,
              url: null,
            },
          ],
        },
      ],
    });
    expect(envelope(sampleMergedReport(), same)).toHaveProperty('merged.tally.pass', 9);
  });

  it('writes half of a surrogate pair as U+FFFD wherever a text was cut, and nothing of the payload', () => {
    const issues = [{ path: '/\ud83d', keyword: 'const', message: 'must be \ud83d' }];
    const told = envelope(
      sampleReport({
        gate: { status: 'met', issues },
        repaired: { kind: 'parsed', paths: ['/\udc00'] },
        model: 'm\ud800',
        leg: '\ud83d\ude00\ud83d',
      }),
      same,
    );
    expect(told).toMatchObject({
      gate: { issues: [{ path: '/\ufffd', message: 'must be \ufffd' }] },
      repaired: { paths: ['/\ufffd'] },
      model: 'm\ufffd',
      leg: '\ud83d\ude00\ufffd',
      structured_output: sampleReport().payload,
    });
    const failed = envelope(sampleReport(unpublished('cut \ud83d')), same);
    expect([failed['error'], failed['result']]).toEqual(['cut \ufffd', 'cut \ufffd']);
  });
});
