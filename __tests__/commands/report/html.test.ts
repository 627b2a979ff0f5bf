import { describe, expect, it } from 'vitest';
import { html, verbatim } from '../../../src/commands/report/html.ts';

describe('html', () => {
  it('escapes texts, and leaves its own work', () => {
    const inner = html`<b>${'<i>&"\''}</b>`;
    expect(html`<p title="${'"><script>'}">${inner}${[inner, inner]}${null}${3}</p>`.html).toBe(
      '<p title="&quot;&gt;&lt;script&gt;"><b>&lt;i&gt;&amp;&quot;&#39;</b><b>&lt;i&gt;&amp;&quot;&#39;</b><b>&lt;i&gt;&amp;&quot;&#39;</b>3</p>',
    );
  });

  it('takes a text of ours as it is where that is asked for', () => {
    expect(html`<style>${verbatim('a > b {}')}</style>`.html).toBe('<style>a > b {}</style>');
  });
});
