import type { Client, ServerReading } from '@perwatt/core';
import type { GaugeLoad, ServerLoad } from '@perwatt/records';

/** Reads what a server says of its load, beside the calls of a window. */
export interface ServerWatch {
  /** Takes the last reading. Null where the server offers none. */
  end(): Promise<ServerLoad | null>;
}

const FIRST_MS = 250;
const PERIOD_MS = 1000;

/** Takes a first reading, then one a second until `end`. A server that offers none is asked once. */
export async function watchServer(client: Pick<Client, 'observe'>): Promise<ServerWatch> {
  const before = (await client.observe?.()) ?? null;
  if (before === null) return { end: async () => null };
  const readings: ServerReading[] = [];
  let failed = 0;
  let asked: Promise<void> = Promise.resolve();
  let timer = setTimeout(look, FIRST_MS);
  let over = false;
  function look(): void {
    asked = take().then(() => {
      if (!over) timer = setTimeout(look, PERIOD_MS);
    });
  }
  const take = async () => {
    const reading = (await client.observe?.()) ?? null;
    if (reading === null) failed += 1;
    else if (!over) readings.push(reading);
  };
  return {
    async end() {
      over = true;
      clearTimeout(timer);
      await asked;
      const after = (await client.observe?.()) ?? null;
      return serverLoad({ before, readings, after, failed: failed + (after === null ? 1 : 0) });
    },
  };
}

export interface ServerReadings {
  readonly before: ServerReading;
  /** Of within the window. */
  readonly readings: readonly ServerReading[];
  /** Null where the server could not be asked any more. */
  readonly after: ServerReading | null;
  readonly failed: number;
}

/** The readings of a window as one summary. */
export const serverLoad = ({ before, readings, after, failed }: ServerReadings): ServerLoad => ({
  names: before.names,
  readings: readings.length,
  failed,
  running: gauge(readings.map((reading) => reading.running)),
  waiting: gauge(readings.map((reading) => reading.waiting)),
  kv_cache_ratio: gauge(readings.map((reading) => reading.kv_cache_ratio)),
  prompt_tokens: grown(before.prompt_tokens, after?.prompt_tokens ?? null),
  generation_tokens: grown(before.generation_tokens, after?.generation_tokens ?? null),
});

function gauge(values: readonly (number | null)[]): GaugeLoad | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  const sum = known.reduce((total, value) => total + value, 0);
  return { mean: sum / known.length, max: Math.max(...known) };
}

/** A counter that fell began anew: what it counted before is not known. */
const grown = (before: number | null, after: number | null): number | null =>
  before === null || after === null || after < before ? null : after - before;
