import type { MatrixFile, ThermalGate, WarmUpRule } from '@perwatt/core';

/** How long things are measured, and what a cell must reach to count as valid. Lengths in seconds. */
export interface Protocol {
  readonly repeats: number;
  /** Idle power before and after: the host without a model, and with the model loaded. */
  readonly baseline_s: number;
  /** Whether idle baselines are shared between cells (taken once per run and model) or taken for every cell. */
  readonly shared_baselines: boolean;
  readonly warmup_calls: number;
  /** Instead of that many calls: until throughput and power are stable. */
  readonly warm_up_rule?: WarmUpRule;
  /** A measured window below this flags the cell; 0 asks for nothing. */
  readonly min_window_s: number;
  readonly cooldown_s: number;
  /** Instead of that pause: until temperature and power are idle again. */
  readonly cool_down_gate?: ThermalGate;
  /** Relative drift between the baselines before and after above which the cell is flagged. */
  readonly drift_limit: number;
  /** Whether what flags a cell in other protocols makes it invalid here. */
  readonly strict: boolean;
}

/**
 * `quick` is for a first look and flags its cells. `standard` follows common practice: 30 s baselines, windows of at
 * least 60 s, three repeats. `strict` is for published comparisons: windows of at least 600 s and five repeats.
 */
export const protocols: Readonly<Record<MatrixFile['protocol'], Protocol>> = {
  quick: {
    repeats: 1,
    baseline_s: 3,
    shared_baselines: true,
    warmup_calls: 1,
    min_window_s: 0,
    cooldown_s: 0.5,
    drift_limit: 0.05,
    strict: false,
  },
  standard: {
    repeats: 3,
    baseline_s: 30,
    shared_baselines: false,
    warmup_calls: 3,
    min_window_s: 60,
    cooldown_s: 10,
    drift_limit: 0.05,
    strict: false,
  },
  strict: {
    repeats: 5,
    baseline_s: 60,
    shared_baselines: false,
    warmup_calls: 5,
    min_window_s: 600,
    cooldown_s: 30,
    drift_limit: 0.05,
    strict: true,
  },
};

/** The protocol of a matrix, with what the matrix says otherwise. */
export function protocolOf({ protocol, warm_up, cool_down }: MatrixFile): Protocol {
  return { ...protocols[protocol], ...warmUpOf(warm_up), ...coolDownOf(cool_down) };
}

function warmUpOf(warm_up: MatrixFile['warm_up']): Partial<Protocol> {
  if (warm_up === undefined) return {};
  return 'calls' in warm_up ? { warmup_calls: warm_up.calls } : { warm_up_rule: warm_up };
}

function coolDownOf(cool_down: MatrixFile['cool_down']): Partial<Protocol> {
  if (cool_down === undefined) return {};
  return 'seconds' in cool_down ? { cooldown_s: cool_down.seconds } : { cool_down_gate: cool_down };
}
