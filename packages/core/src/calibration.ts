import * as z from 'zod';
import { type Domain, type PowerSource, provenances, type Recorder } from './power.js';

/** Version of the calibration file's format. */
export const CALIBRATION_FORMAT = 'perwatt-calibration/1';

const number = z.number();
const ratio = z.number().min(0);

/** A source held against a better meter: reference = offset + scale × source. Intervals of 95 %. */
export const Calibration = z.strictObject({
  format: z.literal(CALIBRATION_FORMAT),
  /** When it was made, ISO 8601, UTC. */
  date: z.iso.datetime(),
  /** Host that the source was read on; it says nothing of another one. */
  host: z.string().min(1),
  perwatt_version: z.string(),
  /** The source, and the domains that make up its total. */
  source: z.string().min(1),
  domains: z.array(z.string()).min(1),
  against: z.strictObject({
    source: z.string().min(1),
    domains: z.array(z.string()).min(1),
    provenance: z.enum(provenances),
    /** Declared error of the reference, which no calibration against it can go below; null when it declares none. */
    scale_error_ratio: ratio.nullable(),
  }),
  /** How far the reference was behind, ns. */
  lag_ns: number,
  n: z.int().min(1),
  scale: z.number().positive(),
  scale_lo: number,
  scale_hi: number,
  offset_w: number,
  offset_lo_w: number,
  offset_hi_w: number,
  residual_sd_w: ratio,
  chi2_ratio: ratio,
  /** Error of the source's own numbers, as they are: |scale − 1| + half the interval + the reference's own. Bounds use it. */
  scale_error_ratio: ratio,
  /** Windows behind the fit: mean power and its standard deviation from the sensors' edges, W. */
  points: z.array(
    z.strictObject({ source_w: number, source_sd_w: ratio, reference_w: number, reference_sd_w: ratio }),
  ),
  /** sha256 of the rest, as canonical JSON. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a sha256 in hex'),
});
/** A calibration as it is stored. */
export type Calibration = z.infer<typeof Calibration>;

/** What a domain says of a calibration that its bounds use. */
export interface AppliedCalibration {
  readonly sha256: string;
  readonly date: string;
  readonly against: string;
  readonly scale: number;
  /** Told, never booked. */
  readonly offset_w: number;
}

/** The domain with the calibrated error in place of the declared one, and the label that says so; any other as it is. */
export function calibratedDomain(domain: Domain, calibration: Calibration): Domain {
  if (!calibration.domains.includes(domain.id)) return domain;
  const { sha256, date, against, scale, offset_w, scale_error_ratio } = calibration;
  return {
    ...domain,
    scale_error_ratio,
    calibration: { sha256, date, against: against.source, scale, offset_w },
  };
}

/** A recorder whose domains carry a calibration. What it reads is handed on as it is: booked joules never change. */
export const calibratedRecorder = <R extends Recorder>(recorder: R, calibration: Calibration): R => ({
  ...recorder,
  domains: recorder.domains.map((domain) => calibratedDomain(domain, calibration)),
});

/** A source whose recorders carry its calibration, if there is one for it. */
export function calibratedSource(source: PowerSource, calibrations: readonly Calibration[]): PowerSource {
  const own = calibrations.find((calibration) => calibration.source === source.name);
  if (own === undefined) return source;
  return { ...source, start: (options) => calibratedRecorder(source.start(options), own) };
}
