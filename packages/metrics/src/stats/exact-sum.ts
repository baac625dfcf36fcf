/** Bits of one limb. */
const LIMB = 32;
const LIMB_SIZE = 2 ** LIMB;
/** Limbs for every finite double (2098 bits) and 2⁶⁴ of them. */
const LIMBS = 68;
/** Terms between two rounds of carrying: far fewer than make a limb's sum of 33-bit chunks round (2²⁰). */
const TERMS_PER_CARRY = 2 ** 18;

/**
 * A sum of doubles without rounding: every partition of the terms, in any order, has the same bytes. Kept as a fixed-point
 * number over the whole range of doubles, after the superaccumulator of Kulisch.
 */
export interface ExactSum {
  /** Adds one number. One that isn't finite makes the sum NaN for good. */
  readonly add: (value: number) => void;
  /** Adds all that another sum has; that one stays as it is. */
  readonly merge: (other: ExactSum) => void;
  /** The sum, rounded once to the nearest double. */
  readonly value: () => number;
  /** The limbs after carrying, for `merge`; null when the sum is NaN. */
  readonly limbs: () => Float64Array | null;
}

/** Carries between limbs so that each lies in [0, 2³²), but for the last, which has the sign. */
function carry(limbs: Float64Array): void {
  let over = 0;
  for (let i = 0; i < LIMBS - 1; i++) {
    const total = (limbs[i] ?? 0) + over;
    over = Math.floor(total / LIMB_SIZE);
    limbs[i] = total - over * LIMB_SIZE;
  }
  limbs[LIMBS - 1] = (limbs[LIMBS - 1] ?? 0) + over;
}

const bits = new DataView(new ArrayBuffer(8));

/** ± 1 × a whole number of units of 2⁻¹⁰⁷⁴, in limbs from `at`: three chunks of 32 bits. */
function addChunks(limbs: Float64Array, value: number): void {
  bits.setFloat64(0, value);
  const head = bits.getUint32(0);
  const low = bits.getUint32(4);
  const exponent = (head >>> 20) & 0x7ff;
  const high = (head & 0xfffff) | (exponent === 0 ? 0 : 0x100000);
  const place = exponent === 0 ? 0 : exponent - 1;
  const at = place >>> 5;
  const shift = place & 31;
  const sign = head >>> 31 === 0 ? 1 : -1;
  const above = (word: number) => (shift === 0 ? 0 : word >>> (LIMB - shift));
  limbs[at] = (limbs[at] ?? 0) + sign * ((low << shift) >>> 0);
  limbs[at + 1] = (limbs[at + 1] ?? 0) + sign * (above(low) + ((high << shift) >>> 0));
  limbs[at + 2] = (limbs[at + 2] ?? 0) + sign * above(high);
}

/**
 * The nearest double of limbs after carrying. Up to 53 bits are exact; of more, the top 64 with a sticky last bit are
 * rounded once and scaled, which is exact for they lie in the normal range.
 */
function rounded(limbs: Float64Array): number {
  let total = 0n;
  for (let i = LIMBS - 1; i >= 0; i--) total = (total << 32n) + BigInt(limbs[i] ?? 0);
  const size = total < 0n ? -total : total;
  const drop = Math.max(size.toString(2).length - 64, 0);
  const top = size >> BigInt(drop);
  const sticky = top << BigInt(drop) === size ? top : top | 1n;
  const half = (drop - 1074) >> 1;
  const scaled = Number(sticky) * 2 ** half * 2 ** (drop - 1074 - half);
  return total < 0n ? -scaled : scaled;
}

/** An exact sum of nothing yet. */
export function createExactSum(): ExactSum {
  const limbs = new Float64Array(LIMBS);
  let terms = 0;
  let broken = false;
  const counted = () => {
    terms += 1;
    if (terms < TERMS_PER_CARRY) return;
    carry(limbs);
    terms = 0;
  };
  const settled = () => {
    carry(limbs);
    terms = 0;
    return limbs;
  };
  return {
    add: (value) => {
      if (!Number.isFinite(value)) broken = true;
      else if (value !== 0) {
        addChunks(limbs, value);
        counted();
      }
    },
    merge: (other) => {
      const more = other.limbs();
      if (more === null) broken = true;
      else {
        for (let i = 0; i < LIMBS; i++) limbs[i] = (limbs[i] ?? 0) + (more[i] ?? 0);
        settled();
      }
    },
    value: () => (broken ? Number.NaN : rounded(settled())),
    limbs: () => (broken ? null : settled()),
  };
}
