import { fc, test as property } from '@fast-check/vitest';
import type { EnergyFit, FitCoefficient } from '@perwatt/records';
import { describe, expect, test } from 'vitest';
import { type FitPoint, fitEnergy, fittedEnergy } from './fit-energy.js';

const FLOP_J = 0.5e-12;
const BYTE_J = 20e-12;
const CONSTANT_W = 60;

/** A generator of numbers in [0, 1) that gives the same each time. */
function drawing(seed: number): () => number {
  let state = seed * 2_654_435_761 + 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** A sweep of a device with a ridge at 16 FLOP/byte: intensities 1/4 to 256, with a relative noise. */
function sweep(noise = 0, seed = 1): FitPoint[] {
  const draw = drawing(seed);
  for (let i = 0; i < 10; i++) draw();
  return Array.from({ length: 11 }, (_, step) => {
    const bytes = 1e9;
    const flop = (bytes * 2 ** step) / 4;
    const duration_s = Math.max(flop / 16e12, bytes / 1e12) + flop / 400e12;
    const energy_j =
      (FLOP_J * flop + BYTE_J * bytes + CONSTANT_W * duration_s) * (1 + noise * (draw() - 0.5));
    return { flop, bytes, duration_s, energy_j };
  });
}

function fitOf(points: readonly FitPoint[]): EnergyFit {
  const { fit, reason } = fitEnergy(points);
  if (fit === null) throw new Error(reason);
  return fit;
}

const covers = ({ value, half_width }: FitCoefficient, truth: number): boolean =>
  half_width !== null && Math.abs(value - truth) <= half_width;

describe('a fit', () => {
  test('of an exact sweep gives its coefficients back', () => {
    const fit = fitOf(sweep());
    expect(fit.flop_j.value / FLOP_J).toBeCloseTo(1, 6);
    expect(fit.byte_j.value / BYTE_J).toBeCloseTo(1, 6);
    expect(fit.constant_w.value / CONSTANT_W).toBeCloseTo(1, 6);
    expect(fit.rms_ratio).toBeLessThan(1e-9);
    expect(fit).toMatchObject({ label: 'fit', points: 11 });
    expect(fit.residuals.map(({ flop_per_byte }) => flop_per_byte).slice(0, 3)).toEqual([0.25, 0.5, 1]);
    for (const point of sweep()) expect(fittedEnergy(fit, point) / point.energy_j).toBeCloseTo(1, 6);
  });

  test('has intervals that cover the truth about as often as they say', () => {
    const fits = Array.from({ length: 400 }, (_, seed) => fitOf(sweep(0.04, seed)));
    const share = (covered: (fit: EnergyFit) => boolean) => fits.filter(covered).length / fits.length;
    for (const covered of [
      share(({ flop_j }) => covers(flop_j, FLOP_J)),
      share(({ byte_j }) => covers(byte_j, BYTE_J)),
      share(({ constant_w }) => covers(constant_w, CONSTANT_W)),
    ]) {
      expect(covered).toBeGreaterThan(0.88);
      expect(covered).toBeLessThan(0.99);
    }
  });

  test('holds what would be negative at 0, without an interval', () => {
    const falling = sweep().map((point) => ({
      ...point,
      energy_j: point.energy_j - 2 * FLOP_J * point.flop,
    }));
    expect(fitOf(falling).flop_j).toEqual({ value: 0, half_width: null });
  });

  test('gives residuals of the size of what the model leaves out', () => {
    const points = sweep().map((point, i) =>
      i === 4 ? { ...point, energy_j: 1.2 * point.energy_j } : point,
    );
    const { residuals } = fitOf(points);
    const worst = residuals.toSorted((a, b) => Math.abs(b.ratio) - Math.abs(a.ratio))[0];
    expect(worst?.flop_per_byte).toBe(4);
    expect(worst?.ratio).toBeLessThan(-0.08);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [sweep().slice(0, 7),                                       '7 intensities have energy, and a fit needs 8',   'too few'],
  [[...sweep().slice(0, 7), ...sweep().slice(0, 7)],          '7 intensities have energy, and a fit needs 8',   'repeats are no further intensities'],
  [[],                                                        '0 intensities have energy, and a fit needs 8',   'none at all'],
  [sweep().map((point) => ({ ...point, energy_j: Number.NaN })), 'a point is not made of numbers above 0',      'no number'],
  [sweep().map((point) => ({ ...point, energy_j: 0 })),       'a point is not made of numbers above 0',         'no energy'],
] as const)('%# is refused: %s', (points, message, _why) => {
  const { fit, reason } = fitEnergy(points);
  expect(fit).toBeNull();
  expect(reason).toContain(message);
});

property.prop([fc.array(fc.double({ min: 0.2, max: 5, noNaN: true }), { minLength: 11, maxLength: 11 })])(
  'has no negative coefficient and no less scatter than the best one of a single term, whatever the energies',
  (factors) => {
    const points = sweep().map((point, i) => ({ ...point, energy_j: point.energy_j * (factors[i] ?? 1) }));
    const { flop_j, byte_j, constant_w, rms_ratio } = fitOf(points);
    for (const { value, half_width } of [flop_j, byte_j, constant_w]) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(half_width === null || half_width >= 0).toBe(true);
    }
    const single = (of: (point: FitPoint) => number) => {
      const xs = points.map((point) => of(point) / point.energy_j);
      const slope = xs.reduce((sum, x) => sum + x, 0) / xs.reduce((sum, x) => sum + x * x, 0);
      return Math.sqrt(xs.reduce((sum, x) => sum + (slope * x - 1) ** 2, 0) / xs.length);
    };
    const best = Math.min(
      single(({ flop }) => flop),
      single(({ bytes }) => bytes),
      single((point) => point.duration_s),
    );
    expect(rms_ratio).toBeLessThanOrEqual(best * (1 + 1e-9));
  },
);
