import type { CallRecord } from '@perwatt/core';

/** Counts what a served client does, for its page of metrics. */
export interface ServeCounts {
  /** A call has come in; returns what is to be told of its end. */
  begin(): (record: Pick<CallRecord, 'usage' | 'n_tokens'> | null) => void;
  /** The counts in Prometheus' text format. */
  page(): string;
}

/**
 * Counts calls and their tokens since the start.
 *
 * @param atATime calls that the client works on at once; those beyond wait. Null where it takes all
 */
export function serveCounts(atATime: number | null): ServeCounts {
  let inside = 0;
  let prompt = 0;
  let generated = 0;
  let finished = 0;
  return {
    begin() {
      inside += 1;
      let open = true;
      return (record) => {
        if (!open) return;
        open = false;
        inside -= 1;
        finished += 1;
        prompt += record?.usage?.prompt_tokens ?? 0;
        generated += record?.n_tokens ?? 0;
      };
    },
    page() {
      const running = Math.min(inside, atATime ?? inside);
      return [
        metric('requests_running', 'gauge', running),
        metric('requests_waiting', 'gauge', inside - running),
        metric('requests_total', 'counter', finished),
        metric('prompt_tokens_total', 'counter', prompt),
        metric('generation_tokens_total', 'counter', generated),
      ].join('');
    },
  };
}

const metric = (name: string, type: string, value: number): string =>
  `# TYPE perwatt:${name} ${type}\nperwatt:${name} ${value}\n`;
