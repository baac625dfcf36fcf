import type { Instant } from '@perwatt/core';
import { heap } from './heap.js';
import type { DeviceLaw } from './laws.js';
import type { VirtualTime } from './virtual-time.js';

/** One sequence to be computed. */
export interface Job {
  readonly prompt_tokens: number;
  /** At least 1. */
  readonly output_tokens: number;
  readonly onFirst: () => void;
  readonly onEnd: () => void;
}

/** How a run of queries differs from the mean one; both 1 at the mean. */
export interface RunNoise {
  /** Of the power while it computes. */
  readonly power: number;
  /** Of all times. */
  readonly pace: number;
}

export interface DeviceOptions {
  readonly time: VirtualTime;
  readonly idle_w: number;
  readonly loaded_w: number;
  /** Most sequences decoded side by side. */
  readonly batch: number;
}

/** An accelerator in virtual time. */
export interface Device {
  /** A signal as meters take it: power now, and what is told just before it changes. */
  readonly signal: {
    now(): number;
    onChange(listener: (at: Instant) => void): () => void;
  };
  /** Puts a model on it, or takes it off. What is computed meanwhile is lost. */
  load(law: DeviceLaw | null): void;
  beginRun(noise: RunNoise): void;
  submit(job: Job): void;
}

interface Decoding {
  /** Progress at which its last token is out. */
  readonly target: number;
  readonly job: Job;
}

/**
 * Reads one prompt at a time, first come, first served, and decodes nothing meanwhile; else decodes one token of every
 * sequence a step. So it is idle, in prefill, or in decode with some batch at any moment, and power follows from that alone.
 * Throws a `RangeError` for a job without a model.
 */
export function createDevice({ time, idle_w, loaded_w, batch: most }: DeviceOptions): Device {
  const listeners = new Set<(at: Instant) => void>();
  const waiting: Job[] = [];
  let decoding = heap<Decoding>((a, b) => a.target - b.target);
  let law: DeviceLaw | null = null;
  let noise: RunNoise = { power: 1, pace: 1 };
  let power_w = idle_w;
  let prefilling: Job | null = null;
  /** Tokens that a sequence which was there from the start would have; since when it stands at that. */
  let progress = 0;
  let since = time.clock.now();
  let cancel = () => {};

  const draw = (watts: number) => {
    if (watts === power_w) return;
    const now = time.clock.now();
    for (const listener of listeners) listener(now);
    power_w = watts;
  };
  const stepNs = (own: DeviceLaw) => own.stepS(decoding.size()) * noise.pace * 1e9;
  const settle = () => {
    const now = time.clock.now();
    if (law !== null && prefilling === null && decoding.size() > 0)
      progress += Number(now - since) / stepNs(law);
    since = now;
  };
  const advance = () => {
    if (prefilling !== null) return;
    cancel();
    cancel = () => {};
    if (law === null) return draw(idle_w);
    const job = decoding.size() < most ? waiting.shift() : undefined;
    const first = decoding.least();
    if (job !== undefined) {
      prefilling = job;
      draw(law.prefill_w * noise.power);
      cancel = time.afterNs(law.prefillS(job.prompt_tokens) * noise.pace * 1e9, endPrefill);
    } else if (first !== undefined) {
      draw(law.decodeW(decoding.size()) * noise.power);
      cancel = time.afterNs(Math.max(first.target - progress, 0) * stepNs(law), endDecode);
    } else draw(loaded_w);
  };
  const endPrefill = () => {
    settle();
    const job = prefilling;
    prefilling = null;
    if (job === null) return;
    if (job.output_tokens > 1) decoding.push({ target: progress + job.output_tokens - 1, job });
    advance();
    job.onFirst();
    if (job.output_tokens <= 1) job.onEnd();
  };
  const endDecode = () => {
    settle();
    const ended: Job[] = [];
    const reached = Math.max(progress, decoding.least()?.target ?? 0);
    progress = reached;
    for (let own = decoding.least(); own !== undefined && own.target <= reached; own = decoding.least()) {
      ended.push(own.job);
      decoding.pop();
    }
    if (decoding.size() === 0) progress = 0;
    advance();
    for (const job of ended) job.onEnd();
  };
  return {
    signal: {
      now: () => power_w,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    load(next) {
      cancel();
      law = next;
      waiting.length = 0;
      prefilling = null;
      decoding = heap((a, b) => a.target - b.target);
      progress = 0;
      since = time.clock.now();
      advance();
    },
    beginRun(next) {
      settle();
      noise = next;
      advance();
    },
    submit(job) {
      if (law === null) throw new RangeError('a device without a model computes nothing');
      settle();
      waiting.push(job);
      advance();
    },
  };
}
