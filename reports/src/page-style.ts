/** Colours of a page by name, on white. */
export const lightColours =
  '--text: #1c2128; --soft: #59636e; --back: #ffffff; --card: #f5f7f9; --line: #d5dbe1; --edge: #87919c; --good: #1a7f4b; --warn: #8f5f00; --bad: #b3261e; --mark: #0b62b8; --hint: #fff6dc; --hint-line: #e0c36a;';
/** The same on near-black. */
export const darkColours =
  '--text: #e4e8ec; --soft: #9aa5b1; --back: #14181d; --card: #1d232a; --line: #353e48; --edge: #6d7883; --good: #5cc98d; --warn: #e0b04c; --bad: #ff8a80; --mark: #6cb2f5; --hint: #2b2614; --hint-line: #6d5b22;';

/** The page's own style: light and dark by the reader's choice, tables that scroll on a phone, no webfont. */
export const pageStyle = `
:root { color-scheme: light dark; ${lightColours} }
@media (prefers-color-scheme: dark) { :root { ${darkColours} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 20px 20px 60px; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 40px 0 8px; }
h3 { font-size: 1rem; margin: 20px 0 4px; overflow-wrap: anywhere; }
p { margin: 6px 0; max-width: 80ch; }
.soft { color: var(--soft); }
.small { font-size: 0.87rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 12px; margin: 20px 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; min-width: 0; }
.card h3 { margin: 0 0 6px; font-size: 0.87rem; font-weight: 600; color: var(--soft); }
.card dl { margin: 0; }
.card dt { font-size: 0.8rem; color: var(--soft); overflow-wrap: anywhere; }
.card dd { margin: 0 0 6px; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card dd small { font-weight: 400; font-size: 0.8rem; color: var(--soft); display: block; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; margin: 10px 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { text-align: left; padding: 7px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; background: var(--card); white-space: nowrap; }
tbody tr:last-child td, tbody tr:last-child th { border-bottom: 0; }
td.n, th.n { text-align: right; white-space: nowrap; }
td small, th small { display: block; font-weight: 400; color: var(--soft); white-space: nowrap; }
td.reasons { min-width: 160px; font-size: 0.82rem; }
td small.wrap { white-space: normal; min-width: 112px; }
tbody th { min-width: 118px; } td code { display: inline-block; min-width: 190px; }
td.name { overflow-wrap: break-word; min-width: 80px; max-width: 280px; }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin-right: 6px; }
.badge { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 8px; font-size: 0.76rem; font-weight: 500; line-height: 1.5; white-space: nowrap; }
.badge.valid { color: var(--good); } .badge.flagged, .badge.estimated { color: var(--warn); }
.badge.invalid { color: var(--bad); } .badge.tier { color: var(--mark); } .badge.front { color: var(--mark); }
.note { background: var(--hint); border: 1px solid var(--hint-line); border-radius: 8px; padding: 10px 14px; margin: 14px 0; }
.plot { width: 100%; height: 460px; } .plot.low { height: 340px; }
ul { margin: 8px 0; padding-left: 20px; } li { margin: 4px 0; max-width: 85ch; overflow-wrap: anywhere; }
code { font: 0.85em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--card); border-radius: 6px; padding: 8px 10px; margin: 4px 0 10px; font: 0.82rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
details { margin: 8px 0; } summary { cursor: pointer; overflow-wrap: anywhere; }
dl.facts { display: grid; grid-template-columns: minmax(110px, max-content) 1fr; gap: 4px 16px; margin: 8px 0; font-size: 0.9rem; }
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
@media (max-width: 640px) {
  main { padding: 14px 12px 40px; }
  h1 { font-size: 1.3rem; }
  .cards { grid-template-columns: 1fr; }
  .plot { height: 420px; }
  dl.facts { grid-template-columns: 1fr; gap: 0; } dl.facts dd { margin-bottom: 8px; }
  tbody th, thead th:first-child { position: sticky; left: 0; background: var(--card); max-width: 40vw; white-space: normal; overflow-wrap: anywhere; }
  tbody th small { white-space: normal; }
}
@media print { .scroll { overflow: visible; } details > * { display: block; } }
`;
