// The synthetic load: steps and ramps of power, whose energy is known exactly at every moment.

/** Length (s), power at its start and at its end (W). Repeats for ever. */
const SEGMENTS = [
  [0.6, 35, 35],
  [0.4, 35, 170],
  [1.1, 170, 170],
  [0.3, 60, 60],
  [0.7, 60, 140],
  [0.2, 190, 190],
  [0.5, 140, 35],
];
const LAP_S = SEGMENTS.reduce((sum, [length]) => sum + length, 0);
const LAP_J = SEGMENTS.reduce((sum, [length, from, to]) => sum + (length * (from + to)) / 2, 0);

/** Energy (J) drawn in the first `seconds` of the load. */
function drawn(seconds) {
  let left = seconds % LAP_S;
  let energy = Math.floor(seconds / LAP_S) * LAP_J;
  for (const [length, from, to] of SEGMENTS) {
    const span = Math.min(left, length);
    energy += span * (from + ((to - from) * span) / (2 * length));
    left -= span;
    if (left <= 0) break;
  }
  return energy;
}

/**
 * Energy (J) of a domain between its start and `at_ns`: the sum of its `loads`, each scaled, and shifted so that no two move
 * alike.
 */
export function energyOf(loads, { t0_ns, at_ns }) {
  const seconds = Number(at_ns - t0_ns) / 1e9;
  if (seconds <= 0) return 0;
  return loads.reduce(
    (sum, { scale, shift_s }) => sum + scale * (drawn(seconds + shift_s) - drawn(shift_s)),
    0,
  );
}
