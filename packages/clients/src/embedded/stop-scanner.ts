/** Lets text through up to the first stop text, holding back what may turn out to be the beginning of one. */
export interface StopScanner {
  /** The text that is safe to tell after `piece`. */
  push(piece: string): string;
  /** What was held back and was no stop text after all; '' once stopped. */
  end(): string;
  readonly stopped: boolean;
}

export function createStopScanner(stops: readonly string[]): StopScanner {
  const wanted = stops.filter((stop) => stop !== '');
  let held = '';
  let stopped = false;
  return {
    get stopped() {
      return stopped;
    },
    push(piece) {
      if (wanted.length === 0) return piece;
      if (stopped) return '';
      const text = held + piece;
      const at = firstOf(text, wanted);
      stopped = at >= 0;
      const safe = stopped ? at : text.length - longestBeginning(text, wanted);
      held = stopped ? '' : text.slice(safe);
      return text.slice(0, safe);
    },
    end() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

function firstOf(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Length of the longest end of `text` that some stop text begins with. */
function longestBeginning(text: string, stops: readonly string[]): number {
  const longest = Math.min(text.length, Math.max(...stops.map((stop) => stop.length)) - 1);
  for (let length = longest; length > 0; length -= 1) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.startsWith(end))) return length;
  }
  return 0;
}
