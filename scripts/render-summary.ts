/**
 * Shows job summaries and comments as GitHub would, to be looked at: `node scripts/render-summary.ts OUTDIR [SUMMARY.md …]`.
 *
 * Writes a page for each sample of `scripts/summary-samples.ts`, or for each Markdown file that is named: light with its
 * folds closed, dark with its folds open. Where Chromium is installed (CHROMIUM names it, `chromium` unless given) a
 * picture of each page as well. `node scripts/render-summary.ts --images` makes the pictures of the README instead.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { render } from '../__tests__/support/texts/gfm.ts';
import { samples } from './summary-samples.ts';

const WIDTH = 1840;
const IMAGES = path.join(import.meta.dirname, '..', 'docs', 'images');
/** The samples that README and docs show, by the names of their pictures. */
const SHOWN = { summary: 'gate-not-met', comment: 'comment-security-gate', merge: 'merge-undecided' };
const style = readFileSync(path.join(import.meta.dirname, 'github-markdown.css'), 'utf8');

function page(markdown: string): string {
  const html = alerts(render(markdown));
  return document(column('light', html) + column('dark', html.replaceAll('<details>', '<details open>')));
}

/** One column. */
function imagePage(markdown: string): string {
  return document(`<style>body { display: block }</style>${column('light', alerts(render(markdown)))}`);
}

function column(theme: string, body: string): string {
  return `<div class="theme ${theme}"><div class="markdown-body">${body}</div></div>`;
}

function document(body: string): string {
  return (
    `<!doctype html><meta charset="utf-8"><style>${style}</style>${body}` +
    '<script>document.body.dataset.height = document.documentElement.scrollHeight</script>'
  );
}

/** GitHub's own addition to block quotes, which the Markdown library does not know. */
function alerts(html: string): string {
  return html.replace(
    /<blockquote>\s*<p>\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\n([\s\S]*?)<\/blockquote>/g,
    (_, kind: string, rest: string) =>
      `<div class="alert ${kind.toLowerCase()}"><p class="kind">${kind[0]}${kind.slice(1).toLowerCase()}</p><p>${rest}</div>`,
  );
}

function chromium(profile: string, args: readonly string[]): string {
  const quiet = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
    `--user-data-dir=${profile}`,
  ];
  const program = process.env['CHROMIUM'] ?? 'chromium';
  return execFileSync(program, [...quiet, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

function photograph(file: string, profile: string, width = WIDTH): void {
  const url = pathToFileURL(file).href;
  const [, height = '1200'] =
    /data-height="(\d+)"/.exec(chromium(profile, [`--window-size=${width},200`, '--dump-dom', url])) ?? [];
  const picture = file.replace(/\.html$/, '.png');
  chromium(profile, [
    `--window-size=${width},${Math.min(Number(height), 8_000)}`,
    `--screenshot=${picture}`,
    url,
  ]);
}

function makeImages(profile: string): void {
  mkdirSync(IMAGES, { recursive: true });
  const all = samples();
  for (const [name, sample] of Object.entries(SHOWN)) {
    const file = path.join(IMAGES, `${name}.html`);
    writeFileSync(file, imagePage(all[sample] ?? ''));
    photograph(file, profile, WIDTH / 2);
    rmSync(file);
  }
}

function main([folder, ...files]: readonly string[]): void {
  if (folder === undefined) throw new Error('Usage: node scripts/render-summary.ts OUTDIR [SUMMARY.md …]');
  const profile = mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  try {
    if (folder === '--images') makeImages(profile);
    else makePages(folder, files, profile);
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}

function makePages(folder: string, files: readonly string[], profile: string): void {
  mkdirSync(folder, { recursive: true });
  const named = files.map((file) => [path.parse(file).name, readFileSync(file, 'utf8')] as const);
  for (const [name, markdown] of named.length === 0 ? Object.entries(samples()) : named) {
    const file = path.resolve(folder, `${name}.html`);
    writeFileSync(file.replace(/html$/, 'md'), markdown);
    writeFileSync(file, page(markdown));
    try {
      photograph(file, profile);
    } catch (error) {
      process.stderr.write(`No picture of ${name}: ${String(error)}\n`);
    }
    process.stdout.write(`${file}\n`);
  }
}

main(process.argv.slice(2));
