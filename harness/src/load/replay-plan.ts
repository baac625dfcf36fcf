import { createHash } from 'node:crypto';
import { type EndpointEntry, type LoadEntry, MatrixFile, SCHEMA_VERSION } from '@perwatt/core';
import { METRIC_SPEC_VERSION } from '@perwatt/metrics';
import type { CellFile, CellProvenance, ReplayFacts, RunManifest } from '@perwatt/records';
import { canonicalJson, sha256Hex } from '../canonical.js';
import type { HarnessDeps } from '../deps.js';
import type { LoadRowArrays } from './load-rows.js';
import type { TurnPlay } from './turn-share.js';

/** What is replayed, where, and how. */
export interface ReplaySpec {
  readonly trace: Omit<ReplayFacts['trace'], 'rows'>;
  /** Settings of the trace's reading, kept in the matrix so that a resume reads it alike. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly endpoint: EndpointEntry;
  readonly model: string;
  readonly load: Omit<LoadEntry, 'id'>;
  readonly seed: number;
  readonly power?: MatrixFile['power'];
  readonly rows: LoadRowArrays;
  /** How conversations and texts of the rows are played; absent where calls have nothing to do with one another. */
  readonly turns?: TurnPlay | null;
}

/** A replay as a matrix of one cell. */
export interface ReplayPlan {
  readonly matrix: MatrixFile;
  readonly matrix_sha256: string;
  readonly cell_id: string;
  readonly point: CellFile['point'];
  readonly rows: LoadRowArrays;
  readonly spec: ReplaySpec;
}

/** Turns anything into a name of the matrix. */
const nameOf = (text: string, otherwise: string): string =>
  text
    .replace(/^.*[\\/]/, '')
    .replaceAll(/[^A-Za-z0-9._:+-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 80) || otherwise;

/** Digest of which rows are sent when, with what lengths. */
function digestOf({ row, due_ns, input_tokens, output_tokens }: LoadRowArrays): string {
  const hash = createHash('sha256');
  for (const { buffer, byteOffset, byteLength } of [row, due_ns, input_tokens, output_tokens]) {
    for (let at = 0; at < byteLength; at += BLOCK_BYTES) {
      const size = Math.min(BLOCK_BYTES, byteLength - at);
      hash.update(Uint8Array.from(new Uint8Array(buffer, byteOffset + at, size)));
    }
  }
  return hash.digest('hex');
}

const BLOCK_BYTES = 1 << 20;

/** The matrix and the cell that a replay amounts to; the cell's id follows from the trace, the load, the model and the address. */
export function planReplay(spec: ReplaySpec): ReplayPlan {
  const { trace, settings, endpoint, model, load, seed, power } = spec;
  const dataset = nameOf(trace.path, 'trace');
  const matrix = MatrixFile.parse({
    name: `replay-${dataset}`.slice(0, 80),
    seed,
    protocol: 'quick',
    order: 'as-written',
    axes: {
      model: [{ id: nameOf(model, 'model'), model, endpoint: 'target' }],
      dataset: [{ id: dataset, kind: 'trace', path: trace.path, format: trace.format, ...settings }],
      strategy: [{ id: 'single' }],
      load: [load],
    },
    endpoints: { target: endpoint },
    ...(power === undefined ? {} : { power }),
  });
  const definition = {
    trace: trace.sha256,
    rows: digestOf(spec.rows),
    model,
    url: endpoint.url,
    load,
    seed,
    ...turnsOf(spec),
  };
  const [entry] = matrix.axes.load;
  const point = {
    model: nameOf(model, 'model'),
    accelerator: 'host-cpu',
    dataset,
    strategy: 'single',
    load: entry?.arrivals?.kind ?? `c${load.concurrency}`,
  };
  const cell_id = `c-${sha256Hex(canonicalJson(definition)).slice(0, 16)}`;
  const matrix_sha256 = sha256Hex(canonicalJson(matrix));
  return { matrix, matrix_sha256, cell_id, point, rows: spec.rows, spec };
}

const turnsOf = ({ turns, rows }: ReplaySpec) =>
  turns === undefined || turns === null || !rows.turns
    ? {}
    : { turns: { policy: turns.policy, think_ns: turns.think_ns, history: turns.history } };

/** The manifest of a new run of a replay. */
export function replayManifest(
  plan: ReplayPlan,
  deps: Pick<HarnessDeps, 'version' | 'wallTime' | 'hostFacts'>,
): RunManifest {
  const stamp = deps.wallTime().toISOString().replaceAll(/[-:]/g, '').replace(/\..*/, 'Z').replace('T', '-');
  return {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: METRIC_SPEC_VERSION,
    run_id: `${stamp}-${plan.matrix.name}`,
    perwatt_version: deps.version,
    status: 'running',
    matrix: plan.matrix,
    matrix_sha256: plan.matrix_sha256,
    order: [plan.cell_id],
    host: deps.hostFacts(),
    clocks: [],
    left_out: [],
    power: [],
  };
}

/** The cell's file before its first sitting. */
export const replayCell = (
  plan: ReplayPlan,
  run_id: string,
  facts: { readonly endpoint: CellProvenance['endpoint']; readonly workers: number },
): CellFile => ({
  schema_version: SCHEMA_VERSION,
  run_id,
  cell_id: plan.cell_id,
  point: plan.point,
  position: 0,
  seed: plan.spec.seed,
  repeats: 1,
  concurrency: plan.spec.load.concurrency,
  max_tokens: plan.rows.output_tokens.reduce((most, tokens) => Math.max(most, tokens), 0),
  status: 'planned',
  failure: null,
  verdict: null,
  provenance: {
    endpoint: facts.endpoint,
    dataset: {
      id: plan.point.dataset,
      version: 1,
      digest: plan.spec.trace.sha256,
      items: plan.rows.row.length,
      licence: 'not stated',
      guess_rate: 0,
    },
    strategy: { id: 'single', version: 1, params: {} },
    grader: { id: 'none', version: 1 },
    protocol: plan.matrix.protocol,
  },
  sittings: [],
  ledgers: [],
  segments: [],
  replay: { trace: { ...plan.spec.trace, rows: plan.rows.row.length }, workers: facts.workers, client: [] },
});
