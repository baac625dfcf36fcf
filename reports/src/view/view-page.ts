import { createHash } from 'node:crypto';
import { html, scriptText } from '../html.js';

/** What runs in the reader's browser: asks for the state as it changes and writes it into the page, as text only. */
const script = `
'use strict';
(() => {
  const at = (id) => document.getElementById(id);
  const set = (id, text) => { at(id).textContent = text; };
  const digits = (value, most = 3) => value === null ? '–' : Number(value.toPrecision(most)).toLocaleString('en');
  const svg = (name, attributes) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const line = (domains) => {
    const place = at('line');
    const shown = domains.filter(({ in_total, w }) => in_total && w.length > 1);
    const most = Math.max(1, ...shown.flatMap(({ w }) => w)) * 1.1;
    const times = shown.flatMap(({ t_s }) => t_s);
    const [from, to] = [Math.min(...times), Math.max(...times)];
    place.replaceChildren(...shown.map(({ t_s, w }) => svg('polyline', {
      points: t_s.map((t, i) => ((t - from) / (to - from || 1) * 600).toFixed(1) + ',' + (120 - w[i] / most * 120).toFixed(1)).join(' '),
    })));
    set('scale', shown.length === 0 ? 'no power yet' : '0 … ' + digits(most) + ' W over ' + digits(to - from) + ' s');
  };
  const rows = (cells) => {
    at('cells').replaceChildren(...cells.map((cell) => {
      const row = document.createElement('tr');
      const values = [cell.label, cell.status, cell.verdict ?? '–', digits(cell.calls, 9) + (cell.planned === null ? '' : ' / ' + digits(cell.planned, 9)), digits(cell.failed, 9), digits(cell.tokens, 9), cell.accuracy === null ? '–' : digits(100 * cell.accuracy) + ' %', digits(cell.energy_per_query_j)];
      row.append(...values.map((value) => {
        const field = document.createElement('td');
        field.textContent = value;
        return field;
      }));
      return row;
    }));
  };
  const show = (state) => {
    if (state.error !== undefined) return set('problems', state.error);
    document.title = state.name + ': ' + state.status;
    set('name', state.run_id);
    set('status', state.status);
    set('watts', digits(state.power.total_w));
    set('tokens', digits(state.tokens_per_s));
    set('calls', digits(state.calls_per_s));
    set('progress', state.cells_done + ' of ' + state.cells_planned + ' cells' + (state.queries_planned === null ? '' : ', ' + digits(state.queries_done, 9) + ' of ' + digits(state.queries_planned, 9) + ' queries'));
    const bar = at('bar');
    bar.max = state.queries_planned ?? state.cells_planned;
    bar.value = state.queries_planned === null ? state.cells_done : state.queries_done;
    set('sources', state.power.domains.map(({ domain, provenance, power_w, in_total }) => domain + ' (' + provenance + (in_total ? '' : ', not in the total') + '): ' + digits(power_w) + ' W').join('; '));
    set('read', digits(state.bytes_read, 9) + ' bytes read, ' + digits(state.bytes_last, 9) + ' by the last look' + (state.behind ? ', still catching up' : ''));
    set('problems', state.problems.join('; '));
    line(state.power.domains);
    rows(state.cells);
    document.documentElement.dataset.ready = 'true';
  };
  const events = new EventSource('events');
  events.onmessage = ({ data }) => show(JSON.parse(data));
  events.onerror = () => set('status', 'no connection to perwatt view');
})();
`;

const style = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1rem 0; }
.figures div strong { display: block; font-size: 2rem; font-variant-numeric: tabular-nums; }
progress { width: 100%; }
svg { width: 100%; height: 8rem; border-bottom: 1px solid #8888; }
polyline { fill: none; stroke: #3b82d6; stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8884; white-space: nowrap; }
.soft { opacity: 0.75; font-size: 0.9rem; overflow-wrap: anywhere; }
`;

const code = scriptText(script);

/** Nothing but the page's own script runs, and it may ask nobody but us. */
export const viewPolicy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(code.markup).digest('base64')}'`,
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const heads = [
  'Cell',
  'Status',
  'Verdict',
  'Calls',
  'Failed',
  'Output tokens',
  'Accuracy so far',
  'J/query so far',
];

/** The page that shows a run while it goes on. It holds nothing of the run: all comes by events. */
export const viewPage: string = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer"><title>perwatt view</title><style>${{ markup: style }}</style></head>
<body><main><h1 id="name">…</h1><p><span id="status" role="status">…</span>: <span id="progress"></span></p><progress id="bar" aria-label="Progress"></progress>
<div class="figures"><div><strong id="watts">–</strong>W, the total</div><div><strong id="tokens">–</strong>output tokens/s</div><div><strong id="calls">–</strong>calls/s</div></div>
<svg id="line" viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label="Power of the domains of the total over time"></svg><p class="soft" id="scale"></p><p class="soft" id="sources"></p>
<h2>Cells</h2><p class="soft">Accuracy and joules are of sittings that were closed, before any verdict: partial results.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Cells"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody id="cells"></tbody></table></div>
<p class="soft" id="read"></p><p class="soft" id="problems"></p></main><script>${code}</script></body></html>
`.markup;
