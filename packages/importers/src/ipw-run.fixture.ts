import {
  Bool,
  type DataType,
  Field,
  Float64,
  Int64,
  Struct,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { fileOf } from './foreign-files.fixture.js';
import type { ForeignFile } from './importer.js';

/** One query of a profiled run; energy and time are enough, the rest has defaults. */
export interface ProfiledQuery {
  readonly energy_j: number | null;
  readonly latency_s: number;
  readonly power_w?: number | null;
  readonly correct?: boolean | null;
  readonly output?: number;
  readonly soc_j?: number;
  /** When it began, s; recorded for all queries or none. */
  readonly start_s?: number;
}

const struct = (fields: Readonly<Record<string, DataType>>) =>
  new Struct(Object.entries(fields).map(([name, type]) => new Field(name, type, true)));

const watts = struct({ per_query_watts: struct({ avg: new Float64() }) });
const metricsType = struct({
  energy_metrics: struct({
    per_query_joules: new Float64(),
    total_joules: new Float64(),
    soc_per_query_joules: new Float64(),
    basis: new Utf8(),
  }),
  latency_metrics: struct({ total_query_seconds: new Float64() }),
  power_metrics: struct({ gpu: watts, soc: watts }),
  token_metrics: struct({ input: new Int64(), output: new Int64() }),
  lm_correctness: new Bool(),
  evaluation: struct({ is_correct: new Bool() }),
});

/** A profiler's Arrow file: one row a query, metrics in a struct by the model's name. */
export function profiledFile(model: string, queries: readonly ProfiledQuery[]): ForeignFile {
  const metrics = queries.map(
    ({ energy_j, latency_s, power_w = null, correct = null, output = 10, soc_j }) => ({
      [model]: {
        energy_metrics: {
          per_query_joules: energy_j,
          total_joules: energy_j,
          soc_per_query_joules: soc_j ?? null,
          basis: soc_j === undefined ? 'gpu' : 'soc',
        },
        latency_metrics: { total_query_seconds: latency_s },
        power_metrics: {
          gpu: { per_query_watts: { avg: power_w } },
          soc: { per_query_watts: { avg: power_w } },
        },
        token_metrics: { input: 20n, output: BigInt(output) },
        lm_correctness: correct === true,
        evaluation: { is_correct: correct },
      },
    }),
  );
  const starts = queries.flatMap(({ start_s }) => (start_s === undefined ? [] : [start_s]));
  const times =
    starts.length === 0
      ? {}
      : {
          request_start_time: Float64Array.from(starts),
          request_end_time: Float64Array.from(queries, ({ start_s = 0, latency_s }) => start_s + latency_s),
        };
  const table = tableFromArrays({ problem: queries.map((_, i) => `q${i}`), ...times }).assign(
    tableFromArrays({ model_metrics: vectorFromArray(metrics, struct({ [model]: metricsType })) as never }),
  );
  return fileOf('run/data-00000-of-00001.arrow', tableToIPC(table, 'stream'), 1000);
}

/** Lines of an agentic run's traces. */
export const tracesFile = (traces: readonly object[]): ForeignFile =>
  fileOf(
    'run/traces.jsonl',
    traces.map((trace, i) => JSON.stringify({ query_id: `q${i}`, is_resolved: null, ...trace })).join('\n'),
    7,
  );

export const summaryFile = (summary: object): ForeignFile =>
  fileOf('run/summary.json', JSON.stringify(summary));
