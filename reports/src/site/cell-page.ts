import { pointAxes } from '@perwatt/core';
import { type MetricId, metrics } from '@perwatt/metrics';
import type { CellFile, RunManifest } from '@perwatt/records';
import { DASH, formatMetric, formatNanos, formatNumber } from '../format.js';
import { type Html, html } from '../html.js';
import { gradingSection, subjectSection } from '../page-grading.js';
import { ledgerSection } from '../page-ledger.js';
import { loadSection } from '../page-load.js';
import { breakable, reasonText, verdictBadge, withCode } from '../page-parts.js';
import { provenanceSection } from '../page-provenance.js';
import type { CellResult } from '../results-types.js';
import type { CellDetail } from './cell-detail.js';
import { cellPowerFigure, durationFigure, latencyFigure } from './cell-figures.js';
import { queriesSection } from './cell-queries.js';
import { figureBlock, figuresOf } from './figure-block.js';
import { tierBadges } from './provenance-badges.js';
import { shellWord } from './shell-word.js';
import type { SiteCell } from './site-model.js';
import type { SitePage } from './site-page.js';
import { boundsOf, headsOf, onlyCell, scrollTable, valueWithBounds } from './site-parts.js';

const tiles: readonly (readonly [title: string, id: MetricId])[] = [
  ['Accuracy', 'accuracy'],
  ['Energy per query', 'energy_per_query_j'],
  ['IPJ', 'ipj_per_j'],
  ['IPW', 'ipw_per_w'],
  ['Mean power', 'power_w'],
  ['Output tokens per second', 'tokens_per_s'],
  ['First token, median', 'ttft_any_p50_ns'],
  ['First token, p99', 'ttft_any_p99_ns'],
];

function tileList(cell: CellResult): Html {
  const shown = tiles.filter(([, id]) => cell.metrics[id].value !== null || id === 'energy_per_query_j');
  return html`<dl class="tiles">${shown.map(([title, id]) => html`<div class="tile"><dt>${title}</dt><dd>${valueWithBounds(cell.metrics[id])}</dd></div>`)}</dl>`;
}

function verdictSection(cell: CellResult): Html {
  const { verdict, counts, failure } = cell;
  const reasons = verdict.reasons.map(
    ({ text, fix }) =>
      html`<li>${text}${fix === null ? html`` : html` <span class="soft">${withCode(fix)}</span>`}</li>`,
  );
  const odd = Object.entries(counts.verdicts).filter(([, count]) => count > 0);
  return html`<p>${verdictBadge(cell)} ${tierBadges(cell)} <span class="soft small">${counts.attempted} queries, ${counts.failed} failed, ${counts.repeats} ${counts.repeats === 1 ? 'repeat' : 'repeats'}: ${odd.map(([name, count]) => `${count} ${name}`).join(', ')}</span></p>
${failure === null ? html`` : html`<p class="note">It failed: ${failure}</p>`}${reasons.length === 0 ? html`` : html`<ul class="small">${reasons}</ul>`}`;
}

function metricTable(cell: CellResult): Html {
  const rows = metrics.map(({ id, title, unit }) => {
    const metric = cell.metrics[id];
    const { value, sampling_lo: lo, sampling_hi: hi, sensor_lo, sensor_hi } = metric;
    const pair = (a: number | null, b: number | null) =>
      a === null && b === null
        ? DASH
        : `${a === null ? DASH : formatNumber(a)} … ${b === null ? DASH : formatNumber(b)}`;
    const why = value === null ? reasonText(metric.reason ?? '') : (metric.note ?? '');
    return html`<tr><th scope="row">${title}<small>${id}</small></th><td class="n">${formatMetric(metric)}</td><td>${unit === '1' || unit === 'ns' ? '' : unit}</td><td class="n">${boundsOf(metric) ?? DASH}</td><td class="n">${unit === 'ns' ? DASH : pair(lo, hi)}</td><td class="n">${pair(sensor_lo, sensor_hi)}</td><td class="n">${metric.n}</td><td class="name">${why}</td></tr>`;
  });
  const heads = headsOf([
    'Metric',
    '>Value',
    'Unit',
    '>Interval',
    '>Sampling|95 %',
    '>Sensor',
    '>n',
    'Why, and how',
  ]);
  return html`<section><h2>Every metric of this cell</h2><details><summary>${metrics.length} metrics</summary>${scrollTable(heads, rows, { label: 'Metrics of this cell' })}</details></section>`;
}

function outlierSection({ outliers, outlier_count }: CellDetail): Html {
  if (outlier_count === 0) return html``;
  const rows = outliers.map(
    ({ item_id, what, label, value }) =>
      html`<tr><th scope="row"><code>${item_id.slice(0, 80)}</code></th><td>${what}</td><td>${label}</td><td class="n">${what === 'duration' ? formatNanos(value) : `${formatNumber(value)} J`}</td></tr>`,
  );
  const more = outlier_count > outliers.length ? ` The first ${outliers.length} are listed.` : '';
  return html`<section><h2>Outliers</h2><p class="soft small">${outlier_count} by Tukey’s fences (1.5 and 3 interquartile ranges). They are labelled, and stay in every figure.${more}</p><details><summary>Show them</summary>${scrollTable(headsOf(['Item', 'What', 'How far', '>Value']), rows, { label: 'Outliers' })}</details></section>`;
}

function physicsTable({ physics }: CellResult): Html {
  const rows = physics.map(
    ({ check, outcome, verdict, arithmetic }) =>
      html`<tr><th scope="row">${check}</th><td>${outcome === 'not_checked' ? 'not checked' : outcome}</td><td class="name">${arithmetic === '' ? verdict : arithmetic}</td></tr>`,
  );
  if (rows.length === 0) return html``;
  return html`<section><h2>Held to physics</h2><p class="soft small">What the cell claims beside what its hardware can do.</p>${scrollTable(headsOf(['Check', 'Outcome', 'Calculation']), rows, { label: 'Physics checks' })}</section>`;
}

/** Files of samples that were recorded on the boots that the cell ran on. */
function sampleRows({ sittings }: CellFile, power: CellSources['power']): Html[] {
  const boots = new Set(sittings.map(({ boot_id }) => boot_id));
  return power
    .filter(({ boot_id }) => boots.has(boot_id))
    .map(
      ({ file, segment }) =>
        html`<tr><th scope="row"><code>power/${file}</code></th><td>samples</td><td class="n">${segment?.rows ?? DASH}</td><td><code>${segment?.sha256 ?? 'not closed'}</code></td></tr>`,
    );
}

const parquetLine = (parquet: readonly RecordLink[]): Html =>
  parquet.length === 0
    ? html``
    : html`<p class="small">Parquet: ${parquet.map(({ name, href }, i) => html`${i > 0 ? ', ' : ''}<a href="${href}">${name}</a>`)}</p>`;

/** Files that the figures come from, with their digests. */
function filesTable(file: CellFile, { power, parquet }: Pick<CellSources, 'power' | 'parquet'>): Html {
  const rows = file.segments.map(
    ({ file: name, table, rows: count, sha256 }) =>
      html`<tr><th scope="row"><code>cells/${file.cell_id}/${name}</code></th><td>${table}</td><td class="n">${count}</td><td><code>${sha256}</code></td></tr>`,
  );
  return html`<h3>Records</h3><p class="soft small">Every figure of this page is computed from these files of the run folder; <code>cells/${file.cell_id}/*.parquet</code> are copies for other tools.</p>${parquetLine(parquet)}${scrollTable(headsOf(['File', 'Table', '>Rows', 'sha256']), [...rows, ...sampleRows(file, power)], { label: 'Records of this cell' })}`;
}

/** The command that runs this cell again, and those that show what its figures are made of. */
export function cellCommands({ cell_id, run, cell }: SiteCell, matrixFile: string): string {
  const point = run.results.cells.find((own) => own.cell_id === cell_id)?.point ?? cell.point;
  const filters = pointAxes.flatMap((axis) =>
    point[axis] === undefined ? [] : [`--filter ${shellWord(`${axis}=${point[axis]}`)}`],
  );
  const folder = shellWord(run.run?.path ?? `runs/${run.results.run_id}`);
  const where = `select * from queries where cell_id = '${cell_id.replaceAll("'", "''")}' limit 10`;
  return [
    `perwatt run ${shellWord(matrixFile)} ${filters.join(' ')}`,
    `perwatt query ${folder} ${shellWord(where)}`,
    `perwatt verify ${folder}`,
  ].join('\n');
}

function againSection(own: SiteCell, matrixFile: string): Html {
  return html`<section><h2>Run it again</h2><p class="soft small">The first line measures this cell anew: the matrix of the run lies beside this report. The others show its rows and check its records.</p><div class="command"><pre id="again">${cellCommands(own, matrixFile)}</pre><button type="button" class="plain no-print" data-copy-of="again">Copy</button></div></section>`;
}

/** A file of the records, and where it lies from the cell's page. */
export interface RecordLink {
  readonly name: string;
  readonly href: string;
}

export interface CellSources {
  /** Null where only results are at hand, and for cells of large runs. */
  readonly detail: CellDetail | null;
  readonly file: CellFile | null;
  /** Files of samples of its run. */
  readonly power: RunManifest['power'];
  /** Parquet files to be linked. */
  readonly parquet: readonly RecordLink[];
  /** Where the run's matrix lies, from the site's root. */
  readonly matrixFile: string;
  /** Name on the axes that differ. */
  readonly name: string;
}

const detailSections = (cell: CellResult, detail: CellDetail | null): Html => {
  if (detail === null)
    return html`<p class="note">This run is large: its pages carry aggregates alone. The rows of every query and call are in the run folder, as Arrow segments and as Parquet.</p>`;
  const { power } = detail;
  const which =
    power !== null && power.sittings > 1
      ? ` Sitting ${power.sitting} of ${power.sittings}, the longest.`
      : '';
  const steady = cell.metrics.steady_power_w.value !== null ? ' Green: the steady window.' : '';
  return html`${figureBlock(cellPowerFigure(detail), { title: 'Power over time', note: `Mean power between readings, so that the area is the energy booked; below it the queries in the colour of their verdict.${which}${steady}` })}
${figureBlock(latencyFigure(detail), { title: 'Latency', note: 'Share of calls that took at most so long. Every call that ended well is in it.', low: true })}
${figureBlock(durationFigure(detail), { title: 'Duration of queries over time', note: 'A steady machine shows no trend. Outliers stay.', low: true })}
${outlierSection(detail)}`;
};

/** Everything that is known of one cell, down to its queries and the files they are in. */
export function cellPage(
  own: SiteCell,
  { detail, file, power, parquet, matrixFile, name }: CellSources,
): SitePage {
  const { cell, key, run } = own;
  const only = onlyCell(run.results, { ...cell, cell_id: own.cell_id });
  const figures =
    detail === null ? [] : figuresOf(cellPowerFigure(detail), latencyFigure(detail), durationFigure(detail));
  return {
    id: `cells/${key}`,
    title: 'Cell',
    heading: name,
    body: html`<p class="crumbs"><a href="../results.html">Results</a> › ${pointAxes.flatMap((axis) => (cell.point[axis] === undefined ? [] : [html`<span class="soft">${axis}</span> ${breakable(cell.point[axis] ?? '')}`])).map((part, i) => (i === 0 ? part : html`, ${part}`))}</p>
${verdictSection(cell)}
${tileList(cell)}
${detailSections(cell, detail)}${detail === null ? parquetLine(parquet) : html``}
${detail === null ? html`` : queriesSection(cell, detail)}
${metricTable(cell)}
${ledgerSection(only)}
${gradingSection(only)}
${subjectSection(only)}
${loadSection(only)}
${physicsTable(cell)}
${againSection(own, matrixFile)}
${provenanceSection(only)}
${file === null ? html`` : html`<section>${filesTable(file, { power, parquet })}</section>`}`,
    figures,
  };
}
