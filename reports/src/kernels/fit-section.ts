import type { Provenance } from '@perwatt/core';
import type { FitCoefficient } from '@perwatt/records';
import { DASH, formatNumber, formatPercent, provenanceMark } from '../format.js';
import { type Html, html } from '../html.js';
import { breakable } from '../page-parts.js';
import { headsOf, printable, scrollTable } from '../site/site-parts.js';
import type { SweepFit } from './sweep-fits.js';

function coefficientCell({ value, half_width }: FitCoefficient, scale: number, mark: string): Html {
  if (half_width === null) return html`<td class="n">0<small>held there</small></td>`;
  return html`<td class="n">${mark}${formatNumber(value * scale)}<small>± ${formatNumber(half_width * scale, 2)}</small></td>`;
}

function fitRow({ fit: { fit, reason, dtype, implementation, scope, provenance }, name }: SweepFit): Html {
  const head = html`<th scope="row">${breakable(printable(name))}<small>${dtype}, ${breakable(printable(implementation))}</small></th>`;
  if (fit === null)
    return html`<tr>${head}<td colspan="5">${DASH}<small>no fit: ${printable(reason ?? 'no reason')}</small></td></tr>`;
  const mark = provenanceMark(provenance as Provenance | null);
  const worst = Math.max(...fit.residuals.map(({ ratio }) => Math.abs(ratio)));
  return html`<tr>${head}${coefficientCell(fit.flop_j, 1e12, mark)}${coefficientCell(fit.byte_j, 1e12, mark)}${coefficientCell(fit.constant_w, 1, mark)}<td class="n">${formatPercent(fit.rms_ratio)}<small>at most ${formatPercent(worst)}</small></td><td>${fit.points}<small>${printable(scope ?? 'unknown scope')}</small></td></tr>`;
}

/** Coefficients of the fits of all sweeps, or why there is none; nothing without a sweep. */
export function fitSection(fits: readonly SweepFit[]): Html {
  if (fits.length === 0) return html``;
  const heads = headsOf([
    'Sweep',
    '>Per FLOP|pJ, 95 %',
    '>Per byte|pJ, 95 %',
    '>Constant|W, 95 %',
    '>Residuals|root mean square',
    'Intensities|boundary',
  ]);
  return html`<section><h2>Energy by intensity: a fit</h2><p class="soft small">A fit, no constants of the hardware: gross energy of a launch = per FLOP × useful FLOP + per byte × compulsory bytes + watts × time, by least squares of relative errors without negative coefficients, over a sweep of multiply-adds on one vector that no cache holds. The work is done in 32 bits whatever the type in memory; a FLOP's share includes its instruction, registers and loop. The intervals know only the scatter about the fit, not the systematic error of the meter. <code>perwatt kernels fit</code> works it out again from the table.</p>${scrollTable(heads, fits.map(fitRow), { label: 'Fits of energy over intensity' })}</section>`;
}
