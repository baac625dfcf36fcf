import type { CatalogueAccelerator, CatalogueModel, NumberType } from '../catalogue/catalogue-schema.js';
import type { KvType } from '../flops/kv-bytes.js';
import type { WeightFormat } from '../flops/weight-bytes.js';

/** Figures of one cell, as far as there are any. Everything left out or null is not checked. */
export interface PhysicsClaims {
  /** Output tokens a second over the window, all sequences together. */
  readonly decode_tokens_per_s?: number | null;
  /** Mean or shortest time to the first token of the prompt in `setup.prefill`, s. */
  readonly first_token_s?: number | null;
  /** Mean power over the window, W. */
  readonly mean_power_w?: number | null;
  /** Energy over the window at the sensor's upper bound, J. */
  readonly energy_hi_j?: number | null;
  /** Length of the window that power and energy are of, s. */
  readonly window_s?: number | null;
}

/** How a cell ran. What isn't known is left out; every check then takes the choice that allows most, or stays silent. */
export interface PhysicsSetup {
  readonly model: CatalogueModel | null;
  readonly accelerator: CatalogueAccelerator | null;
  /** Storage of the weights. */
  readonly weights?: WeightFormat | null;
  readonly kv_type?: KvType;
  /** Most sequences decoded together. Default 1. */
  readonly batch?: number;
  /** Tokens accepted for each pass, more than 1 when speculating. Default 1. */
  readonly accepted_per_pass?: number;
  /** Shortest context of any sequence in the window, tokens. Default 0: no cache is counted. */
  readonly shortest_context?: number;
  /** Leading tokens that all sequences share, whose cache may be read once for all. Default 0. */
  readonly shared_context?: number;
  /** Devices that work together. Default 1. */
  readonly devices?: number;
  /** How they share. Default `tensor`, which allows most. */
  readonly parallel?: 'tensor' | 'pipeline';
  /** Types that the engine may multiply in, whatever the weights are stored as. Default: every type the device has. */
  readonly compute_types?: readonly NumberType[];
  /**
   * Fastest rate of one device, FLOP/s, in place of the catalogue's: for types that it doesn't list, such as INT4, and for
   * sparse weights.
   */
  readonly peak_flop_per_s?: number | null;
  /** The prompt whose first token is claimed. */
  readonly prefill?: { readonly tokens: number; readonly cached?: number };
  /** Limit in force on one device, W; in place of the catalogue's. */
  readonly power_limit_w?: number | null;
  /** Whether the meter covers what the limit covers. Default false: power is then not checked. */
  readonly same_boundary?: boolean;
  /** Lowest idle power of the boundary at the sensor's lower bound, W. */
  readonly idle_lo_w?: number | null;
}
