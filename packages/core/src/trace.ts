import type { Message } from './call-input.js';

/** Traces Perwatt can read. The time unit and the block size belong to the format; they are never guessed from values. */
export const traceFormats = [
  'azure-llm',
  'azure-lmm',
  'burstgpt',
  'mooncake',
  'qwen-bailian',
  'sharegpt',
  'wildchat',
  'lmsys-chat',
  'perwatt-csv',
  'perwatt-jsonl',
  'perwatt-arrow',
] as const;

export type TraceFormat = (typeof traceFormats)[number];

/** How a format writes time: wall-clock text, decimal seconds, milliseconds, nanoseconds, or not at all. */
export type TraceUnit = 'wall_time' | 's' | 'ms' | 'ns' | 'none';

/**
 * What becomes of a row that produced no token (in BurstGPT: a call that failed): kept as it is, left out, or kept with one
 * output token so that it can be sent.
 */
export const zeroOutputPolicies = ['keep', 'skip', 'replay-as-1'] as const;

export type ZeroOutputPolicy = (typeof zeroOutputPolicies)[number];

/** One call of a trace. */
export interface TraceRow {
  /** Number of the call in the file, from 0, before any sorting: its lasting identity. */
  readonly row: number;
  /** Time after the earliest call that is kept, in ns, exact to the resolution of the file; null where the source has no time. */
  readonly at_ns: bigint | null;
  /** Null where the source carries text and nobody counted its tokens. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** Ids of the blocks of `block_tokens` the input is made of: the same id, the same text. */
  readonly hash_ids?: readonly number[];
  readonly block_tokens?: number;
  /** Calls of one conversation share it. */
  readonly conversation_id?: string;
  /** The source's id of the call itself, where calls are named. */
  readonly id?: string;
  /** The source's id of the call that this one goes on from. */
  readonly parent_id?: string;
  /** `row` of that call, where it is in the trace. */
  readonly parent_row?: number;
  /** Position in the conversation, as the source counts it. */
  readonly turn?: number;
  readonly images?: number;
  /** The source's word for the kind of call. */
  readonly kind?: string;
  readonly model?: string;
  /** What was said, where the source carries it and it was asked for. */
  readonly text?: TraceText;
}

/** The texts of one call. */
export interface TraceText {
  /** What this call added; earlier turns and answers are those of the parent rows. */
  readonly messages: readonly Message[];
  /** What the model answered; null when nothing was. */
  readonly answer: string | null;
}

/** What a reader must know of a trace beside its rows. */
export interface TraceMeta {
  readonly format: TraceFormat;
  readonly unit: TraceUnit;
  /** As the user named it. */
  readonly path: string;
  /** Of the file's bytes, packed ones where it is packed; hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** Calls kept. */
  readonly rows: number;
  /** Calls or records that could not be read and were left out on request. */
  readonly bad_rows: number;
  /** From the first call to the last; null without time or without rows. */
  readonly span_ns: bigint | null;
  /** Time of the first call as the source writes it; null without time or without rows. */
  readonly first_stamp: string | null;
  /** Calls that stood behind a later one; the rows are in order of time, ties in order of the file. */
  readonly unsorted_rows: number;
  /** Calls in the file that produced no token, and what became of them. */
  readonly zero_output_rows: number;
  readonly zero_output: ZeroOutputPolicy;
  /** Tokens of a block of `hash_ids`; null where there are none. */
  readonly block_tokens: number | null;
  /** What else a reader must know, a sentence each. */
  readonly notes: readonly string[];
}

/** Counts tokens as a target's tokenizer does, without tokens that a chat template adds. */
export interface TokenCounter {
  readonly count: (text: string) => number | Promise<number>;
}
