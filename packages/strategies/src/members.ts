import { PerwattError } from '@perwatt/core';

/** The endpoint of each of `count` members: one for all of them, or one each. */
export function memberEndpoints(strategy: string, names: readonly string[], count: number): string[] {
  if (names.length !== 1 && names.length !== count)
    throw new PerwattError(
      'INPUT_INVALID',
      `strategy "${strategy}": ${names.length} endpoints for ${count} members; name one for all or one for each`,
    );
  return Array.from({ length: count }, (_, i) => names[i] ?? names[0] ?? 'main');
}

/** `values` in a random order; draws one number for each but the first. */
export function shuffled<T>(values: readonly T[], rng: () => number): T[] {
  const out = [...values];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(rng() * (i + 1));
    const [a, b] = [out[i], out[j]];
    if (a === undefined || b === undefined) continue;
    [out[i], out[j]] = [b, a];
  }
  return out;
}
