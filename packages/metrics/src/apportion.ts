import { PerwattError } from '@perwatt/core';

/**
 * A total in whole nanojoules shared out in proportion to `shares`, by largest remainder; equal remainders go to the
 * earlier key. The parts sum to the total exactly.
 *
 * @param shares J, or any weights, none negative
 * @throws PerwattError for a share or total that is negative or not finite, and for a total with nothing to share it over
 */
export function apportionNanojoules(
  shares: ReadonlyMap<string, number>,
  total_j: number,
): Map<string, bigint> {
  const wrong = [total_j, ...shares.values()].find((value) => !(Number.isFinite(value) && value >= 0));
  if (wrong !== undefined) {
    throw new PerwattError('INPUT_INVALID', `energy ${wrong} J cannot be shared out`, {
      hint: 'Pass energies that are finite and not negative.',
    });
  }
  const sum = [...shares.values()].reduce((acc, share) => acc + share, 0);
  const total = BigInt(Math.round(total_j * 1e9));
  if (sum === 0 && total > 0n) {
    throw new PerwattError('INPUT_INVALID', `${total_j} J have no share to go to`, {
      hint: 'Pass at least one share above 0.',
    });
  }
  const weights = [...shares].map(([key, share]) => ({
    key,
    weight: BigInt(Math.round(sum === 0 ? 0 : (share / sum) * 2 ** 60)),
  }));
  const all = weights.reduce((acc, { weight }) => acc + weight, 0n) || 1n;
  const quotas = weights.map(({ key, weight }) => ({
    key,
    whole: (weight * total) / all,
    rest: (weight * total) % all,
  }));
  const left = Number(total - quotas.reduce((acc, { whole }) => acc + whole, 0n));
  const favoured = quotas.toSorted((a, b) => (a.rest > b.rest ? -1 : Number(a.rest < b.rest))).slice(0, left);
  const extra = new Set(favoured.map(({ key }) => key));
  return new Map(quotas.map(({ key, whole }) => [key, whole + (extra.has(key) ? 1n : 0n)]));
}
