/**
 * Shows report pages to be looked at: `node scripts/render-report.ts OUTDIR [TRANSCRIPT.jsonl …]`.
 *
 * Writes a page for each sample of `scripts/report-samples.ts`, or for each transcript that is named, and a picture of it
 * light and dark, 1280 and 400 pixels wide. Needs Chromium (CHROMIUM names it).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, type Tab } from '../__tests__/support/browser.ts';
import { runReport } from '../src/commands/report/report.ts';
import { reportSamples } from './report-samples.ts';

const io = {
  cwd: process.cwd(),
  stdout: (text: string) => process.stdout.write(text),
  stderr: (text: string) => process.stderr.write(text),
};
const MAX_HEIGHT = 1_600;

/** A picture of the page that is open, as PNG. */
async function photograph(tab: Tab, theme: 'light' | 'dark', width: number): Promise<Buffer> {
  await tab.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: theme }],
  });
  const size = { width, deviceScaleFactor: 1, mobile: false };
  await tab.send('Emulation.setDeviceMetricsOverride', { ...size, height: 800 });
  const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
  await tab.send('Emulation.setDeviceMetricsOverride', { ...size, height: Math.min(height, MAX_HEIGHT) });
  // Until what fades has faded, and what came into sight is drawn.
  await tab.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(true)), 300))');
  const { data } = await tab.send('Page.captureScreenshot', { format: 'png' });
  return Buffer.from(String(data), 'base64');
}

async function main([folder, ...files]: readonly string[]): Promise<void> {
  if (folder === undefined)
    throw new Error('Usage: node scripts/render-report.ts OUTDIR [TRANSCRIPT.jsonl …]');
  mkdirSync(folder, { recursive: true });
  const pages: string[] = [];
  const make = async (name: string, argv: readonly string[]) => {
    const page = path.resolve(folder, `${name}.html`);
    if ((await runReport([...argv, '-o', page], io)) === 0) pages.push(page);
  };
  for (const file of files) await make(path.parse(file).name, [file]);
  for (const [name, { lines, envelope }] of files.length > 0 ? [] : Object.entries(reportSamples())) {
    const base = path.resolve(folder, name);
    writeFileSync(`${base}.jsonl`, `${lines.join('\n')}\n`);
    writeFileSync(`${base}.json`, JSON.stringify(envelope));
    await make(name, [`${base}.jsonl`, ...(envelope === null ? [] : ['--result', `${base}.json`])]);
  }
  const browser = await openBrowser();
  try {
    for (const page of pages) {
      await browser.tab.open(pathToFileURL(page).href);
      // One call of each kind stands open, to be seen.
      await browser.tab.evaluate(
        "for (const kind of ['ok', 'rejected']) [...document.querySelectorAll('.tag.' + kind)].at(-1)?.closest('details').setAttribute('open', '')",
      );
      for (const theme of ['light', 'dark'] as const) {
        for (const width of [1280, 400]) {
          writeFileSync(
            page.replace(/html$/, `${theme}-${width}.png`),
            await photograph(browser.tab, theme, width),
          );
        }
      }
      process.stdout.write(`${page}\n`);
    }
    for (const line of browser.tab.heard) process.stdout.write(`${line}\n`);
  } finally {
    await browser.close();
  }
}

await main(process.argv.slice(2));
