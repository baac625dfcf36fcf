import type { PublishedRow } from '@perwatt/core';
import { metrics } from '@perwatt/metrics';
import type { PublishedRun } from '@perwatt/records';
import { type Html, html } from '../html.js';
import { withCode } from '../page-parts.js';
import { headsOf, scrollTable } from '../site/site-parts.js';
import { flagText } from './flag-texts.js';

const unique = (values: readonly (string | null)[], none = 'not known'): string =>
  [...new Set(values.map((value) => value ?? none))].join(', ');

const kB = (bytes: number): string => `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;

/** Where the figures of a run are from: tool, files with their sha256, source, licence, whom to cite. */
export function sourceSection({ manifest, rows, torn }: PublishedRun): Html {
  const { run_id, importer, imported, perwatt_version, files } = manifest;
  const lines = files.map(
    ({ file, bytes, sha256, source_version, records }) =>
      html`<tr><th scope="row">${file}</th><td class="n">${records}</td><td>${source_version ?? 'not known'}</td><td class="n">${kB(bytes)}</td><td><code>${sha256}</code></td></tr>`,
  );
  const heads = headsOf(['File', '>Records', 'Version of the source', '>Size', 'sha256']);
  return html`<section><h2>Where the figures of ${run_id} are from</h2>
<dl class="facts"><dt>Published by</dt><dd>${unique(rows.map(({ source }) => source))}</dd>
<dt>On</dt><dd>${unique(rows.map(({ date }) => date))}</dd>
<dt>Licence of the data</dt><dd>${unique(rows.map(({ licence }) => licence))}</dd>
<dt>To be cited</dt><dd>${unique(rows.map(({ citation }) => citation))}</dd>
<dt>Read by</dt><dd>importer <code>${importer.kind}</code> version ${importer.version} of Perwatt ${perwatt_version}, ${imported}</dd></dl>
${torn.map(({ file, reason }) => html`<p class="note">${file}: ${reason}. The rows that can be read are here.</p>`)}
${scrollTable(heads, lines, { label: `Files of ${run_id}` })}</section>`;
}

/** Rows by metric, in the order of their first appearance. */
function byMetric(rows: readonly PublishedRow[]): PublishedRow[][] {
  const found = new Map<string, PublishedRow[]>();
  for (const row of rows) {
    const known = found.get(row.metric);
    if (known === undefined) found.set(row.metric, [row]);
    else known.push(row);
  }
  return [...found.values()];
}

function metricRow(rows: readonly PublishedRow[]): Html {
  const [first] = rows;
  if (first === undefined) return html``;
  const known = metrics.find(({ id }) => id === first.metric);
  const missing = rows.filter(({ value }) => value === null);
  const why = missing.length === 0 ? '' : unique(missing.map(({ reason }) => reason)).replaceAll('_', ' ');
  const powered = rows.filter(({ scope }) => scope !== null);
  const covers =
    powered.length === 0
      ? 'no power in it'
      : unique(powered.map(({ scope, boundary }) => `${scope}: ${boundary ?? 'not described'}`));
  const upper = rows.filter(({ bound }) => bound === 'upper').length;
  const unordered = rows.filter(({ rankable, value }) => !rankable && value !== null).length;
  const marks = [
    upper > 0 ? `${upper} are upper bounds` : '',
    unordered > 0 ? `${unordered} must not be ranked` : '',
  ].filter((mark) => mark !== '');
  return html`<tr><th scope="row">${known?.title ?? first.metric}${known === undefined ? html`<small>as its source defines it</small>` : html`<small>${first.metric}</small>`}</th><td>${first.unit === '1' ? 'share' : first.unit}</td><td class="n">${rows.length - missing.length}</td><td class="n">${missing.length}${why === '' ? html`` : html`<small class="wrap">${why}</small>`}</td><td>${unique(rows.map(({ statistic }) => statistic))}</td><td>${unique(rows.map(({ basis }) => basis))}${marks.map((mark) => html`<small class="wrap">${mark}</small>`)}</td><td class="name">${covers}</td></tr>`;
}

/** What is told, metric by metric: how many figures, which statistic, what the power covers, and why values are missing. */
export function toldSection(runs: readonly PublishedRun[]): Html {
  const rows = runs.flatMap((run) => run.rows);
  const heads = headsOf(['Figure', 'Unit', '>Values', '>Missing', 'Statistic', 'Made by', 'Power covers']);
  const ofItems = rows.filter(({ item_id }) => item_id !== null).length;
  const items =
    ofItems === 0
      ? html``
      : html`<p class="soft small">${ofItems} of them are figures of single queries: they are counted here and stand in <a href="published.csv">published.csv</a>, not in the table of records.</p>`;
  return html`<section><h2>What is told</h2>
<p class="soft small">A figure has our name only where the definition is the same; others keep the name that their source gave them. Made by: <em>measured</em>, <em>derived</em> by the source from other figures, <em>allocated</em> between queries, or <em>recomputed</em> here from what the source tells.</p>
${scrollTable(heads, byMetric(rows).map(metricRow), { label: 'Figures by metric' })}${items}</section>`;
}

/** What the importers found doubtful. */
export function doubtSection(runs: readonly PublishedRun[]): Html {
  const counts = new Map<string, number>();
  for (const { rows } of runs)
    for (const { flags } of rows)
      for (const code of flags?.split(' ') ?? []) counts.set(code, (counts.get(code) ?? 0) + 1);
  const lines = [...counts].map(
    ([code, n]) =>
      html`<li><strong>${code.replaceAll('_', ' ')}</strong>, ${n} ${n === 1 ? 'figure' : 'figures'}: ${flagText(code)}.</li>`,
  );
  return html`<section><h2>What is doubtful</h2>${lines.length === 0 ? html`<p>Nothing that the importer looks for.</p>` : html`<ul>${lines}</ul>`}</section>`;
}

/** Parts of a report that imported figures can't have, and why. */
const absent: readonly string[] = [
  'Power over time, meters, baselines and net energy: a publication tells sums, and no samples of power are with it.',
  'Pages of cells, queries, prompts and answers: no row of a call or a query came with the figures.',
  'Confidence intervals over questions and repeats, paired comparisons and shares of draws: they need the rows. An interval here is the range or the spread that the source gives, or none.',
  'Routing, strategies and footprints: they are worked out from the answers and joules of single queries.',
  'A verdict of ours: flagged means that the importer found something doubtful, valid only that it did not.',
];

/** What a reader of reports would look for and can't find here. */
export const absentSection = (): Html =>
  html`<section id="not-measured"><h2>What is not here, and why</h2><ul>${absent.map((text) => html`<li>${text}</li>`)}</ul></section>`;

/** How published figures are to be read. */
export const readingSection = (): Html =>
  html`<section id="reading"><h2>How to read published figures</h2><ul>${[
    'They stand beside measured ones and never pass for them: joules of a publication are not summed, ranked or drawn with joules that were measured here. `perwatt compare … --allow-mixed` sets them against each other on request, and marks every such figure.',
    'A mean, a median and a peak are other quantities. Watts of a peak over a rate are an upper bound of joules (≤) and are never ranked.',
    'What the power covers differs by source: one board, all boards of a server, a wall socket. Only figures of one source, workload and boundary share a front.',
    'A value is missing with a reason. A zero that stands for a failed sensor is no value.',
  ].map((text) => html`<li>${withCode(text)}</li>`)}</ul></section>`;
