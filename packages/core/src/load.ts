import * as z from 'zod';

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
  z
    .strictObject({
      kind: z.literal('ramp'),
      from_per_s: z.number().min(0).max(1e6).describe('Rate at the start'),
      to_per_s: rate_per_s.describe('Rate at the end of the ramp, and after it'),
      duration_s: duration_s.describe('Length of the ramp (s)'),
      curve: z.enum(['linear', 'exponential']).default('linear').describe('How the rate grows in time'),
      process: gaps.default('poisson').describe('How calls arrive at a given rate'),
      smoothness: smoothness.default(1).describe('Shape of gamma gaps'),
    })
    .refine((ramp) => ramp.curve === 'linear' || ramp.from_per_s > 0, {
      path: ['from_per_s'],
      message: 'an exponential ramp cannot begin at 0',
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

const limit_s = z.number().positive().max(1e6).optional();

/** Limits that make a call a good one, s: it meets every one that applies to it. What goodput counts by. */
export const SloLimits = z
  .strictObject({
    ttft_any_s: limit_s.describe('Time to the first delta of any kind (s)'),
    ttft_content_s: limit_s.describe('Time to the first answer text (s)'),
    tpot_s: limit_s.describe('Time per output token after the first (s)'),
    e2e_from_dispatch_s: limit_s.describe('Latency from dispatch (s)'),
    e2e_from_schedule_s: limit_s.describe('Latency since the call was due (s); open loops only'),
  })
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), 'give a limit');
/** Limits of a good call as a matrix states them, s. */
export type SloLimits = z.infer<typeof SloLimits>;

const TrimAmount = z.union([
  z.strictObject({ fraction: z.number().min(0).max(1) }),
  z.strictObject({ seconds: z.number().min(0).max(1e7) }),
  z.strictObject({ calls: z.int().min(0).max(1e9) }),
]);
/** How much is cut off at one end: a share of the span, seconds, or calls. */
export type TrimAmount = z.infer<typeof TrimAmount>;

/**
 * How a steady window is cut out of a load. `batch_full`: from the moment the `batch`-th call has its first token until all
 * but `batch + 1` calls have ended (as the ML.ENERGY benchmark does). `plateau`: the longest span with at least `ratio` of
 * the most calls in flight. `trim`: the load without a share, a time or a number of calls at either end.
 */
export const SteadyRule = z.discriminatedUnion('rule', [
  z.strictObject({ rule: z.literal('batch_full'), batch: z.int().positive().max(1e6) }),
  z.strictObject({ rule: z.literal('plateau'), ratio: z.number().positive().max(1) }),
  z.strictObject({ rule: z.literal('trim'), start: TrimAmount, end: TrimAmount }),
]);
/** One of the three rules, with its number. */
export type SteadyRule = z.infer<typeof SteadyRule>;

/** One call of a load, as an engine is given it. */
export interface LoadJob {
  /** Whole number that tells the call's row from others; in the columns as `row`. */
  readonly row: number;
  /** When the call was due, ns on the clock; null in a closed loop. The engine sends at once, whatever it says. */
  readonly due_ns: bigint | null;
  /** The request's JSON. */
  readonly body: Buffer | string;
  /** Whether the answer's text is handed to `onEnded`. Default: it is not kept. */
  readonly keep_text?: boolean;
}

/**
 * What becomes of a turn of a conversation that is due before the turn it goes on from has ended. `wait`: it is sent when
 * that one has ended and the think time is over. `drop`: it is not sent, and neither is what follows it. `send`: it is
 * sent when it is due, with the answers that are known then.
 */
export const lateParentPolicies = ['wait', 'drop', 'send'] as const;
/** One of `lateParentPolicies`. */
export type LateParentPolicy = (typeof lateParentPolicies)[number];

/** Whose answers the earlier turns of a conversation are sent with: the trace's, or those the server has just given. */
export const historySources = ['trace', 'server'] as const;
/** One of `historySources`. */
export type HistorySource = (typeof historySources)[number];

/** A call that has just ended, as the engine tells of it at once. */
export interface EndedLoadCall {
  /** As in its job. */
  readonly row: number;
  readonly ok: boolean;
  /** ns on the clock. */
  readonly end_ns: bigint;
  /** Text of the answer, where the job asked for it and the call ended well. */
  readonly text: string | null;
}

interface Optional<A> {
  readonly values: A;
  /** 1 where a call has a value, 0 where it has none. */
  readonly valid: Uint8Array;
}
interface Names {
  readonly indices: Uint16Array;
  readonly names: readonly string[];
  readonly valid: Uint8Array;
}
/** Row i has the values from `offsets[i]` to `offsets[i + 1]`. */
type Lists = Optional<Float64Array> & { readonly offsets: Int32Array };
type Stamp = Optional<BigInt64Array>;
type Count = Optional<Uint32Array>;

/** What is known of calls that ended, a typed array a column: the columns of the `calls` table that an engine fills. */
export interface LoadColumns {
  readonly length: number;
  /** Numbers of the calls' rows, in the order in which they ended. */
  readonly row: Float64Array;
  readonly sched_ns: Stamp;
  readonly dispatch_ns: Stamp;
  readonly socket_ns: Stamp;
  readonly sent_ns: Stamp;
  readonly headers_ns: Stamp;
  readonly first_event_ns: Stamp;
  readonly first_any_ns: Stamp;
  readonly first_content_ns: Stamp;
  readonly last_content_ns: Stamp;
  readonly done_ns: Stamp;
  readonly end_ns: Stamp;
  readonly status: Names;
  readonly http_status: Optional<Uint16Array>;
  readonly finish_reason: Names;
  readonly error_kind: Names;
  readonly error_message: {
    readonly offsets: Int32Array;
    readonly bytes: Uint8Array;
    readonly valid: Uint8Array;
  };
  readonly prompt_tokens: Count;
  readonly completion_tokens: Count;
  readonly cached_tokens: Count;
  readonly reasoning_tokens: Count;
  readonly token_source: Names;
  readonly events: Count;
  readonly content_events: Count;
  readonly reads: Count;
  readonly bytes_in: Optional<BigUint64Array>;
  readonly bytes_out: Optional<BigUint64Array>;
  readonly conn_reused: Optional<Uint8Array>;
  readonly icl_ns: Lists;
  readonly event_tokens: Lists;
}

/** The hot path of a load: calls go out without a promise each, and what came of them is handed over in columns. */
export interface LoadEngine {
  /** Sends a call at once. Never throws for what comes of it: that is in its columns. */
  send(job: LoadJob): void;
  /** The calls that ended since the last time. The arrays belong to the caller. */
  drain(): LoadColumns;
  readonly inFlight: number;
  /** Calls that ended and were not drained. */
  readonly ended: number;
  /** Ends every call as `cancelled`; they can still be drained. Safe to call twice. */
  close(): Promise<void>;
}

/** What an engine is made for: most calls in flight, and who is told of each call that ends. */
export interface LoadEngineNeeds {
  readonly connections: number;
  readonly onEnded: (call: EndedLoadCall) => void;
}
