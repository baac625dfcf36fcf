import { CALIBRATION_FORMAT, type Calibration, type Domain, type Recorder } from '@perwatt/core';
import type { MetersCompared } from './calibrate-meters.js';
import { sealed } from './calibration-store.js';
import { figure } from './figure.js';
import type { KeptSamples } from './power-series.js';

export interface About {
  readonly own: KeptSamples;
  readonly better: KeptSamples;
  readonly host: string;
  readonly date: Date;
  readonly version: string;
}

/** What two meters came to, as it is stored. */
export function calibrationOf(
  compared: MetersCompared,
  { own, better, host, date, version }: About,
): Calibration {
  const { fit, points, lag_ns, source_domains, reference_domains } = compared;
  const references = better.recorder.domains.filter(({ id }) => reference_domains.includes(id));
  const declared = references.flatMap(({ scale_error_ratio }) => scale_error_ratio ?? []);
  const scale_error_ratio = declared.length === 0 ? null : Math.max(...declared);
  return sealed({
    format: CALIBRATION_FORMAT,
    date: date.toISOString(),
    host,
    perwatt_version: version,
    source: own.recorder.source,
    domains: [...source_domains],
    against: {
      source: better.recorder.source,
      domains: [...reference_domains],
      provenance: references[0]?.provenance ?? 'external',
      scale_error_ratio,
    },
    lag_ns,
    ...fit,
    scale_error_ratio:
      Math.abs(fit.scale - 1) + (fit.scale_hi - fit.scale_lo) / 2 + fit.scale * (scale_error_ratio ?? 0),
    points: [...points],
  });
}

/** A ratio for people. */
export const percent = (ratio: number | null): string =>
  ratio === null ? 'none' : `${figure(ratio * 100, 3)} %`;

/** A calibration for people, beside what the source declared before. */
export function calibrationLines(calibration: Calibration, recorder: Pick<Recorder, 'domains'>): string[] {
  const { source, against, domains, scale, offset_w } = calibration;
  const watts = (value: number) => figure(value, 3);
  const declared = recorder.domains
    .filter(({ id }) => domains.includes(id))
    .map((d) => percent(d.scale_error_ratio));
  return [
    `${source} against ${against.source} (${against.provenance})`,
    `scale   ${figure(scale, 4)} (${figure(calibration.scale_lo, 4)}..${figure(calibration.scale_hi, 4)})`,
    `offset  ${watts(offset_w)} W (${watts(calibration.offset_lo_w)}..${watts(calibration.offset_hi_w)} W): told, never booked`,
    `${calibration.n} windows, ${watts(calibration.residual_sd_w)} W about the line, the reference ${figure(calibration.lag_ns / 1e9, 3)} s behind`,
    `error of ${source} in bounds: ${percent(calibration.scale_error_ratio)}, before: ${[...new Set(declared)].join(', ')}; the reference's own: ${percent(against.scale_error_ratio)}`,
  ];
}

/** Which bounds a calibration stands behind, for people; empty where none does. */
export function appliedLines(domains: readonly Domain[]): string[] {
  const texts = domains.flatMap(({ source, calibration }) =>
    calibration === undefined
      ? []
      : [
          `bounds of ${source} use its calibration against ${calibration.against} on ${calibration.date.slice(0, 10)}`,
        ],
  );
  return [...new Set(texts)];
}
