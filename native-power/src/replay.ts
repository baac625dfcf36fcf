import { PerwattError } from '@perwatt/core';
import { type Binding, buildFix, type Loaded, loaded } from './binding.js';
import { guard } from './native-source.js';

/** The numbers of one counter: µJ, exact below 2^53; undefined where there was none. */
export type CounterTrace = Parameters<Binding['replayCounter']>[0];
/** What a counter's numbers amount to. */
export type CounterBooking = ReturnType<Binding['replayCounter']>;
/** The readings of one power sensor: W; undefined where there was none. */
export type GaugeTrace = Parameters<Binding['replayGauge']>[0];
/** What the readings of a power sensor amount to. */
export type GaugeBooking = ReturnType<Binding['replayGauge']>;
/** One moment of a scripted tree: files, below its root, that hold something new by then. */
export type ScriptedMoment = Parameters<Binding['replaySource']>[2][number];
/** What a source made of a scripted tree. */
export type SourceBooking = ReturnType<Binding['replaySource']>;

/** Books the numbers of one counter by the rules that live ones go through. Throws `POWER_NO_SOURCE` without the addon. */
export const replayCounter = (trace: CounterTrace, addon: Loaded = loaded): CounterBooking =>
  bindingOf(addon).replayCounter(trace);

/** Books the readings of one power sensor by the rules that live ones go through. Throws `POWER_NO_SOURCE` without the addon. */
export const replayGauge = (trace: GaugeTrace, addon: Loaded = loaded): GaugeBooking =>
  bindingOf(addon).replayGauge(trace);

/** Opens a source on the tree under `root` and reads it at every moment, after that moment's writes. */
export function replaySource(
  source: string,
  { root, moments }: { readonly root: string; readonly moments: ScriptedMoment[] },
  addon: Loaded = loaded,
): SourceBooking {
  const binding = bindingOf(addon);
  return guard(() => binding.replaySource(source, root, moments));
}

/**
 * Why a source can't be opened on the tree under `root`, in one word; null when it can. `refusal` plays a kernel that
 * refuses the numbers of powercap.
 */
export const replayRefusal = (
  source: string,
  { root, refusal = null }: { readonly root: string; readonly refusal?: 'permission' | 'io' | null },
  addon: Loaded = loaded,
): string | null => bindingOf(addon).replayRefusal(source, root, refusal);

/** What is known of one of Apple's energy channels, by its name and unit; null for a part of a total, or an unknown unit. */
export const ioreportChannel = (
  { name, unit }: { readonly name: string; readonly unit: string },
  addon: Loaded = loaded,
): ReturnType<Binding['ioreportChannel']> => bindingOf(addon).ioreportChannel(name, unit);

/** The addon; throws `POWER_NO_SOURCE` without it. */
export function bindingOf({ binding, problem }: Loaded): Binding {
  if (binding !== null) return binding;
  throw new PerwattError('POWER_NO_SOURCE', problem, { hint: `Build it with \`${buildFix}\`.` });
}
