import type { KernelRow, Provenance } from '@perwatt/core';
import { type Catalogue, shippedCatalogue } from '@perwatt/metrics';
import { DASH, formatJoules, formatNanos, formatNumber, formatPercent, provenanceMark } from '../format.js';
import { type Html, html } from '../html.js';
import { breakable } from '../page-parts.js';
import { figureBlock, figuresOf } from '../site/figure-block.js';
import type { SiteRun } from '../site/site-model.js';
import type { SitePage } from '../site/site-page.js';
import { headsOf, printable, scrollTable } from '../site/site-parts.js';
import { ceilingsSection } from './ceilings-section.js';
import { type ExplainedStep, explainedSteps } from './explained-steps.js';
import { fitBoundaries, fitFigure } from './fit-figure.js';
import { fitSection } from './fit-section.js';
import { boundariesOf, joulesFigure } from './joules-figure.js';
import { byDevice, type DeviceRows, type KernelSet, kernelSets, shapeOf, stepName } from './kernel-sets.js';
import { rooflineFigure } from './roofline-figure.js';
import { sweepFits } from './sweep-fits.js';

/** Kernels of the runs of a site: rooflines, joules, and what they explain of the measured times; null where none were run. */
export function kernelsPage(
  runs: readonly SiteRun[],
  catalogue: Catalogue = shippedCatalogue(),
): SitePage | null {
  const sets = kernelSets(runs);
  const devices = byDevice(sets);
  if (devices.length === 0) return null;
  const rooflines = devices.map((device, i) => ({ device, figure: rooflineFigure(device, `roofline-${i}`) }));
  const joules = boundariesOf(devices).flatMap((boundary, i) =>
    (['flop', 'byte'] as const).map((per) => ({
      boundary,
      per,
      figure: joulesFigure(boundary, per, `joules-${per}-${i}`),
    })),
  );
  const fits = sweepFits(sets);
  const fitted = fitBoundaries(fits).map((sweeps, i) => ({
    scope: sweeps[0]?.fit.scope ?? '',
    figure: fitFigure(sweeps, `fit-${i}`),
  }));
  return {
    id: 'kernels',
    title: 'Kernels',
    heading: 'Kernels that inference is made of',
    body: html`<p class="lead">How near the kernels of inference come to the measured ceilings of each device, what a FLOP and a byte cost, and how much of the measured times they explain.</p>
${tornNotes(sets)}
${explainedSection(explainedSteps(sets))}
${rooflines.map(({ device, figure }) => figureBlock(figure, { title: `Roofline: ${printable(device.name)}`, note: 'Each mark is one implementation of one kernel at one shape, open where it is a portable one. Dotted: the ceilings measured in the same session, the best copy or triad and the best GEMM of each type; a mark above them says that a ceiling was measured too low.' }))}
${ceilingsSection(devices, catalogue)}
${fitSection(fits)}
${fitted.map(({ scope, figure }) => figureBlock(figure, { title: `Energy by intensity: ${printable(scope)}`, note: 'Marks: gross energy of a launch over its compulsory bytes, with the interval of its windows. Dotted: the fit of the table above at the same FLOP, bytes and time, drawn from point to point.' }))}
${energySection(devices)}
${joules.map(({ boundary, per, figure }) => figureBlock(figure, { title: `Joules per ${per === 'flop' ? 'FLOP' : 'byte'}: ${boundary.scope}`, note: `Gross energy of the ${boundary.scope} over useful ${per === 'flop' ? 'FLOP; copies, triads and sweeps are left out, whose FLOP say nothing' : 'compulsory bytes; products of matrices, prefill and sweeps are left out, whose bytes say nothing'}. A ratio of a workload, no constant of the hardware.` }))}
${devices.map(rowsSection)}
${absentSection(sets)}`,
    figures: figuresOf(
      ...rooflines.map(({ figure }) => figure),
      ...fitted.map(({ figure }) => figure),
      ...joules.map(({ figure }) => figure),
    ),
  };
}

const tornNotes = (sets: readonly KernelSet[]): Html =>
  html`${sets.flatMap(({ torn }) => torn).map((text) => html`<p class="soft">${printable(text)}</p>`)}`;

const orDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? DASH : format(value);

const perSecond = (value: number | null): string => orDash(value, (rate) => formatNumber(rate));

const markOf = (provenance: string | null): string => provenanceMark(provenance as Provenance | null);

function explainedRow({ prediction, cell, ...measured }: ExplainedStep): Html {
  const { step, time_ns, lo_ns, hi_ns, kernels } = prediction;
  const missing = kernels.flatMap(({ kernel, time_ns: known }) => (known === null ? kernel.parts : []));
  const bounds = lo_ns === null || hi_ns === null ? '' : `${formatNanos(lo_ns)} … ${formatNanos(hi_ns)}`;
  const predicted =
    time_ns === null
      ? html`<td class="n">${DASH}<small>no time of ${missing.join(', ')}</small></td>`
      : html`<td class="n">${formatNanos(time_ns)}<small>${bounds}</small></td>`;
  const joules = prediction.energy_per_token_j;
  return html`<tr><th scope="row">${breakable(step.model)}<small>${stepName(step)}, on ${printable(prediction.device)}</small></th>${predicted}<td class="n">${orDash(measured.measured_ns, formatNanos)}</td><td class="n">${orDash(measured.explained_ratio, formatPercent)}</td><td class="n">${perSecond(prediction.tokens_per_s)}</td><td class="n">${perSecond(measured.measured_tokens_per_s)}</td><td class="n">${joules === null ? html`${DASH}<small>not measured</small>` : `${markOf(prediction.energy_provenance)}${formatJoules(joules)}`}</td><td class="n">${orDash(measured.measured_energy_per_token_j, (value) => `${markOf(measured.measured_provenance)}${formatJoules(value)}`)}</td><td>${cell === null ? 'no cell' : `${cell.point.dataset} · ${cell.point.strategy}`}</td></tr>`;
}

function explainedSection(steps: readonly ExplainedStep[]): Html {
  if (steps.length === 0) return html``;
  const heads = headsOf([
    'Step',
    '>Predicted|a step',
    '>Measured|median time per output token',
    '>Explained',
    '>Predicted|tokens/s',
    '>Measured|tokens/s',
    '>Predicted|J/token, kernels alone',
    '>Measured|J/token, prefill included',
    'Cell',
  ]);
  return html`<section><h2>What kernels explain</h2><p class="soft small">Predicted: launches times mean time, summed over the kernels of a step, the fastest implementation of each. Rotary embedding, residual sums, activations, sampling and starting kernels are in none of them. Above 100 % the kernels here are slower than those of the engine.</p>${scrollTable(heads, steps.map(explainedRow), { label: 'What kernels explain' })}${steps.map(partsTable)}</section>`;
}

/** What each kernel takes of a step. */
function partsTable({ prediction }: ExplainedStep): Html {
  const rows = prediction.kernels.map(
    ({ kernel, implementation, time_ns, share, energy_j }) =>
      html`<tr><th scope="row">${kernel.parts.join(', ')}<small>${kernel.kernel} ${kernel.dtype}</small></th><td class="n">${kernel.launches}</td><td class="n">${orDash(time_ns, formatNanos)}</td><td class="n">${orDash(share, formatPercent)}</td><td class="n">${orDash(energy_j, formatJoules)}</td><td>${implementation ?? DASH}</td></tr>`,
  );
  const heads = headsOf(['Part', '>Launches', '>Time|of all', '>Share', '>Energy|of all', 'Implementation']);
  return html`<details><summary>By kernel: ${stepName(prediction.step)}, on ${printable(prediction.device)}</summary>${scrollTable(heads, rows, { label: 'A step by kernel' })}</details>`;
}

/** Devices whose kernels have no energy, with the reason. */
function energySection(devices: readonly DeviceRows[]): Html {
  const lines = devices.flatMap(({ name, rows }) => {
    const timed = rows.filter(({ status }) => status === 'ok');
    if (timed.length === 0 || timed.some(({ energy_gross_j }) => energy_gross_j !== null)) return [];
    return [`${name}: ${timed[0]?.energy_reason ?? 'no reason'}`];
  });
  return lines.length === 0
    ? html``
    : html`<section><h2>Energy that was not measured</h2><ul>${lines.map((line) => html`<li>${printable(line)}</li>`)}</ul></section>`;
}

function coldCell({ cold_mean_ns, cold_lo_ns, cold_hi_ns, cold_reason }: KernelRow): Html {
  if (cold_mean_ns === null)
    return html`<td class="n">${DASH}<small>${printable(cold_reason ?? '')}</small></td>`;
  const bounds =
    cold_lo_ns === null || cold_hi_ns === null
      ? ''
      : `${formatNanos(cold_lo_ns)} … ${formatNanos(cold_hi_ns)}`;
  return html`<td class="n">${formatNanos(cold_mean_ns)}<small>${bounds}</small></td>`;
}

function kernelTableRow(row: KernelRow): Html {
  const { time_mean_ns: time, flop, bytes } = row;
  const per = (amount: number) => (time === null || amount === 0 ? DASH : formatNumber(amount / time));
  const bounds =
    row.time_lo_ns === null || row.time_hi_ns === null
      ? html``
      : html`<small>${formatNanos(row.time_lo_ns)} … ${formatNanos(row.time_hi_ns)}</small>`;
  const joules =
    row.energy_gross_j === null
      ? html`${DASH}<small>not measured</small>`
      : html`${markOf(row.energy_provenance)}${formatJoules(row.energy_gross_j)}`;
  const status = row.status === 'ok' ? (row.flags ?? 'ok') : `${row.status}: ${row.reason ?? ''}`;
  return html`<tr><th scope="row">${row.kernel} ${row.dtype}<small>${shapeOf(row)}</small></th><td>${breakable(printable(row.implementation))}</td><td class="n">${orDash(time, formatNanos)}${bounds}</td>${coldCell(row)}<td class="n">${per(flop)}</td><td class="n">${per(bytes)}</td><td class="n">${orDash(row.roofline_ratio, formatPercent)}</td><td class="n">${joules}</td><td class="n">${orDash(row.error_ratio, (error) => error.toExponential(0))}</td><td>${printable(status)}</td></tr>`;
}

function rowsSection({ name, rows }: DeviceRows): Html {
  const shown = rows.filter(({ status }) => status !== 'unsupported');
  const missing = rows.length - shown.length;
  const heads = headsOf([
    'Kernel',
    'Implementation',
    '>Time|95 % interval',
    '>Cold|one launch alone',
    '>GFLOP/s',
    '>GB/s',
    '>Of the roofline',
    '>Energy|a launch, gross',
    '>Error|relative',
    'Status',
  ]);
  const note =
    missing === 0 ? html`` : html`<p class="soft small">${missing} kernels that the device has not.</p>`;
  return html`<details><summary>All kernels: ${printable(name)}</summary>${scrollTable(heads, shown.map(kernelTableRow), { label: `Kernels of ${printable(name)}` })}${note}</details>`;
}

function absentSection(sets: readonly KernelSet[]): Html {
  const lines = sets.flatMap(({ sessions }) =>
    sessions.flatMap(({ absent }) => absent.map(({ backend, reason }) => `${backend}: ${reason}`)),
  );
  const texts = [...new Set(lines)];
  return texts.length === 0
    ? html``
    : html`<section><h2>Not run here</h2><ul>${texts.map((text) => html`<li>${printable(text)}</li>`)}</ul></section>`;
}
