/**
 * Shows what people are shown, to be looked at: `node scripts/render.ts summaries|reports|images [OUTDIR] [FILE …]`.
 *
 * `summaries` writes job summaries and comments as GitHub would show them, a page for each report of
 * `__tests__/reporters/sample-reports.ts`, or for each Markdown file that is named: light with its folds closed, dark with
 * its folds open. `reports` writes report pages, one for each sample of `scripts/report-samples.ts`, or for each
 * transcript that is named: light and dark, 1280 and 400 pixels wide. `images` makes the pictures of the documents.
 * The pictures need Chromium (CHROMIUM names it).
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderSample, sampleReports } from '../__tests__/reporters/sample-reports.ts';
import { openBrowser, type Tab } from '../__tests__/support/browser.ts';
import { render } from '../__tests__/support/texts/gfm.ts';
import { runReport } from '../src/commands/report/report.ts';
import { reportSamples } from './report-samples.ts';

const WIDTH = 1840;
const IMAGES = path.join(import.meta.dirname, '..', 'docs', 'images');
/** The samples that the documents show, by the names of their pictures. */
const SHOWN = [
  ['summary', 'gate-not-met', 'summary'],
  ['comment', 'gate-not-met', 'comment'],
  ['merge', 'merge-undecided', 'summary'],
] as const;
const style = readFileSync(path.join(import.meta.dirname, 'github-markdown.css'), 'utf8');

/** How a page is photographed: where the picture goes, how wide it is, how much of the page it shows. */
interface Shot {
  readonly picture: string;
  readonly width: number;
  readonly maxHeight: number;
  readonly theme: 'light' | 'dark';
}

async function photograph(tab: Tab, { picture, width, maxHeight, theme }: Shot): Promise<void> {
  await tab.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: theme }],
  });
  const size = { width, deviceScaleFactor: 1, mobile: false };
  await tab.send('Emulation.setDeviceMetricsOverride', { ...size, height: 800 });
  const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
  await tab.send('Emulation.setDeviceMetricsOverride', { ...size, height: Math.min(height, maxHeight) });
  // Until what fades has faded, and what came into sight is drawn.
  await tab.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), 300))');
  const { data } = await tab.send('Page.captureScreenshot', { format: 'png' });
  writeFileSync(picture, Buffer.from(String(data), 'base64'));
}

/** Markdown as a page, once for each theme. */
function markdownPage(markdown: string, themes: readonly ('light' | 'dark')[]): string {
  const html = alerts(render(markdown));
  const columns = themes.map((theme) => {
    const body = theme === 'dark' ? html.replaceAll('<details>', '<details open>') : html;
    return `<div class="theme ${theme}"><div class="markdown-body">${body}</div></div>`;
  });
  const single = themes.length === 1 ? '<style>body { display: block }</style>' : '';
  return `<!doctype html><meta charset="utf-8"><style>${style}</style>${single}${columns.join('')}`;
}

/** GitHub's own addition to block quotes, which the Markdown library does not know. */
function alerts(html: string): string {
  return html.replace(
    /<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\n([\s\S]*?)<\/blockquote>/g,
    (_, kind: string, rest: string) =>
      `<div class="alert ${kind.toLowerCase()}"><p class="kind">${kind[0]}${kind.slice(1).toLowerCase()}</p><p>${rest}</div>`,
  );
}

async function renderSummaries(tab: Tab, folder: string, files: readonly string[]): Promise<void> {
  const named = files.map((file) => [path.parse(file).name, readFileSync(file, 'utf8')] as const);
  const samples = Object.entries(sampleReports).flatMap(([name, report]) => [
    [name, renderSample(report, 'summary')] as const,
    [`comment-${name}`, renderSample(report, 'comment')] as const,
  ]);
  for (const [name, markdown] of named.length === 0 ? samples : named) {
    const file = path.resolve(folder, `${name}.html`);
    writeFileSync(file.replace(/html$/, 'md'), markdown);
    writeFileSync(file, markdownPage(markdown, ['light', 'dark']));
    await tab.open(pathToFileURL(file).href);
    const picture = file.replace(/html$/, 'png');
    await photograph(tab, { picture, width: WIDTH, maxHeight: 8_000, theme: 'light' });
    process.stdout.write(`${file}\n`);
  }
}

async function renderReports(tab: Tab, folder: string, files: readonly string[]): Promise<void> {
  const stderr = (text: string) => process.stderr.write(text);
  const io = { cwd: process.cwd(), stdout: stderr, stderr };
  const runs: [name: string, argv: readonly string[]][] = files.map((file) => [
    path.parse(file).name,
    [file],
  ]);
  for (const [name, { lines, envelope }] of files.length > 0 ? [] : Object.entries(reportSamples())) {
    const base = path.resolve(folder, name);
    writeFileSync(`${base}.jsonl`, `${lines.join('\n')}\n`);
    writeFileSync(`${base}.json`, JSON.stringify(envelope));
    runs.push([name, [`${base}.jsonl`, ...(envelope === null ? [] : ['--result', `${base}.json`])]]);
  }
  for (const [name, argv] of runs) {
    const page = path.resolve(folder, `${name}.html`);
    if ((await runReport([...argv, '-o', page], io)) !== 0) continue;
    await tab.open(pathToFileURL(page).href);
    // One call of each kind stands open, to be seen.
    await tab.evaluate(
      "for (const kind of ['ok', 'rejected']) [...document.querySelectorAll('.tag.' + kind)].at(-1)?.closest('details').setAttribute('open', '')",
    );
    for (const theme of ['light', 'dark'] as const)
      for (const width of [1280, 400]) {
        const picture = page.replace(/html$/, `${theme}-${width}.png`);
        await photograph(tab, { picture, width, maxHeight: 1_600, theme });
      }
    process.stdout.write(`${page}\n`);
  }
}

async function renderImages(tab: Tab): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  for (const [name, sample, kind] of SHOWN) {
    const report = sampleReports[sample];
    if (report === undefined) throw new Error(`There is no sample ${sample}.`);
    const file = path.join(IMAGES, `${name}.html`);
    writeFileSync(file, markdownPage(renderSample(report, kind), ['light']));
    await tab.open(pathToFileURL(file).href);
    const picture = path.join(IMAGES, `${name}.png`);
    await photograph(tab, { picture, width: WIDTH / 2, maxHeight: 8_000, theme: 'light' });
    rmSync(file);
  }
}

async function main([what, folder, ...files]: readonly string[]): Promise<void> {
  const isKnown = what === 'images' || ((what === 'summaries' || what === 'reports') && folder !== undefined);
  if (!isKnown) throw new Error('Usage: node scripts/render.ts summaries|reports|images [OUTDIR] [FILE …]');
  const browser = await openBrowser();
  try {
    if (folder === undefined || what === 'images') return await renderImages(browser.tab);
    mkdirSync(folder, { recursive: true });
    await (what === 'summaries' ? renderSummaries : renderReports)(browser.tab, folder, files);
    for (const line of browser.tab.heard) process.stdout.write(`${line}\n`);
  } finally {
    await browser.close();
  }
}

await main(process.argv.slice(2));
