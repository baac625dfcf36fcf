import { darkColours, lightColours, pageStyle } from '../page-style.js';

/** The style of a site's pages: that of the single page, with navigation, controls, print and the reader's own choice of colours. */
export const siteStyle = `${pageStyle}
:root[data-theme="light"] { color-scheme: light; ${lightColours} }
:root[data-theme="dark"] { color-scheme: dark; ${darkColours} }
html { scroll-padding-top: 70px; }
a { color: var(--mark); text-underline-offset: 2px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.skip { position: absolute; left: 12px; top: -60px; background: var(--mark); color: var(--back); padding: 8px 14px; border-radius: 0 0 8px 8px; z-index: 20; }
.skip:focus { top: 0; }
.bar { border-bottom: 1px solid var(--line); background: var(--back); position: sticky; top: 0; z-index: 10; }
.bar-in, .foot-in { max-width: 1280px; margin: 0 auto; padding: 0 20px; }
.bar-in { display: grid; grid-template-columns: minmax(0, max-content) 1fr auto; align-items: center; gap: 4px 24px; }
.bar nav { grid-column: 2; grid-row: 1; min-width: 0; }
.bar ul { display: flex; flex-wrap: wrap; gap: 0 2px; list-style: none; margin: 0; padding: 0; overflow-x: auto; scrollbar-width: none; }
.bar li { margin: 0; flex: none; }
.bar nav a { display: block; padding: 15px 10px 12px; color: var(--soft); text-decoration: none; font-size: 0.9rem; border-bottom: 3px solid transparent; white-space: nowrap; }
.bar nav a:hover { color: var(--text); }
.bar nav a:focus-visible { outline-offset: -3px; }
.bar nav a[aria-current] { color: var(--text); font-weight: 600; border-bottom-color: var(--mark); }
.brand { display: flex; align-items: center; gap: 7px; color: var(--text); text-decoration: none; font-weight: 700; min-width: 0; padding: 8px 0; }
.brand .mark { color: var(--mark); flex: none; }
.brand-name { font-weight: 400; color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 22ch; }
.theme { grid-column: 3; grid-row: 1; background: none; border: 0; color: var(--soft); padding: 8px; cursor: pointer; line-height: 0; border-radius: 8px; }
.theme:hover { color: var(--text); background: var(--card); }
main { padding-top: 28px; }
h1 { font-size: 1.85rem; letter-spacing: -0.015em; text-wrap: balance; }
h2 { letter-spacing: -0.01em; overflow-wrap: anywhere; }
p, dd, dt, summary { overflow-wrap: anywhere; }
.lead { font-size: 1.05rem; color: var(--soft); max-width: 75ch; margin: 6px 0 18px; overflow-wrap: anywhere; }
.foot { border-top: 1px solid var(--line); color: var(--soft); font-size: 0.84rem; padding: 18px 0 32px; margin-top: 24px; }
.foot p { overflow-wrap: anywhere; }
.crumbs { font-size: 0.87rem; margin: 0 0 10px; overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 1px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; margin: 18px 0; }
.tile { box-shadow: 0 0 0 1px var(--line); padding: 14px 16px; min-width: 0; }
.tile dt { font-size: 0.78rem; color: var(--soft); overflow-wrap: anywhere; }
.tile dd { margin: 2px 0 0; font-size: 1.35rem; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -0.01em; overflow-wrap: anywhere; line-height: 1.3; }
.tile small { display: block; font-size: 0.78rem; font-weight: 400; color: var(--soft); letter-spacing: 0; line-height: 1.4; }
.tile small a { color: inherit; }
.tiles-of { margin: 26px 0 0; font-size: 1.02rem; }
.bars { display: flex; height: 10px; border-radius: 5px; overflow: hidden; margin: 8px 0; background: var(--line); gap: 1px; }
.bars span.valid { background: var(--good); } .bars span.flagged { background: var(--warn); } .bars span.invalid { background: var(--bad); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 8px 36px; align-items: start; }
.columns > section > h2, .columns > div > section > h2 { margin-top: 28px; }
.columns .card { margin-top: 18px; }
.plot.tall { height: 560px; }
caption { text-align: left; padding: 8px; color: var(--soft); font-size: 0.82rem; caption-side: bottom; }
.controls { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: end; margin: 14px 0 8px; }
.controls .controls { margin: 0; }
.controls label, .controls .field { display: grid; gap: 3px; font-size: 0.78rem; color: var(--soft); min-width: 0; max-width: 100%; }
.controls label.check { display: flex; align-items: center; gap: 6px; font-size: 0.87rem; color: var(--text); padding: 7px 0; }
input[type="search"], input[type="text"], select, button.plain { font: inherit; font-size: 0.9rem; color: var(--text); background: var(--back); border: 1px solid var(--edge); border-radius: 7px; padding: 6px 10px; max-width: 100%; min-width: 0; }
button.plain { cursor: pointer; } button.plain:hover { background: var(--card); border-color: var(--soft); }
select { text-overflow: ellipsis; }
.picker { columns: 240px; column-gap: 24px; padding: 8px 2px; font-size: 0.87rem; max-height: 340px; overflow-y: auto; }
.picker label { display: flex; gap: 7px; align-items: baseline; break-inside: avoid; padding: 2px 0; overflow-wrap: anywhere; }
th[aria-sort] { padding: 0; }
th button.sort { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: 7px 8px; width: 100%; text-align: inherit; cursor: pointer; white-space: nowrap; }
th button.sort:hover { color: var(--mark); }
th button.sort span::after { content: "↕"; content: "↕" / ""; opacity: 0.35; padding-left: 5px; font-weight: 400; }
th[aria-sort="ascending"] button.sort span::after { content: "↑"; content: "↑" / ""; opacity: 1; }
th[aria-sort="descending"] button.sort span::after { content: "↓"; content: "↓" / ""; opacity: 1; }
#results-table td small.wrap { min-width: 170px; } table.wide thead th, table.wide th button.sort { white-space: normal; min-width: 76px; }
table.wide thead th { position: sticky; top: 0; z-index: 1; }
td.short { white-space: nowrap; } table.grid tbody th { white-space: normal; min-width: 130px; max-width: 300px; }
.badge.reason { color: var(--soft); border-style: dotted; margin: 2px 2px 0 0; }
tbody tr:hover > * { background: color-mix(in srgb, var(--mark) 6%, var(--back)); }
.scroll.tall { max-height: 78vh; overflow-y: auto; }
.status { font-size: 0.85rem; color: var(--soft); min-height: 1.4em; margin: 4px 0; }
textarea.copied { width: 100%; min-height: 120px; font: 0.78rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--card); color: var(--text); border: 1px solid var(--edge); border-radius: 8px; padding: 8px; }
[hidden] { display: none !important; }
.badge.simulated, .badge.allocated { color: var(--warn); } .badge.published { color: var(--soft); border-style: dashed; } .badge.external { color: var(--good); }
.tall-list { max-height: 620px; overflow-y: auto; padding: 0 4px; }
.query { border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; margin: 8px 0; }
.query > summary { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; font-size: 0.9rem; }
.query > summary::before { content: "▸"; color: var(--soft); } .query[open] > summary::before { content: "▾"; }
.query > summary::-webkit-details-marker { display: none; }
.query h3 { font-size: 0.8rem; color: var(--soft); font-weight: 600; margin: 10px 0 2px; }
.command { display: flex; gap: 8px; align-items: start; } .command pre { flex: 1; min-width: 0; margin: 0; }
.verdict-correct { color: var(--good); } .verdict-incorrect { color: var(--bad); } .verdict-other { color: var(--warn); }
@media (max-width: 860px) {
  .bar-in { grid-template-columns: minmax(0, 1fr) auto; gap: 0 12px; padding: 0 12px; }
  .theme { grid-column: 2; }
  .bar nav { grid-column: 1 / -1; grid-row: 2; margin: 0 -12px; }
  .bar ul { padding: 0 6px; flex-wrap: nowrap; }
  .bar nav a { padding: 6px 9px 8px; }
}
@media (max-width: 640px) {
  h1 { font-size: 1.45rem; }
  .foot-in { padding: 0 12px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile { padding: 10px 12px; } .tile dd { font-size: 1.1rem; }
  .bar { position: static; }
}
@media print {
  :root, :root[data-theme] { color-scheme: light; ${lightColours} }
  .bar, .skip, .controls, .theme, .modebar, .no-print { display: none !important; }
  body { font-size: 11px; } main { max-width: none; padding: 0; }
  .scroll.tall { max-height: none; } .scroll { border: 0; }
  section, .tile, figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .picker { display: none; } .tall-list { max-height: none; }
  a { color: inherit; text-decoration: none; }
}
@media (prefers-reduced-motion: no-preference) { .bar nav a, button.plain { transition: color 120ms, background 120ms; } }
`;
