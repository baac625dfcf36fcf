import type { MessagePort } from 'node:worker_threads';
import type { ChannelColumns, Instant, Recorder, RecorderStatus, SampleColumns } from '@perwatt/core';
import type { PowerSegments, PowerStreamOptions } from '@perwatt/harness';
import type { SourceOptions } from '@perwatt/native-power';

/** A source of this host, as a thread finds it again: by name, and by where it looks. */
export interface NativePlace extends Required<SourceOptions> {
  readonly name: string;
}

/** What a power thread is told when it starts. */
export interface ThreadJob {
  readonly place: NativePlace;
  readonly stream: PowerStreamOptions;
  /** Time between two looks at the recorder, and longest time that a sample waits for the disk; ms. */
  readonly look_ms: number;
  readonly flush_ms: number;
  readonly port: MessagePort;
  /** Counts answers: who asked sleeps on it, so that an answer needs no turn of anybody's event loop. */
  readonly answers: Int32Array;
}

/** What a power thread is asked for; each gets one answer. */
export type ThreadRequest = 'mark' | 'flush' | 'stop' | 'close';

/** What is known of a recorder once it runs. */
export type RecorderFacts = Pick<Recorder, 'source' | 'domains' | 'raw_units' | 'period_ns' | 'channels'>;

/** An error on its way between threads. */
export interface CarriedError {
  /** Null for a bug. */
  readonly code: string | null;
  readonly message: string;
  readonly hint: string | null;
}

/** What a power thread says, in order. The last four are answers; `failed` may also come unasked, as the last. */
export type ThreadMessage =
  | { readonly kind: 'samples'; readonly columns: SampleColumns }
  | { readonly kind: 'channels'; readonly columns: ChannelColumns }
  | { readonly kind: 'status'; readonly status: RecorderStatus }
  | { readonly kind: 'started'; readonly facts: RecorderFacts }
  | { readonly kind: 'marked'; readonly at: Instant }
  | { readonly kind: 'done'; readonly segments: PowerSegments | null }
  | { readonly kind: 'failed'; readonly error: CarriedError };
