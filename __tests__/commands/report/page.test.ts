import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportSamples } from '../../../scripts/report-samples.ts';
import { runReport } from '../../../src/commands/report/report.ts';
import { type Browser, openBrowser } from '../../support/browser.ts';
import { makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Makes the page of a transcript and opens it; gives its text. */
async function show(lines: readonly string[], result: object | null = null): Promise<string> {
  const io = { cwd: folder, stdout: () => {}, stderr: (text: string) => process.stderr.write(text) };
  writeFileSync(path.join(folder, 't.jsonl'), `${lines.join('\n')}\n`);
  writeFileSync(path.join(folder, 'r.json'), JSON.stringify(result));
  const more = result === null ? [] : ['--result', 'r.json'];
  expect(await runReport(['t.jsonl', '-o', 'p.html', ...more], io)).toBe(0);
  const file = path.join(folder, 'p.html');
  await browser.tab.open(pathToFileURL(file).href);
  return readFileSync(file, 'utf8');
}

const sample = (name: string) => {
  const found = reportSamples()[name];
  if (found === undefined) throw new Error(`There is no sample ${name}.`);
  return found;
};
const see = (expression: string) => browser.tab.evaluate(expression);
/** The number of visible rows. */
const rows = () =>
  see("[...document.querySelectorAll('[data-row]')].filter((row) => row.checkVisibility()).length");
const focused = () =>
  see(
    "document.activeElement.closest('[data-row]')?.textContent.replace(/\\s+/g, ' ').trim().slice(0, 40) ?? document.activeElement.id",
  );
/** Waits until the page has handled delayed events. */
const settle = () =>
  see('new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), 200))');
const type = async (text: string) => {
  for (const key of text) await browser.tab.press(key);
  await settle();
};

const TRAPS = [
  '<script>document.title = "CANARY"; console.log("CANARY")</script>',
  '</script><script>document.title = "CANARY"</script>',
  '</style><style>body { display: none }</style><link rel="stylesheet" href="https://canary.invalid/x.css">',
  '<img src=x onerror="document.title = \'CANARY\'">',
  '" onmouseover="document.title = \'CANARY\'" autofocus onfocus="document.title = \'CANARY\'" x="',
  '<a href="javascript:document.title=\'CANARY\'">click</a>',
  '</pre></details></title></textarea><iframe src="https://canary.invalid/"></iframe><svg onload=alert(1)>',
  '<!--',
  '-->',
  ']]>',
  '<meta http-equiv="refresh" content="0;url=https://canary.invalid/">',
  '<base href="https://canary.invalid/">',
  '<form action="https://canary.invalid/"><input name=x>',
  ['$', '{document.title}'].join(''),
  '{{constructor.constructor("document.title=1")()}}',
  '\x1b]8;;https://canary.invalid\x07x\x1b]8;;\x07',
  '\u202ereversed',
  'nul\0byte',
  '\ud800',
  '&lt;script&gt;',
  '<template><script>1</script></template>',
  '\u2028',
];
const TRAP = TRAPS.join('\n');

/** A transcript with hostile text in every field. */
function hostile(): readonly string[] {
  const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 0, cache_write_tokens: 0 };
  const totals = { turns: 1, usage, cost_usd: 0.1 };
  const call = { id: TRAP, name: TRAP, target: TRAP };
  const raw_arguments = JSON.stringify({ [TRAP]: TRAP, list: [TRAP] });
  const message = {
    text: TRAP,
    tool_calls: [
      { id: TRAP, name: TRAP, raw_arguments, status: 'complete' },
      { id: 'b', name: TRAP, raw_arguments: TRAP, status: 'malformed' },
    ],
  };
  const entries = [
    { type: 'run_started', model: TRAP, provider: TRAP, prompt: TRAP },
    { type: 'notice', level: 'warning', text: TRAP },
    { type: 'turn_started', turn: 1, forced: true },
    { type: 'turn_completed', turn: 1, usage, totals, stop_reason: TRAP, message },
    {
      type: 'tool_finished',
      turn: 1,
      call,
      decision: TRAP,
      duration_ms: 1,
      result: { content: TRAP },
      totals,
    },
    { type: 'user_message', text: TRAP },
    ...TRAPS.map((text) => ({ type: 'user_message', text })),
    { type: 'run_finished', conclusion: TRAP, reason: TRAP, exit_code: 1, turn_count: 1 },
  ];
  return entries.map((entry) => JSON.stringify(entry));
}

/** An envelope with hostile text in every string except its type and conclusion. */
const envelope = {
  type: 'result',
  conclusion: 'inconclusive',
  reason: TRAP,
  error: TRAP,
  model: TRAP,
  provider: TRAP,
  sandbox: TRAP,
  gate: { status: TRAP, issues: [{ path: TRAP, keyword: TRAP, message: TRAP }] },
  subject: { repository: TRAP, sha: TRAP, ref: TRAP, event: TRAP, run_id: TRAP },
  judge: { schema_sha256: TRAP, version: TRAP },
};

describe('the page in a browser', () => {
  it('runs nothing, loads nothing and stays intact with a hostile transcript', async () => {
    const heard = browser.tab.heard.length;
    const payload = {
      [TRAP]: TRAP,
      findings: TRAPS.map((text) => ({ severity: 'error', path: text, [text]: text })),
    };
    const words = [TRAP, ...TRAPS.map((text) => `wants \`${text}\``)];
    const result = { ...envelope, conclusion: TRAP, reason: TRAP, num_turns: 1, structured_output: payload };
    const page = await show(hostile(), { ...result, gate: { status: 'not_met', issues: [], words } });
    expect(await see("document.querySelector('.found tbody').rows.length")).toBe(TRAPS.length);
    await see("for (const each of document.querySelectorAll('details')) each.open = true");
    await see(
      "for (const each of document.querySelectorAll('*')) each.dispatchEvent(new MouseEvent('mouseover'))",
    );
    await settle();
    expect(browser.tab.heard.slice(heard)).toEqual([]);
    expect(await see('document.title')).not.toMatch(/^CANARY/);
    expect(
      await see(
        "[...new Set([...document.querySelectorAll('*')].map((each) => each.localName))].filter((name) => /^(?:img|iframe|link|base|object|embed|template)$/.test(name))",
      ),
    ).toEqual([]);
    expect(
      await see(
        "[document.scripts.length, document.querySelectorAll('style').length, document.forms.length]",
      ),
    ).toEqual([1, 1, 1]);
    const attributes = "[...document.querySelectorAll('*')].flatMap((each) => [...each.attributes])";
    expect(
      await see(`${attributes}.filter(({ name }) => name.startsWith('on') || name === 'style').length`),
    ).toBe(0);
    expect(
      await see(
        `${attributes}.filter(({ name, value }) => /^(?:href|src|action)$/.test(name) && !/^#\\w+$/.test(value)).length`,
      ),
    ).toBe(0);
    expect(page).not.toMatch(/[\0\x1b\u202e]/);
    // All of it can be read.
    const text = String(await see("document.querySelector('main').textContent"));
    for (const trap of TRAPS.slice(0, 8)) expect(text).toContain(trap);
  });

  it('reports anything that runs or loads, so that the previous test is meaningful', async () => {
    const heard = browser.tab.heard.length;
    await show(sample('review').lines);
    await see(
      "document.body.append(Object.assign(document.createElement('img'), { src: 'https://canary.invalid/x.png' }))",
    );
    await see(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = 1' }))",
    );
    await see("document.body.setAttribute('style', 'color: red')");
    await settle();
    const violations = browser.tab.heard.slice(heard).join('\n');
    for (const rule of ['img-src', 'script-src', 'style-src']) expect(violations).toContain(rule);
    expect(await see('document.title')).toContain('structured-agent');
  });

  it('has one main, one first heading, headings without gaps, and a name for every control', async () => {
    await show(sample('review').lines, sample('review').envelope);
    expect(
      await see(
        "['main', 'h1', 'header.page', 'footer', '[role=search]'].map((each) => document.querySelectorAll(each).length)",
      ),
    ).toEqual([1, 1, 1, 1, 1]);
    const levels = await see(
      "[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.localName[1]))",
    );
    const list = Array.isArray(levels) ? levels.map(Number) : [];
    expect(list[0]).toBe(1);
    for (const [at, level] of list.entries()) expect(level - (list[at - 1] ?? 0)).toBeLessThanOrEqual(1);
    const { nodes } = await browser.tab.send('Accessibility.getFullAXTree');
    const nameless = (Array.isArray(nodes) ? nodes : []).filter(
      (node) =>
        /^(?:button|searchbox|checkbox|link|img|DisclosureTriangle)$/.test(String(node.role?.value)) &&
        !node.ignored &&
        !node.name?.value,
    );
    expect(nameless).toEqual([]);
    expect(
      await see(
        "document.querySelectorAll('[id]').length === new Set([...document.querySelectorAll('[id]')].map((each) => each.id)).size",
      ),
    ).toBe(true);
  });

  it('searches collapsed text while typing, shows the count, and clears', async () => {
    await show(sample('review').lines);
    const all = await rows();
    await browser.tab.press('/');
    expect(await focused()).toBe('search');
    await type('assertionerror NPM');
    expect([await rows(), await see("document.getElementById('count').value")]).toEqual([
      1,
      `1 of ${all} shown`,
    ]);
    expect(
      await see("[...document.querySelectorAll('.turn')].filter((each) => each.checkVisibility()).length"),
    ).toBe(1);
    await type('/jk nothing');
    expect(await see("document.getElementById('search').value")).toBe('assertionerror NPM/jk nothing');
    expect([await rows(), await see("document.getElementById('nothing').checkVisibility()")]).toEqual([
      0,
      true,
    ]);
    await browser.tab.press('Escape');
    expect([await rows(), await see("document.getElementById('search').value")]).toEqual([all, '']);
  });

  it('shows only problems when the filter is on', async () => {
    await show(sample('review').lines);
    await see("document.getElementById('problems').click()");
    const tags =
      "[...document.querySelectorAll('[data-row]')].filter((row) => row.checkVisibility()).map((row) => row.querySelector('.tag').textContent)";
    expect(await see(tags)).toEqual(['Warning', 'error', 'rejected']);
  });

  it('supports keyboard navigation: j, k, arrows, Enter', async () => {
    await show(sample('review').lines);
    await see("document.getElementById('story').focus()");
    await browser.tab.press('j');
    expect(await focused()).toMatch(/^The task/);
    for (const key of ['j', 'ArrowDown', 'j', 'k', 'j']) await browser.tab.press(key);
    expect(await focused()).toMatch(/^ok shell git diff/);
    const open = 'document.activeElement.parentElement.open';
    expect(await see(open)).toBe(false);
    await browser.tab.press('Enter');
    expect(await see(open)).toBe(true);
    expect(await see('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    for (let n = 0; n < 50; n += 1) await browser.tab.press('j');
    expect(await focused()).toMatch(/^accepted structured_output/);
    for (let n = 0; n < 50; n += 1) await browser.tab.press('k');
    expect(await focused()).toMatch(/^The task/);
  });

  it('ignores single-letter shortcuts when they are turned off', async () => {
    await show(sample('review').lines);
    await see("document.getElementById('letters').click()");
    await see("document.getElementById('story').focus()");
    for (const key of ['j', '/', 'k']) await browser.tab.press(key);
    expect(await focused()).toBe('story');
  });

  it('has a skip link to the events as the first tab stop', async () => {
    await show(sample('review').lines);
    await browser.tab.press('Tab');
    expect(await see('document.activeElement.className')).toBe('skip');
    expect(await see('document.activeElement.getBoundingClientRect().left >= 0')).toBe(true);
    await browser.tab.press('Enter');
    expect(await focused()).toBe('story');
  });

  it('collapses and expands all visible rows', async () => {
    await show(sample('review').lines);
    const open = "document.querySelectorAll('details.row[open]').length";
    await see("document.getElementById('unfold').click()");
    expect(await see(`${open} === document.querySelectorAll('details.row').length`)).toBe(true);
    await see("document.getElementById('fold').click()");
    expect(await see(open)).toBe(0);
  });

  it('follows the system theme until the theme is set', async () => {
    await show(sample('review').lines);
    const ground = () => see('getComputedStyle(document.body).backgroundColor');
    const prefer = (value: string) =>
      browser.tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    await prefer('light');
    const light = await ground();
    await prefer('dark');
    const dark = await ground();
    expect(dark).not.toBe(light);
    await see("document.getElementById('theme').click()");
    expect([await ground(), await see("document.getElementById('theme').textContent")]).toEqual([
      light,
      'Theme: light',
    ]);
    await see("document.getElementById('theme').click()");
    await prefer('light');
    expect(await ground()).toBe(dark);
  });

  it.each(['light', 'dark'])('has sufficient contrast everywhere (%s)', async (value) => {
    await show(sample('review').lines, sample('review').envelope);
    await browser.tab.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value }],
    });
    await see("document.getElementById('unfold').click()");
    await settle();
    expect(await see(CONTRAST)).toEqual([]);
  });

  it.each([320, 400, 1280])('does not scroll horizontally at %d pixels', async (width) => {
    const screen = { width, height: 800, deviceScaleFactor: 1, mobile: false };
    await browser.tab.send('Emulation.setDeviceMetricsOverride', screen);
    await show([...hostile(), JSON.stringify({ type: 'user_message', text: 'x'.repeat(5_000) })], envelope);
    await see("document.getElementById('unfold').click()");
    expect(await see('document.documentElement.scrollWidth')).toBe(width);
    await browser.tab.send('Emulation.clearDeviceMetricsOverride');
  });

  it('handles ten thousand events: renders what is visible, and searches all', async () => {
    const { lines } = sample('long');
    expect(lines.length).toBeGreaterThan(10_000);
    await show(lines);
    expect(await see("document.querySelectorAll('.turn').length")).toBe(2_501);
    const drawn =
      "[...document.querySelectorAll('.row')].filter((row) => row.checkVisibility({ contentVisibilityAuto: true })).length";
    expect(Number(await see(drawn))).toBeLessThan(300);
    await browser.tab.press('/');
    await type('module-2499-1');
    expect(await rows()).toBe(1);
  });

  it('says what is missing when a run was cut off', async () => {
    await show(sample('cut').lines);
    expect(await see("document.querySelector('h1').innerText")).toContain(
      'No verdict: the transcript has no end',
    );
    expect(await see("document.querySelector('.remarks').innerText")).toContain('the verdict is not in it');
  });

  it('prints without the controls', async () => {
    await show(sample('review').lines);
    await browser.tab.send('Emulation.setEmulatedMedia', { media: 'print' });
    expect(
      await see(
        "['#tools', '#theme', '.skip', '#verdict'].map((each) => document.querySelector(each).checkVisibility())",
      ),
    ).toEqual([false, false, false, true]);
    const { data } = await browser.tab.send('Page.printToPDF');
    expect(String(data).length).toBeGreaterThan(1_000);
    await browser.tab.send('Emulation.setEmulatedMedia', { media: '' });
  });
});

/** Texts whose contrast with their background is below 4.5 (WCAG 2.2, 1.4.3). */
const CONTRAST = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const under = (each) => { for (let at = each; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
  const low = new Set();
  for (const each of document.querySelectorAll('body *')) {
    if (!each.checkVisibility() || ![...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')) continue;
    const [a, b] = [light(rgb(getComputedStyle(each).color)), light(under(each))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(each.localName + '.' + each.className + ' ' + ratio.toFixed(2));
  }
  return [...low];
})()`;
