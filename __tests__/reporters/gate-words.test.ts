import { describe, expect, it } from 'vitest';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { gateParagraph, gateReasons } from '../../src/reporters/verdict-text.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleReport } from './sample-report.ts';

const secrets = createSecrets();
secrets.add('sk-canary_0123');
const sanitizer = createMarkdownSanitizer(secrets);
const judged = (reason: Report['verdict']['reason'], words?: readonly string[]) => ({
  verdict: { ...sampleReport().verdict, reason },
  gate: { status: 'not_met', issues: [], ...(words === undefined ? {} : { words }) } as const,
});

describe('the words of a gate', () => {
  it('are a list where several things are wanted, and nothing where the sentence says it all', () => {
    expect(
      gateReasons(judged('gate_not_met', ['wants `a` to be 1', 'wants `b` to be 2']), sanitizer),
    ).toEqual([
      'The gate is not met:',
      '',
      '- It wants <code>a</code> to be 1.',
      '- It wants <code>b</code> to be 2.',
    ]);
    expect(gateReasons(judged('gate_not_met', ['wants `a` to be 1']), sanitizer)).toEqual([]);
    expect(gateReasons(judged('gate_not_met'), sanitizer)).toEqual([]);
    expect(gateReasons(judged('accepted', ['a', 'b']), sanitizer)).toEqual([]);
  });

  it('are a paragraph of their own where the verdict is about something else', () => {
    const words = ['wants `passed` to be true; the payload agrees'];
    expect(gateParagraph(judged('accepted', words), sanitizer)).toBe(
      'The gate wants <code>passed</code> to be true; the payload agrees.\n\n',
    );
    expect(gateParagraph(judged('cancelled', words), sanitizer)).toContain('The gate wants');
    expect(gateParagraph(judged('gate_not_met', words), sanitizer)).toBe('');
    expect(gateParagraph(judged('accepted', []), sanitizer)).toBe('');
    expect(gateParagraph({ ...judged('accepted'), gate: null }, sanitizer)).toBe('');
  });

  it('are inert, and hold no secret', () => {
    const words = ['wants `<b>` @octocat sk-canary_0123\n::error::x', 'wants [a](http://b)'];
    const text = gateReasons(judged('gate_not_met', words), sanitizer).join('\n');
    for (const sign of ['<b>', '@octocat', 'sk-canary', '[a]', 'http://b', '\n::'])
      expect(text).not.toContain(sign);
  });
});
