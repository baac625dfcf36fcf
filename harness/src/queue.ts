/** A claim on one cell. It is the holder's until it completes, fails or lets the lease run out. */
export interface Lease<T> {
  readonly id: string;
  readonly value: T;
  /** How often the value had been handed out before: above 0 its work may have been begun by another. */
  readonly deliveries: number;
}

/**
 * Where a worker takes its cells from. Delivery is at least once: the same cell may come again after a worker died, so
 * work must be safe to repeat (rows carry ids that are skipped when already present).
 */
export interface Queue<T> {
  enqueue(id: string, value: T): Promise<void>;
  /** The next value, or null when nothing is left. */
  claim(): Promise<Lease<T> | null>;
  heartbeat(lease: Lease<T>): Promise<void>;
  complete(lease: Lease<T>): Promise<void>;
  /** Gives the value up. With `again` it is handed out once more, after the others. */
  fail(lease: Lease<T>, options?: { readonly again: boolean }): Promise<void>;
}

interface Entry<T> {
  readonly id: string;
  readonly value: T;
  deliveries: number;
  state: 'waiting' | 'claimed' | 'ended';
}

/** A queue in memory, first in, first out. What it held is planned anew from the run folder after a crash. */
export function localQueue<T>(): Queue<T> {
  const entries: Entry<T>[] = [];
  const held = (lease: Lease<T>) => {
    const entry = entries.find((e) => e.id === lease.id && e.state === 'claimed');
    if (entry === undefined) throw new Error(`lease ${lease.id} is not held`);
    return entry;
  };
  return {
    async enqueue(id, value) {
      if (entries.some((e) => e.id === id && e.state !== 'ended')) return;
      entries.push({ id, value, deliveries: 0, state: 'waiting' });
    },
    async claim() {
      const entry = entries.find((e) => e.state === 'waiting');
      if (entry === undefined) return null;
      entry.state = 'claimed';
      entry.deliveries += 1;
      return { id: entry.id, value: entry.value, deliveries: entry.deliveries - 1 };
    },
    async heartbeat(lease) {
      held(lease);
    },
    async complete(lease) {
      held(lease).state = 'ended';
    },
    async fail(lease, options) {
      const entry = held(lease);
      entry.state = 'ended';
      if (options?.again) entries.push({ ...entry, state: 'waiting' });
    },
  };
}
