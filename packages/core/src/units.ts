declare const unit: unique symbol;
type Quantity<U extends string> = number & { readonly [unit]: U };

/** Energy in joules (J). */
export type Joules = Quantity<'J'>;
/** Power in watts (W), i.e. joules per second. */
export type Watts = Quantity<'W'>;
/** A span of time in nanoseconds (ns). Exact as a number up to 104 days. */
export type Nanos = Quantity<'ns'>;
/** A point on the run's monotonic clock, in nanoseconds (ns). Comparable only within one run. */
export type Instant = bigint & { readonly [unit]: 'instant_ns' };

/** Brands of plain numbers: each says what the number already is and converts nothing. */
export const joules = (value: number) => value as Joules;
export const watts = (value: number) => value as Watts;
export const nanos = (value: number) => value as Nanos;
export const instant = (value: bigint) => value as Instant;

/** The span from `start` to `end`; negative when `end` comes first. */
export const elapsed = (start: Instant, end: Instant): Nanos => nanos(Number(end - start));

/** Mean power (W) of `energy` (J) spent over `span` (ns). */
export const meanPower = (energy: Joules, span: Nanos): Watts => watts((energy / span) * 1e9);
