import type { TurnLinks } from './turn-arrays.js';

export interface TurnTakeOptions {
  /** Number of the next conversation that nobody has begun; workers draw from one counter. */
  readonly nextConversation: () => number;
  /** Calls `action` after the think time; returns what takes it back. */
  readonly after: (action: () => void) => () => void;
  /** Whether there is a think time. */
  readonly think: boolean;
  /** Told when a turn is ready that was not. */
  readonly onReady: () => void;
}

/**
 * What a slot of a closed loop sends next: a turn whose parent has ended, else the first turn of a conversation that nobody
 * has begun; `later` while turns of begun conversations are still to come.
 */
export function turnTake({ parent, conversation, conversations }: TurnLinks, options: TurnTakeOptions) {
  const roots = new Uint32Array(conversations);
  const sizes = new Uint32Array(conversations);
  const [first, sibling] = [new Int32Array(parent.length).fill(-1), new Int32Array(parent.length).fill(-1)];
  for (let i = parent.length - 1; i >= 0; i--) {
    const [from = -1, own = 0] = [parent[i], conversation[i]];
    sizes[own] = (sizes[own] ?? 0) + 1;
    if (from < 0) {
      roots[own] = i;
      continue;
    }
    sibling[i] = first[from] ?? -1;
    first[from] = i;
  }
  const ready: number[] = [];
  const waits = new Set<() => void>();
  /** Turns of begun conversations that nobody has taken. */
  let toCome = 0;
  const childrenOf = (index: number): number[] => {
    const children: number[] = [];
    for (let at = first[index] ?? -1; at >= 0; at = sibling[at] ?? -1) children.push(at);
    return children;
  };
  return {
    next(): number | 'later' | null {
      const turn = ready.shift();
      if (turn !== undefined) {
        toCome -= 1;
        return turn;
      }
      const begun = options.nextConversation();
      if (begun >= conversations) return toCome > 0 ? 'later' : null;
      toCome += (sizes[begun] ?? 1) - 1;
      return roots[begun] ?? null;
    },
    ended(index: number): void {
      const children = childrenOf(index);
      if (children.length === 0) return;
      if (!options.think) return void ready.push(...children);
      const cancel = options.after(() => {
        waits.delete(cancel);
        ready.push(...children);
        options.onReady();
      });
      waits.add(cancel);
    },
    stop(): void {
      for (const cancel of waits) cancel();
      waits.clear();
    },
  };
}
