import { excerpt } from '../http/json.js';
import { httpPage } from './http-page.js';
import { pause } from './pause.js';

export interface ReadyOptions {
  /** Page that answers 200 once calls can be served. */
  readonly health: string;
  readonly deadline_ms: number;
  /** Time since the start, ms. */
  readonly sinceStart: () => number;
  /** Ends the wait early: the run was stopped, or the engine ended. */
  readonly signal: AbortSignal;
  /** Told what is waited for, about once a second. */
  readonly onProgress: (text: string) => void;
}

const PROBE_MS = 2000;

/** Asks for the health page until it answers 200; why not, once the deadline is over; null when it did or `signal` aborted. */
export async function waitReady(options: ReadyOptions): Promise<string | null> {
  const { health, deadline_ms, sinceStart, signal, onProgress } = options;
  let told = Number.NEGATIVE_INFINITY;
  let last = 'nothing was asked';
  for (
    let wait_ms = 50;
    sinceStart() < deadline_ms && !signal.aborted;
    wait_ms = Math.min(wait_ms * 1.5, 1000)
  ) {
    const { status, text } = await httpPage(health, { timeout_ms: PROBE_MS, signal });
    if (status === 200) return null;
    last = status === null ? text : `status ${status}: ${excerpt(text)}`;
    if (sinceStart() - told >= 1000) {
      told = sinceStart();
      onProgress(`${(told / 1000).toFixed(0)} s`);
    }
    await pause(wait_ms, signal);
  }
  return signal.aborted ? null : last;
}
