interface AxisEntry {
  readonly id?: string | undefined;
  readonly concurrency?: unknown;
  readonly arrivals?: { readonly kind: string; readonly rate_per_s?: number } | undefined;
}

/** The name of an axis value in tables. A load without a name is called after its concurrency, or its arrivals and their rate. */
export function axisId({ id, concurrency, arrivals }: AxisEntry): string {
  if (id !== undefined) return id;
  if (arrivals === undefined) return `c${String(concurrency)}`;
  return arrivals.rate_per_s === undefined ? arrivals.kind : `${arrivals.kind}-${arrivals.rate_per_s}`;
}
