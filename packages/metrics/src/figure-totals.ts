import type { CellFacts, RepeatFacts } from './cell-facts.js';
import type { Energy } from './cell-intervals.js';
import type { RepeatTotals } from './cell-sampling.js';
import type { CellEnergy } from './cell-types.js';
import type { EnergyDetail } from './energy-detail.js';
import { evaluate, type Formula, symbolPowers, type TotalSymbol, type Totals } from './formula.js';
import type { EnergyKind } from './metric-definitions.js';
import type { TokenTotals } from './tokens.js';

const seconds = (ns: number): number => ns / 1e9;

const tokenSymbols = ({ output, prompt, all, decoded }: TokenTotals): Totals => ({
  O: output,
  I: prompt,
  K: all,
  O_dec: decoded,
});

/** Totals of a cell by symbol, energy aside. */
export const totalsOfCell = ({
  accuracy,
  completed,
  queries,
  energy,
  tokens,
  steady,
}: CellFacts): Totals => ({
  A: accuracy.value,
  A_c: completed.value,
  N: queries,
  T: seconds(energy.busy_ns),
  T_w: seconds(energy.window_ns),
  T_s: seconds(steady.length_ns),
  O_s: steady.tokens,
  ...tokenSymbols(tokens),
});

/** Totals of one repeat by symbol, energy aside. */
export const totalsOfRepeat = ({ accuracy, queries, energy, tokens }: RepeatFacts): Totals => ({
  A: accuracy,
  N: queries,
  T: seconds(energy.busy_ns),
  ...tokenSymbols(tokens),
});

/** The same in the order of `repeatTotalNames`. */
export const repeatTotals = ({
  accuracy,
  scored,
  queries,
  energy,
  host,
  phases,
  tokens,
}: RepeatFacts): RepeatTotals => [
  accuracy === null ? null : accuracy * scored,
  scored,
  queries,
  seconds(energy.busy_ns),
  energy.gross_j,
  energy.net_j,
  tokens.output,
  tokens.all,
  host.net_j,
  tokens.prompt,
  phases.prefill_j,
  phases.decode_j,
  tokens.decoded,
];

interface Booked {
  readonly value: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly reason: string | null;
  readonly resolved: boolean;
}

const grossOf = (own: CellEnergy): Booked => ({
  value: own.gross_j,
  lo: own.gross_lo_j,
  hi: own.gross_hi_j,
  reason: own.reason,
  resolved: own.gross_j !== 0,
});

const netOf = (own: CellEnergy): Booked => ({
  value: own.net_j,
  lo: own.net_lo_j,
  hi: own.net_hi_j,
  reason: own.net_reason,
  resolved: own.net_resolved,
});

const netHostOf = (own: EnergyDetail): Booked => ({
  value: own.net_host_j,
  lo: own.net_host_lo_j,
  hi: own.net_host_hi_j,
  reason: own.net_host_reason,
  resolved: own.net_host_resolved,
});

function phaseOf({ phases, reason }: EnergyDetail['phases'], phase: 'prefill' | 'decode'): Booked {
  const own = phases?.[phase];
  if (own === undefined || own.calls === 0)
    return { value: null, lo: null, hi: null, reason: reason ?? 'no_call_has_it', resolved: false };
  return { value: own.energy_j, lo: own.lo_j, hi: own.hi_j, reason: null, resolved: own.energy_j !== 0 };
}

function told({ value, lo, hi, reason, resolved }: Booked, kind: EnergyKind): Energy | string {
  if (value === null || lo === null || hi === null) return reason ?? 'no_power';
  const unresolved = resolved ? null : kind === 'gross' ? 'no_energy' : 'net_not_resolved';
  return { value, lo, hi, unresolved };
}

/** Symbols that stand for energy. */
export const energySymbols = ['E', 'E_w', 'E_s', 'E_pre', 'E_dec'] as const satisfies readonly TotalSymbol[];
export type EnergySymbol = (typeof energySymbols)[number];

/** The energy that a symbol stands for in a metric of a kind, or why there is none. */
export function energyOf(
  { energy, window, steady, detail }: Pick<CellFacts, 'energy' | 'window' | 'steady' | 'detail'>,
  symbol: EnergySymbol,
  kind: EnergyKind,
): Energy | string {
  if (symbol === 'E_s') return steady.reason ?? told(grossOf(steady.energy), kind);
  if (symbol === 'E_w') return told(grossOf(window), kind);
  if (symbol === 'E_pre' || symbol === 'E_dec')
    return told(phaseOf(detail.phases, symbol === 'E_pre' ? 'prefill' : 'decode'), kind);
  if (kind === 'net_host') return told(netHostOf(detail), kind);
  return told(kind === 'gross' ? grossOf(energy) : netOf(energy), kind);
}

const phaseOfRepeat = (energy_j: number | null): Booked => ({
  value: energy_j,
  lo: energy_j,
  hi: energy_j,
  reason: 'no_call_has_it',
  resolved: energy_j !== 0,
});

/** The energy that a symbol stands for in one repeat, or why there is none; that of a phase without the sensor's bounds. */
export function energyOfRepeat(
  { energy, host, phases }: Pick<RepeatFacts, 'energy' | 'host' | 'phases'>,
  symbol: EnergySymbol,
  kind: EnergyKind,
): Energy | string {
  if (symbol === 'E_pre') return told(phaseOfRepeat(phases.prefill_j), kind);
  if (symbol === 'E_dec') return told(phaseOfRepeat(phases.decode_j), kind);
  if (symbol === 'E_w' || symbol === 'E_s') return 'not_by_repeat';
  return told(kind === 'gross' ? grossOf(energy) : netOf(kind === 'net' ? energy : host), kind);
}

type Powers = ReadonlyMap<TotalSymbol, number>;

function accuracyLacking(powers: Powers, { A: accuracy = null }: Totals): string | null {
  if (powers.has('A') && accuracy === null) return 'nothing_scored';
  return (powers.get('A') ?? 0) < 0 && accuracy === 0 ? 'nothing_correct' : null;
}

const tokenCounts: readonly TotalSymbol[] = ['O', 'I', 'K', 'O_dec', 'O_s'];

function tokensLacking(powers: Powers, totals: Totals, of: 'energy' | 'plain'): string | null {
  const counts = tokenCounts.filter((name) => powers.has(name)).map((name) => totals[name] ?? null);
  if (counts.includes(null)) return 'tokens_unknown';
  return of === 'energy' && counts.includes(0) ? 'no_tokens' : null;
}

const energyLacking = ({ unresolved, value }: Energy): string | null =>
  unresolved ?? (value < 0 ? 'net_negative' : null);

/** Why a formula can't be told although the energy in it is known; null when it can. */
export function lacking(
  formula: Formula,
  totals: Totals,
  energy: { readonly symbol: EnergySymbol; readonly own: Energy } | null,
): string | null {
  const powers = symbolPowers(formula);
  const over = energy !== null && (powers.get(energy.symbol) ?? 0) < 0;
  const reason =
    accuracyLacking(powers, totals) ??
    tokensLacking(powers, totals, energy === null ? 'plain' : 'energy') ??
    (over ? energyLacking(energy.own) : null);
  if (reason !== null) return reason;
  const whole = energy === null ? totals : { ...totals, [energy.symbol]: energy.own.value };
  return evaluate(formula, whole) === null ? 'no_busy_time' : null;
}
