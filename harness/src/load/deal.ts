/** What one of several workers takes of a load: every `step`-th call from `first` on, and at most `cap` at a time. */
export interface Share {
  readonly worker: number;
  readonly first: number;
  readonly step: number;
  /** Null for no limit. */
  readonly cap: number | null;
}

/**
 * A load dealt to workers: calls in turn, the cap in parts whose sum is the cap. A worker whose part is none has no calls;
 * with less room than workers the others share the calls.
 */
export function dealLoad(workers: number, cap: number | null): Share[] {
  const active = cap === null ? workers : Math.min(workers, cap);
  return Array.from({ length: workers }, (_, worker) => ({
    worker,
    first: worker < active ? worker : Number.POSITIVE_INFINITY,
    step: active,
    cap: cap === null ? null : Math.floor(cap / workers) + (worker < cap % workers ? 1 : 0),
  }));
}
