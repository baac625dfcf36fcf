import type { PowerSource, Recorder } from '@perwatt/core';

/** Starts every source, or none: what runs already is stopped when a later one refuses. */
export function startRecorders(sources: readonly PowerSource[], period_ms: number | undefined): Recorder[] {
  const started: Recorder[] = [];
  try {
    for (const source of sources) {
      started.push(source.start(period_ms === undefined ? {} : { period_ns: period_ms * 1e6 }));
    }
  } catch (error) {
    for (const recorder of started) recorder.stop();
    throw error;
  }
  return started;
}
