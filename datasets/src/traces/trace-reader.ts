import type { TokenCounter, TraceFormat, TraceUnit } from '@perwatt/core';
import type { TraceFile } from './trace-file.js';
import type { TraceSink } from './trace-sink.js';

/** How a file is put together, whatever stands in it. */
export type Container = 'csv' | 'jsonl' | 'json' | 'parquet' | 'arrow';

/** What a reader of texts needs beside the file. */
export interface ReadContext {
  readonly sink: TraceSink;
  readonly counter?: TokenCounter;
}

/** One format: how it is known and how it is read. */
export interface TraceReader {
  readonly format: TraceFormat;
  readonly title: string;
  readonly unit: TraceUnit;
  /** Tokens a hash id stands for; null without hash ids, or where the file itself says it. */
  readonly block_tokens: number | null;
  readonly containers: readonly Container[];
  /** Columns or keys that make the format known; of several formats that fit, the one with more of them is meant. */
  readonly keys: readonly string[];
  /** Columns or keys read where they are. */
  readonly optional: readonly string[];
  readonly licence: string;
  readonly read: (file: TraceFile, context: ReadContext) => Promise<void>;
}
