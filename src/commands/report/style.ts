/** How the page looks. */

/** Its text; the policy of the page names its hash, so that no other style counts. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #101317);
  --card: light-dark(#ffffff, #181c22);
  --sunken: light-dark(#f1f3f6, #12161b);
  --ink: light-dark(#1b2129, #e4e8ee);
  --dim: light-dark(#59636f, #98a3b0);
  --edge: light-dark(#d5dae1, #313842);
  --accent: light-dark(#0b57d0, #8ab4ff);
  --good: light-dark(#116329, #63d182);
  --bad: light-dark(#b3151f, #ff8a86);
  --odd: light-dark(#8a4b00, #f2b45c);
  --found: light-dark(#ffe27a, #6b5200);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0 auto; padding: 0 1rem 3rem; max-width: 68rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; overflow-wrap: anywhere;
}
code, pre, .preview { font-family: var(--mono); font-size: .86em; }
h1, h2, h3, h4, p, ul, figure, dl, dd { margin: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; display: flex; gap: .6rem; align-items: center; }
h2 { font-size: 1.1rem; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; }
h4 { font-size: .8rem; color: var(--dim); font-weight: 600; margin: .75rem 0 .25rem; }
a { color: var(--accent); }
.dim { color: var(--dim); font-size: .875rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.skip { position: absolute; left: -100vw; padding: .5rem 1rem; background: var(--card); z-index: 3; }
.skip:focus { left: 1rem; top: .5rem; }
header.page { display: flex; justify-content: space-between; align-items: center; gap: 1rem; padding: 1rem 0; }
button, input[type='search'] {
  font: inherit; font-size: .875rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge);
  border-radius: .4rem; padding: .3rem .7rem;
}
button { cursor: pointer; white-space: nowrap; }
button:hover { border-color: var(--dim); }

.verdict { --tone: var(--dim); background: var(--card); border: 1px solid var(--edge); border-left: .4rem solid var(--tone); border-radius: .6rem; padding: 1.25rem; }
.verdict.success { --tone: var(--good); }
.verdict.failure { --tone: var(--bad); }
.verdict.inconclusive, .verdict.unknown { --tone: var(--odd); }
.verdict .mark {
  flex: none; display: inline-grid; place-items: center; width: 2rem; height: 2rem; border-radius: 50%;
  background: var(--tone); color: var(--card); font-size: 1.1rem;
}
.verdict p, .verdict ul { margin-top: .75rem; }
.verdict .error { white-space: pre-wrap; unicode-bidi: isolate; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .75rem 1.25rem; margin-top: 1rem; }
.facts.wide { grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); margin-top: .5rem; }
dt { color: var(--dim); font-size: .8rem; }
dd { unicode-bidi: isolate; font-variant-numeric: tabular-nums; }
.judged { margin-top: 1rem; font-size: .875rem; }
.judged summary { cursor: pointer; color: var(--dim); }
.remarks { margin-top: 1rem; padding: .75rem 1rem; border: 1px solid var(--odd); border-radius: .6rem; font-size: .875rem; }
.remarks ul { padding-left: 1.1rem; }

.found h3 { margin: 1.25rem 0 .5rem; }
.found p { margin-top: .5rem; }
.values { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: .25rem 1rem; }
.values div { display: grid; grid-template-columns: minmax(6rem, 12rem) 1fr; gap: 1rem; padding: .45rem 0; }
.values div + div { border-top: 1px solid var(--edge); }
.values dt { font-size: .875rem; unicode-bidi: isolate; }
.values dd, td { white-space: pre-wrap; unicode-bidi: isolate; }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--edge); font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .75rem; border-top: 1px solid var(--edge); }
th { color: var(--dim); font-size: .8rem; font-weight: 600; white-space: nowrap; }
td .tag { white-space: nowrap; }

.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
figure { background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; padding: .9rem 1rem; }
figure svg { display: block; width: 100%; height: 7rem; margin: .6rem 0 .4rem; border-bottom: 1px solid var(--edge); }
svg .fresh { fill: light-dark(#3f7ae0, #6f9ff5); }
svg .cached { fill: light-dark(#b9cdf3, #34507f); }
svg .output { fill: light-dark(#d97706, #f2a94b); }
svg .area { fill: light-dark(#dfe9fb, #22314b); }
svg .line { fill: none; stroke: light-dark(#3f7ae0, #6f9ff5); stroke-width: 2; vector-effect: non-scaling-stroke; }
.key { color: var(--dim); font-size: .8rem; }
.key span { display: inline-block; width: .7em; height: .7em; border-radius: 2px; margin-left: .5em; }
.key span:first-child { margin-left: 0; }
.key .fresh { background: light-dark(#3f7ae0, #6f9ff5); }
.key .cached { background: light-dark(#b9cdf3, #34507f); }
.key .output { background: light-dark(#d97706, #f2a94b); }

.tools {
  position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem;
  margin: 2rem -1rem 0; padding: .6rem 1rem; background: var(--ground); border-bottom: 1px solid var(--edge); font-size: .875rem;
}
.tools input[type='search'] { flex: 1 1 12rem; min-width: 0; }
.tools .keys { flex-basis: 100%; }
.tools .keys label { margin-right: .4rem; }
.tools label { display: inline-flex; gap: .35rem; align-items: center; }
kbd { font: inherit; font-size: .8rem; border: 1px solid var(--edge); border-radius: .25rem; padding: 0 .3rem; background: var(--card); }
::highlight(found) { background: var(--found); color: var(--ink); }

.story h2 { scroll-margin-top: 7rem; }
.turn { content-visibility: auto; contain-intrinsic-size: auto 12rem; padding: .25rem 0 1rem; scroll-margin-top: 7rem; }
.turn > header { display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; padding: .5rem 0; }
.turn h3 { scroll-margin-top: 7rem; }
.turn h3 a { color: inherit; text-decoration: none; }
.turn h3 a:hover { text-decoration: underline; }
.row {
  background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; margin-top: .4rem; scroll-margin: 7rem 0 2rem;
}
.many > .row { content-visibility: auto; contain-intrinsic-size: auto 2.6rem; }
.row.note { padding: .5rem .75rem; }
.row.note:focus { outline: 3px solid var(--accent); outline-offset: -3px; }
.row summary { display: flex; gap: .6rem; align-items: baseline; padding: .5rem .75rem; cursor: pointer; list-style: none; border-radius: .5rem; }
.row summary::-webkit-details-marker { display: none; }
.row summary::before { content: '▸'; color: var(--dim); width: .8em; flex: none; }
.row[open] > summary::before { content: '▾'; }
.row summary:hover { background: var(--sunken); }
.row summary:focus-visible { outline-offset: -3px; }
.row .name { flex: none; max-width: 40%; unicode-bidi: isolate; }
.row .target { flex: 1 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; color: var(--dim); }
.row[open] > summary .preview { display: none; }
.row .time { flex: none; font-variant-numeric: tabular-nums; }
.row .body { padding: 0 .75rem .75rem; }
.note .text { white-space: pre-wrap; unicode-bidi: isolate; }
pre { margin: 0; padding: .6rem .75rem; background: var(--sunken); border-radius: .4rem; white-space: pre-wrap; unicode-bidi: isolate; tab-size: 4; }
.argument { margin-top: .4rem; }
.argument .key { display: block; margin-bottom: .15rem; unicode-bidi: isolate; }
.tag { --tone: var(--dim); flex: none; color: var(--tone); border: 1px solid currentColor; border-radius: 1rem; padding: 0 .55rem; font-size: .75rem; line-height: 1.5; }
.tag.ok, .tag.accepted { --tone: var(--good); }
.tag.error, .tag.rejected { --tone: var(--bad); }
.tag.warning, .tag.open { --tone: var(--odd); }
.tag.accepted, .tag.rejected { font-weight: 600; }
#nothing { padding: 2rem 0; text-align: center; color: var(--dim); }
footer { margin-top: 2.5rem; border-top: 1px solid var(--edge); padding-top: 1rem; }

@media (max-width: 40rem) {
  body { padding: 0 .75rem 2rem; }
  .verdict { padding: 1rem; }
  h1 { font-size: 1.25rem; }
  .tools { margin-inline: -.75rem; padding-inline: .75rem; }
  .tools .keys { display: none; }
  .values div { grid-template-columns: 1fr; gap: 0; }
  thead { position: absolute; left: -100vw; }
  tr, td { display: block; }
  tbody tr { padding: .35rem 0; }
  tbody tr + tr { border-top: 1px solid var(--edge); }
  td { border: 0; padding: .15rem .75rem; }
  td:empty { display: none; }
  td::before { content: attr(data-name) ' '; color: var(--dim); font-size: .8rem; }
  .row summary { flex-wrap: wrap; gap: .2rem .5rem; }
  .row .name { max-width: none; }
  .row .time { margin-left: auto; }
  .row .target { order: 5; flex-basis: 100%; padding-left: 1.3em; }
  .row .target:empty { display: none; }
}
@media (prefers-reduced-motion: no-preference) {
  .row summary, button { transition: background .12s, border-color .12s; }
}
@media (forced-colors: active) {
  svg .fresh, svg .output { fill: CanvasText; }
}
@media print {
  body { max-width: none; background: none; font-size: 10pt; }
  .tools, .skip, #theme { display: none !important; }
  .turn, .row { content-visibility: visible; }
  .row summary { break-after: avoid; }
  .row .target { white-space: normal; }
}
`;
