import { pointAxes } from '@perwatt/core';
import type { MetricId } from '@perwatt/metrics';
import type { GaugeLoad } from '@perwatt/records';
import { DASH, formatNumber, formatPercent } from './format.js';
import { type Html, html } from './html.js';
import { hasLoads, most, total } from './load-facts.js';
import { breakable, metricCell, modelDot, reasonText, tierBadge, verdictBadge } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const figures: readonly (readonly [head: string, unit: string, id: MetricId])[] = [
  ['Offered', '1/s', 'offered_per_s'],
  ['Sent', '1/s', 'achieved_per_s'],
  ['Ended well', '1/s', 'ok_per_s'],
  ['Goodput', '1/s', 'goodput_per_s'],
  ['Good', 'of all calls', 'good_fraction'],
  ['Lag', 'median', 'lag_p50_ns'],
  ['Lag', 'p99', 'lag_p99_ns'],
  ['Since due', 'median', 'e2e_from_schedule_p50_ns'],
  ['Since due', 'p99', 'e2e_from_schedule_p99_ns'],
  ['First token', 'median', 'ttft_any_p50_ns'],
  ['First token', 'p99', 'ttft_any_p99_ns'],
  ['Tokens', '1/s', 'tokens_per_s'],
  ['Energy per token', 'J, busy time', 'energy_per_output_token_j'],
  ['Steady tokens', '1/s', 'steady_tokens_per_s'],
  ['Steady energy per token', 'J', 'steady_energy_per_output_token_j'],
  ['Energy per query', 'J, idle time in', 'energy_per_query_window_j'],
  ['Idle share', 'of the window’s energy', 'idle_energy_ratio'],
];

const nameOf = (results: RunResults, { point }: CellResult): Html => {
  const more = pointAxes
    .filter((axis) => axis !== 'model' && axis !== 'load')
    .flatMap((axis) => point[axis] ?? [])
    .join(' · ');
  return html`<th scope="row">${modelDot(results, point.model)}${breakable(point.model)}<small>${more}</small></th><td class="name">${breakable(point.load)}</td>`;
};

const table = (label: string, heads: readonly Html[], rows: readonly Html[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;

const head = (name: string, unit: string): Html =>
  html`<th scope="col" class="n">${name}<small>${unit}</small></th>`;

/** A figure, or a dash whose reason is told by pointing at it: most loads lack what only some have. */
const loadCell = (cell: CellResult, id: MetricId): Html => {
  const { value, reason } = cell.metrics[id];
  return value === null
    ? html`<td class="n" title="${reasonText(reason ?? '')}">${DASH}</td>`
    : metricCell(cell, id);
};

/** Cells as they were sent: rates, goodput, lag, latency since due, energy per token, idle time. Empty for one plain load. */
function loadRows(results: RunResults): Html {
  if (!hasLoads(results)) return html``;
  const { cells } = results;
  const shown = figures.filter(([, , id]) => cells.some(({ metrics }) => metrics[id].value !== null));
  const heads = [
    html`<th scope="col">Model</th><th scope="col">Load</th>`,
    ...shown.map(([name, unit]) => head(name, unit)),
    head('In flight', 'most'),
    head('Waited', 'for a place'),
    html`<th scope="col">Joules are</th><th scope="col">Verdict</th>`,
  ];
  const rows = cells.map((cell) => {
    const loops = cell.load.map(({ loop }) => loop);
    return html`<tr>${nameOf(results, cell)}${shown.map(([, , id]) => loadCell(cell, id))}<td class="n">${most(loops, (loop) => loop?.most_in_flight) ?? DASH}</td><td class="n">${total(loops, (loop) => loop?.waited) ?? DASH}</td><td>${tierBadge(cell.energy.boundary?.provenance ?? null)}</td><td>${verdictBadge(cell)}</td></tr>`;
  });
  return table('Loads', heads, rows);
}

const gauge = (value: GaugeLoad | null, form: (value: number) => string): string =>
  value === null ? DASH : `${form(value.mean)} (${form(value.max)})`;

/** What servers said of their load within the measured windows, one row a sitting that was told of. */
function serverRows(results: RunResults): Html {
  const rows = results.cells.flatMap((cell) =>
    cell.load.flatMap(({ sitting, server }) => {
      if (server === null) return [];
      const { names, readings, failed, running, waiting, kv_cache_ratio } = server;
      const misses = failed === 0 ? '' : `, ${failed} failed`;
      return [
        html`<tr>${nameOf(results, cell)}<td class="n">${sitting}</td><td>${names}<small>${readings} readings${misses}</small></td><td class="n">${gauge(running, formatNumber)}</td><td class="n">${gauge(waiting, formatNumber)}</td><td class="n">${gauge(kv_cache_ratio, formatPercent)}</td><td class="n">${server.prompt_tokens ?? DASH}</td><td class="n">${server.generation_tokens ?? DASH}</td></tr>`,
      ];
    }),
  );
  if (rows.length === 0) return html``;
  const heads = [
    html`<th scope="col">Model</th><th scope="col">Load</th>`,
    head('Sitting', ''),
    html`<th scope="col">Names</th>`,
    head('Running', 'mean (most)'),
    head('Waiting', 'mean (most)'),
    head('Key-value cache', 'mean (most)'),
    head('Prompt tokens', 'counted there'),
    head('Output tokens', 'counted there'),
  ];
  return html`<h3>What the servers said</h3><p class="soft small">Their own <code>/metrics</code>, read once a second within the measured windows; tokens from just before to just after.</p>${table('Server load', heads, rows)}`;
}

/** Name and version of an engine; the version alone where it begins with the name. */
const versionText = (engine: string | null, version: string | null): string =>
  engine !== null && version?.startsWith(engine) === true
    ? version
    : [engine, version].filter((part) => part !== null).join(' ');

/** Servers that were started, each once: kind, version, what was executed, image, time until ready. */
function engineRows(results: RunResults): Html {
  const known = new Map(
    results.cells.flatMap(({ provenance }) => {
      const { server, engine, engine_version } = provenance?.endpoint ?? {};
      if (server === undefined) return [];
      const key = JSON.stringify([server.id, server.argv, server.version]);
      const told = versionText(engine ?? null, server.version ?? engine_version ?? null);
      return [[key, { server, told }] as const];
    }),
  );
  if (known.size === 0) return html``;
  const rows = [...known.values()].map(
    ({ server, told }) =>
      html`<tr><th scope="row">${server.id}<small>${server.agent === null ? 'this host' : server.agent}</small></th><td>${server.kind}<small>${told || 'version not told'}</small></td><td class="name">${breakable(server.model)}</td><td class="name"><code>${server.argv.join(' ')}</code></td><td class="name">${server.image ?? DASH}<small>${server.image_digest ?? ''}</small></td><td class="n">${formatNumber(server.ready_ms / 1000)} s</td></tr>`,
  );
  const heads = ['Engine', 'Kind', 'Model', 'Executed', 'Image', 'Ready after'].map(
    (name) => html`<th scope="col">${name}</th>`,
  );
  return html`<h3>Engines that were started</h3>${table('Engines', heads, rows)}`;
}

/** Loads and servers: how calls were sent, what came of it by load, and what served them. Empty where there is nothing to say. */
export function loadSection(results: RunResults): Html {
  const parts = [loadRows(results), serverRows(results), engineRows(results)];
  if (parts.every(({ markup }) => markup === '')) return html``;
  return html`<section id="load"><h2>Load</h2>
<p class="soft small">Offered and sent by the mean gap of due times and dispatches. Goodput counts calls that meet the limits of their load, over the measured window. Energy per query with idle time in it holds what the window took beside the calls: where the idle share is high, that is what serving cost.</p>
${parts}</section>`;
}
