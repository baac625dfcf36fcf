import * as z from 'zod';
import type { CallStatus, ClientRequest, EndpointFacts, TokenSource } from './client.js';

const rate_per_s = z.number().positive().max(1e6);
const duration_s = z.number().positive().max(1e7);
/** Gaps of one mean: all equal, or drawn from a gamma distribution (its shape 1 is Poisson). */
const gaps = z.enum(['constant', 'poisson', 'gamma']);
const smoothness = z.number().positive().max(1e4);

/** When the calls of an open loop are due. Rates are calls per second. */
export const Arrivals = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('constant'), rate_per_s: rate_per_s.describe('Calls per second') }),
  z.strictObject({ kind: z.literal('poisson'), rate_per_s: rate_per_s.describe('Calls per second') }),
  z.strictObject({
    kind: z.literal('gamma'),
    rate_per_s: rate_per_s.describe('Calls per second'),
    smoothness: smoothness.describe('Shape k of the gaps: 1 is Poisson, below 1 comes in bursts'),
  }),
  z.strictObject({
    kind: z.literal('ramp'),
    from_per_s: z.number().min(0).max(1e6).describe('Rate at the start'),
    to_per_s: rate_per_s.describe('Rate at the end of the ramp, and after it'),
    duration_s: duration_s.describe('Length of the ramp (s)'),
    curve: z.enum(['linear', 'exponential']).default('linear').describe('How the rate grows in time'),
    process: gaps.default('poisson').describe('How calls arrive at a given rate'),
    smoothness: smoothness.default(1).describe('Shape of gamma gaps'),
  }),
  z.strictObject({
    kind: z.literal('steps'),
    stages: z
      .array(
        z.strictObject({
          rate_per_s: z.number().min(0).max(1e6).describe('Calls per second; 0 is a pause'),
          duration_s: duration_s.describe('Length of the stage (s)'),
        }),
      )
      .min(1)
      .describe('One rate after another; the schedule ends with the last'),
    process: gaps.default('poisson').describe('How calls arrive at a given rate'),
    smoothness: smoothness.default(1).describe('Shape of gamma gaps'),
  }),
  z.strictObject({
    kind: z.literal('trace'),
    path: z.string().min(1).describe('Trace file whose times are taken'),
    format: z.string().optional().describe('Its format; default: by its header'),
    speed: z.number().positive().max(1e6).default(1).describe('2 replays twice as fast'),
    from_s: z.number().min(0).default(0).describe('Leaves out what the trace holds before this time'),
    to_s: z.number().positive().optional().describe('Leaves out what it holds from this time on'),
  }),
  z.strictObject({ kind: z.literal('server'), rate_per_s: rate_per_s.describe('Poisson arrivals') }),
  z.strictObject({ kind: z.literal('offline') }).describe('Every call is due at the start'),
]);
/** A parsed description of arrivals, defaults filled in. */
export type Arrivals = z.infer<typeof Arrivals>;

/** One call of a load. */
export interface LoadCall {
  /** Names the call in what `drain` hands over; unique among the calls that were not drained yet. */
  readonly tag: number;
  readonly request: ClientRequest;
}

interface Nullable {
  /** 1 where a call has a value, 0 where it has none. */
  readonly valid: Uint8Array;
}
interface Names {
  readonly indices: Uint8Array | Uint16Array;
  readonly names: readonly string[];
}
interface Values<A> {
  readonly values: A;
}
type Stamp = Values<BigInt64Array>;
type Count = Values<Uint32Array>;

/** What is known of calls that ended, a typed array a column: the columns of the `calls` table that an engine can fill. */
export interface LoadColumns {
  /** Tags of the calls, in the order in which they ended. */
  readonly tag: Uint32Array;
  readonly dispatch_ns: Stamp;
  readonly socket_ns: Stamp & Nullable;
  readonly sent_ns: Stamp & Nullable;
  readonly headers_ns: Stamp & Nullable;
  readonly first_event_ns: Stamp & Nullable;
  readonly first_any_ns: Stamp & Nullable;
  readonly first_content_ns: Stamp & Nullable;
  readonly last_content_ns: Stamp & Nullable;
  readonly done_ns: Stamp & Nullable;
  readonly end_ns: Stamp;
  readonly status: Names;
  readonly http_status: Values<Uint16Array> & Nullable;
  readonly finish_reason: Names & Nullable;
  readonly error_kind: Names & Nullable;
  readonly error_message: {
    readonly offsets: Int32Array;
    readonly bytes: Uint8Array;
  } & Nullable;
  readonly prompt_tokens: Count & Nullable;
  readonly completion_tokens: Count & Nullable;
  readonly cached_tokens: Count & Nullable;
  readonly reasoning_tokens: Count & Nullable;
  readonly token_source: Names & Nullable;
  readonly events: Count;
  readonly content_events: Count;
  readonly reads: Count;
  readonly bytes_in: Values<BigUint64Array>;
  readonly bytes_out: Values<BigUint64Array>;
  readonly conn_reused: Values<Uint8Array> & Nullable;
  readonly icl_ns: { readonly offsets: Int32Array; readonly values: Float64Array } & Nullable;
}

/** How a call of a load ended, for what must know at once. */
export interface LoadEnd {
  readonly tag: number;
  readonly status: CallStatus;
  readonly n_tokens: number | null;
  readonly token_source: TokenSource | null;
}

/** The hot path of a load: calls go out without a promise each, and what came of them is handed over in columns. */
export interface LoadEngine {
  /** Makes it ready. Throws `CLIENT_UNREACHABLE` when nothing answers there. */
  open(): Promise<EndpointFacts>;
  /** Sends a call at once. Never throws for one that fails. */
  send(call: LoadCall): void;
  /** Calls in flight. */
  readonly inFlight: number;
  /** The calls that ended since the last time. */
  drain(): LoadColumns;
  /** Ends calls in flight as `cancelled` and frees what was opened; they can still be drained. Safe to call twice. */
  close(): Promise<void>;
}

/** Makes an engine that tells `onEnd` of every call as it ends. */
export type OpenLoadEngine = (options: { readonly onEnd: (end: LoadEnd) => void }) => LoadEngine;
