import { type CallPhase, callPhases } from '@perwatt/metrics';
import type { DomainLedger } from '@perwatt/records';
import { DASH, formatNanos, formatNumber, formatPercent, provenanceMark } from './format.js';
import { type Html, html } from './html.js';
import { modelDot, reasonText, tierBadge } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const joules = (value: number | null, mark: string): string =>
  value === null ? DASH : `${mark}${formatNumber(value, 4)}`;

/** What the two sides of a ledger differ by, as a share of the meter. */
function residual({ meter_j, queries_j, unattributed_j }: DomainLedger): string {
  if (meter_j === null || queries_j === null || unattributed_j === null || meter_j === 0) return DASH;
  const ratio = Math.abs(queries_j + unattributed_j - meter_j) / Math.abs(meter_j);
  return ratio <= 1e-9 ? 'closes' : ratio.toExponential(1);
}

function rows(results: RunResults, cell: CellResult): Html[] {
  const { model, dataset, strategy, load } = cell.point;
  const domains = results.power.flatMap((source) => source.domains);
  return cell.ledgers.map((ledger) => {
    const provenance = domains.find(({ id }) => id === ledger.domain)?.provenance ?? null;
    const mark = provenanceMark(provenance);
    return html`<tr><th scope="row">${modelDot(results, model)}${model}<small>${[dataset, strategy, load].join(' · ')}</small></th>
<td class="name">${ledger.domain}${ledger.in_total ? html`` : html`<small>not in the total</small>`} ${tierBadge(provenance)}</td>
<td class="n">${joules(ledger.meter_j, mark)}${ledger.reason === null ? html`` : html`<small>${reasonText(ledger.reason)}</small>`}</td><td class="n">${joules(ledger.queries_j, mark)}</td><td class="n">${joules(ledger.unattributed_j, mark)}</td><td class="n">${joules(ledger.lost_work_j, mark)}</td>
<td class="n">${residual(ledger)}</td><td class="n">${formatPercent(ledger.coverage_ratio)}</td></tr>`;
  });
}

/** Where the joules went: for every cell and domain, queries + unattributed = meter. */
export function ledgerSection(results: RunResults): Html {
  const all = results.cells.flatMap((cell) => rows(results, cell));
  if (all.length === 0) return html``;
  return html`<section id="ledger"><h2>Where the joules went</h2>
<p class="soft small">For every cell and domain: energy of the queries + unattributed energy (no call in flight) = meter, over the measured windows. Lost work is the part of the unattributed energy that sittings cut off left without a result.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Energy ledger"><table><thead><tr><th scope="col">Cell</th><th scope="col">Domain</th><th scope="col" class="n">Meter<small>J</small></th><th scope="col" class="n">Queries<small>J</small></th><th scope="col" class="n">Unattributed<small>J</small></th><th scope="col" class="n">Lost work<small>J</small></th><th scope="col" class="n">Ledger<small>share of the meter</small></th><th scope="col" class="n">Covered</th></tr></thead><tbody>${all}</tbody></table></div>${detailTables(results)}</section>`;
}

const kinds = { host_idle: 'idle host', loaded_idle: 'idle, model loaded' } as const;

function baselineRows(results: RunResults, cell: CellResult): Html[] {
  const mark = provenanceMark(cell.energy.boundary?.provenance ?? null);
  return cell.baselines.map(
    ({ kind, when, shared, length_ns, age_ns, power_w, drift_ratio, sitting }) =>
      html`<tr><th scope="row">${modelDot(results, cell.point.model)}${cell.point.model}<small>${[cell.point.dataset, cell.point.strategy, cell.point.load].join(' · ')}${cell.baselines.some((b) => b.sitting > 0) ? ` · sitting ${sitting}` : ''}</small></th>
<td>${kinds[kind]}, ${when}${shared ? html`<small>shared by cells</small>` : html``}</td><td class="n">${joules(power_w, mark)}</td><td class="n">${formatNanos(length_ns)}</td><td class="n">${formatNanos(age_ns)}</td><td class="n">${drift_ratio === null ? DASH : formatPercent(drift_ratio)}</td></tr>`,
  );
}

function phaseRow(results: RunResults, cell: CellResult): Html {
  const { energy, energy_detail: detail, point } = cell;
  const mark = provenanceMark(energy.boundary?.provenance ?? null);
  const { phases, method, reason } = detail.phases;
  const part = (phase: CallPhase) =>
    html`<td class="n">${joules(phases?.[phase].energy_j ?? null, mark)}</td>`;
  const how =
    method === 'isolated'
      ? 'measured'
      : method === 'time_share'
        ? 'allocated by time'
        : reasonText(reason ?? '');
  return html`<tr><th scope="row">${modelDot(results, point.model)}${point.model}<small>${[point.dataset, point.strategy, point.load].join(' · ')}</small></th>
<td class="n">${joules(energy.gross_j, mark)}</td><td class="n">${joules(energy.net_j, mark)}</td><td class="n">${joules(detail.net_host_j, mark)}</td>${callPhases.map(part)}<td>${how}</td></tr>`;
}

const table = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  rows.length === 0
    ? html``
    : html`<h3>${label}</h3><div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;

/** Gross and net energy by cell and phase, and the idle baselines behind the net figures. */
function detailTables(results: RunResults): Html {
  const cells = results.cells.filter(({ energy }) => energy.boundary !== null);
  const heads = [
    'Cell',
    'Gross, J',
    'Net, J',
    'Net of the idle host, J',
    'Prefill, J',
    'Decode, J',
    'After the output, J',
    'Not split, J',
    'Phases are',
  ];
  return html`${table(
    'Gross, net and phases',
    heads,
    cells.map((cell) => phaseRow(results, cell)),
  )}${table(
    'Idle baselines',
    ['Cell', 'Baseline', 'Power, W', 'Length', 'Age', 'Drift'],
    cells.flatMap((cell) => baselineRows(results, cell)),
  )}`;
}
