import type { Binding } from './binding.js';
import { type Loaded, loaded } from './binding.js';
import { guard } from './native-source.js';
import { bindingOf } from './replay.js';

/** A device as NVIDIA's library shows it, with its energy counter (mJ) at both ends of a span. */
export type GpuTrace = Parameters<Binding['replayGpus']>[0][number];
/** Energy of every GPU in the total, and the devices that are left out. */
export type GpusBooking = ReturnType<Binding['replayGpus']>;
/** A whole number, or in one word why there is none. */
export type Decoded = ReturnType<Binding['decodeNvmlField']>;

/** Counts the energy of recorded NVIDIA devices as that of live ones. Throws `POWER_NO_SOURCE` without the addon. */
export function replayGpus(gpus: GpuTrace[], span_ns: number, addon: Loaded = loaded): GpusBooking {
  const binding = bindingOf(addon);
  return guard(() => binding.replayGpus(gpus, span_ns));
}

/** What an answer of NVIDIA's library to one field says: by its own status and type, out of the eight bytes of its value. */
export const decodeNvmlField = (
  answer: { readonly status: number; readonly kind: number; readonly value: Uint8Array },
  addon: Loaded = loaded,
): Decoded => bindingOf(addon).decodeNvmlField(answer.status, answer.kind, answer.value);

/** Counts of AMD SMI in µJ, `resolution_uj` each. */
export const decodeAmdsmiEnergy = (count: bigint, resolution_uj: number, addon: Loaded = loaded): Decoded =>
  bindingOf(addon).decodeAmdsmiEnergy(count, resolution_uj);
