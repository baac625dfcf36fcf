import type { ChannelColumns, SampleColumns } from '@perwatt/core';

type NumberArray = Float64Array | BigInt64Array | Uint8Array | Uint16Array;

/** One array after another, in a new one of the same kind. */
function joined<A extends NumberArray>(parts: readonly A[], make: (length: number) => A): A {
  const out = make(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part as never, at);
    at += part.length;
  }
  return out;
}

const floats = (parts: readonly Float64Array[]) => joined(parts, (n) => new Float64Array(n));
const bigs = (parts: readonly BigInt64Array[]) => joined(parts, (n) => new BigInt64Array(n));
const bytes = (parts: readonly Uint8Array[]) => joined(parts, (n) => new Uint8Array(n));
const words = (parts: readonly Uint16Array[]) => joined(parts, (n) => new Uint16Array(n));

/** What several drains handed over, as one would have. */
export function joinSamples(parts: readonly SampleColumns[]): SampleColumns {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  return {
    at_ns: bigs(parts.map((p) => p.at_ns)),
    read_ns: floats(parts.map((p) => p.read_ns)),
    domain: words(parts.map((p) => p.domain)),
    raw: bigs(parts.map((p) => p.raw)),
    raw_valid: bytes(parts.map((p) => p.raw_valid)),
    event: bytes(parts.map((p) => p.event)),
    booked_energy_j: floats(parts.map((p) => p.booked_energy_j)),
    booked_lo_j: floats(parts.map((p) => p.booked_lo_j)),
    booked_hi_j: floats(parts.map((p) => p.booked_hi_j)),
    power_w: floats(parts.map((p) => p.power_w)),
    power_valid: bytes(parts.map((p) => p.power_valid)),
  };
}

/** What several drains of channels handed over, as one would have. */
export const joinChannels = (parts: readonly ChannelColumns[]): ChannelColumns => ({
  at_ns: bigs(parts.map((p) => p.at_ns)),
  channel: words(parts.map((p) => p.channel)),
  value: floats(parts.map((p) => p.value)),
  value_valid: bytes(parts.map((p) => p.value_valid)),
  text: parts.flatMap((p) => p.text),
  missing_reason: parts.flatMap((p) => p.missing_reason),
});
