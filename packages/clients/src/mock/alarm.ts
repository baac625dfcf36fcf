/** Runs things at their times with one timer: what is due is drained at once, in order of its time. */
export interface Alarm {
  /** Calls `run` at `at_ms` of the clock, or as soon after it as the event loop allows. */
  at(at_ms: number, run: () => void): void;
  /** Forgets everything. */
  stop(): void;
}

interface Entry {
  readonly at_ms: number;
  readonly run: () => void;
}

/** @param nowMs the clock, ms with fractions */
export function createAlarm(nowMs: () => number): Alarm {
  const heap: Entry[] = [];
  let timer: NodeJS.Timeout | null = null;
  let wakes_ms = Number.POSITIVE_INFINITY;

  const set = () => {
    const first = heap[0];
    if (first === undefined || first.at_ms >= wakes_ms) return;
    if (timer !== null) clearTimeout(timer);
    wakes_ms = first.at_ms;
    timer = setTimeout(drain, Math.max(0, first.at_ms - nowMs()));
  };
  const drain = () => {
    wakes_ms = Number.POSITIVE_INFINITY;
    timer = null;
    const now = nowMs();
    for (let first = heap[0]; first !== undefined && first.at_ms <= now; first = heap[0]) {
      pop(heap);
      first.run();
    }
    set();
  };

  return {
    at(at_ms, run) {
      push(heap, { at_ms, run });
      set();
    },
    stop() {
      heap.length = 0;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

const timeOf = (heap: readonly Entry[], i: number): number => heap[i]?.at_ms ?? Number.POSITIVE_INFINITY;

function push(heap: Entry[], entry: Entry): void {
  let i = heap.push(entry) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (timeOf(heap, parent) <= entry.at_ms) break;
    heap[i] = heap[parent] as Entry;
    i = parent;
  }
  heap[i] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let i = 0;
  for (;;) {
    const left = 2 * i + 1;
    const child = timeOf(heap, left + 1) < timeOf(heap, left) ? left + 1 : left;
    if (child >= heap.length || timeOf(heap, child) >= last.at_ms) break;
    heap[i] = heap[child] as Entry;
    i = child;
  }
  heap[i] = last;
}
