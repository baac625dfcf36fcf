/** What the power of all these files covers. */
export const board = {
  devices: 1,
  scope: 'gpu',
  boundary: 'one GPU board, ten readings a second; gross, though the source speaks of net',
  window: 'unknown',
} as const;

const NEAR = 0.002;
const ROUNDED = 0.02;

/** How a published energy per token stands to watts over rate of the same row. */
export function roundingFlags(energy_j: number, power_w: number, tokensPerS: number): string[] {
  const off = Math.abs(power_w / tokensPerS / energy_j - 1);
  if (off <= NEAR) return [];
  return [off <= ROUNDED ? 'rounded' : 'inconsistent'];
}
