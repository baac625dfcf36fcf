import * as z from 'zod';

/** From `lo` to `hi`, both ends possible. */
export interface AmountRange {
  readonly lo: number;
  readonly hi: number;
}

const amount = z.number().min(0);
const name = z.string().min(1);
/** A day, month or year, ISO 8601. */
const date = z.string().regex(/^\d{4}(-\d{2}(-\d{2})?)?$/, 'expected a date such as 2026-11-30');

/** Where a factor comes from: read at its publisher, read elsewhere, from memory, or given by the user. */
const Source = z.strictObject({
  citation: name,
  year: z.int().min(1990).max(2100),
  trust: z.enum(['publisher', 'secondary', 'memory', 'own']),
});

const ordered = <T extends { readonly lo: number; readonly hi: number }>(range: T) => range.lo <= range.hi;
const order = { message: 'lo is above hi' };
const Factor = z.strictObject({ lo: amount, hi: amount, source: name }).refine(ordered, order);
const Overhead = z
  .strictObject({ lo: z.number().min(1), hi: z.number().min(1), source: name })
  .refine(ordered, order);
const Tariff = z
  .strictObject({ lo: amount, hi: amount, currency: name, source: name })
  .refine(ordered, order);

const Region = z.strictObject({
  name,
  /** Location-based, g CO2e per kWh. */
  carbon_g_per_kwh: Factor,
  /** Water consumed in generating the electricity; the file's own figure where it is left out. */
  water_l_per_kwh: Factor.optional(),
  tariff_per_kwh: Tariff.optional(),
});

const shape = {
  factors_version: z.literal(1),
  id: name,
  date,
  note: z.string().optional(),
  sources: z.record(z.string(), Source),
  /** Power of the whole data centre over power of its computers. */
  pue: Overhead,
  /** Water used on site, per kWh of the computers. */
  wue_l_per_kwh: Factor,
  water_l_per_kwh: Factor,
  regions: z.record(z.string(), Region),
};

/** A dated file of factors, whole. */
export const FactorFile = z.strictObject(shape);
/** A dated file of factors, whole. */
export type FactorFile = z.infer<typeof FactorFile>;

/** A user's own factors: what is left out stays as shipped. */
export const OwnFactors = z.strictObject({
  ...shape,
  sources: shape.sources.default({}),
  pue: shape.pue.optional(),
  wue_l_per_kwh: shape.wue_l_per_kwh.optional(),
  water_l_per_kwh: shape.water_l_per_kwh.optional(),
  regions: shape.regions.default({}),
});

const Price = z.strictObject({
  model: name,
  provider: name,
  input_per_million: amount,
  output_per_million: amount,
  /** Prompt tokens served from a cache; null when they cost as much as others. */
  cached_input_per_million: amount.nullable().default(null),
  date,
  source: name,
});

/** A dated file of token prices, in one currency. */
export const PriceFile = z.strictObject({
  prices_version: z.literal(1),
  id: name,
  date,
  currency: name,
  note: z.string().optional(),
  sources: z.record(z.string(), Source).default({}),
  models: z.array(Price),
});
/** A dated file of token prices, in one currency. */
export type PriceFile = z.infer<typeof PriceFile>;
