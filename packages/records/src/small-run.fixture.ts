import {
  type Column,
  createRng,
  MatrixFile,
  type Rng,
  SCHEMA_VERSION,
  type TableName,
  tables,
} from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { arraysOf } from './arrays.fixture.js';
import type { CellFile, RunManifest, SegmentEntry } from './manifest.js';
import { queryId } from './query-ids.js';
import { createRun, type RunFolder } from './run-folder.js';
import { SegmentWriter } from './segment-writer.js';

export interface SmallRunOptions {
  readonly run_id?: string;
  /** Cells to plan, by their letter. */
  readonly cells?: readonly string[];
  /** Those of them that were worked on; all unless told. */
  readonly worked?: readonly string[];
  readonly queries?: number;
  readonly hostname?: string;
  readonly boot_id?: string | null;
  readonly matrix_sha256?: string;
}

/** A run with queries, calls, texts and samples that add up, written with the library. */
export function smallRun(root: string, options: SmallRunOptions = {}): RunFolder {
  const { run_id = 'small', cells = ['a', 'b'], worked = cells, queries = 40 } = options;
  const run = createRun(root, smallManifest({ ...options, run_id, cells }));
  for (const [position, letter] of cells.entries()) {
    const cell = smallCell({ letter, position, run_id });
    run.writeCell(worked.includes(letter) ? written(run, cell, queries) : cell);
  }
  const power = samples(run, options.boot_id ?? null);
  run.updateManifest({ status: worked.length === cells.length ? 'done' : 'interrupted', power: [power] });
  return run;
}

const domain = testDomain({ id: 'rapl:0:package-0', source: 'rapl', provenance: 'counter' });

/** A manifest of nothing yet, for a test to change. */
export const plainManifest: RunManifest = {
  schema_version: SCHEMA_VERSION,
  metric_spec_version: 1,
  run_id: 'run-1',
  perwatt_version: '0.1.0',
  status: 'running',
  matrix: MatrixFile.parse({ name: 'm', axes: { model: ['a'], dataset: ['d'] } }),
  matrix_sha256: 'f'.repeat(64),
  order: ['c2', 'c1'],
  host: {
    hostname: 'h',
    os: 'linux',
    kernel: '6',
    cpu: 'x',
    arch: 'x64',
    cores: 2,
    threads: 2,
    memory_bytes: 1,
    virtual_machine: null,
    governor: null,
    node: 'v20',
  },
  clocks: [{ boot_id: null, at_ns: '5', wall_time: '2026-01-01T00:00:00Z' }],
  left_out: [],
  power: [],
};

/** A planned cell of `plainManifest`'s run, for a test to change. */
export const plainCell = (cell_id: string, changes: Partial<CellFile> = {}): CellFile => ({
  schema_version: SCHEMA_VERSION,
  run_id: 'run-1',
  cell_id,
  point: { model: 'a', accelerator: 'x', dataset: 'd', strategy: 's', load: 'c1' },
  position: 0,
  seed: 1,
  repeats: 1,
  concurrency: 1,
  max_tokens: 8,
  status: 'planned',
  failure: null,
  verdict: null,
  provenance: null,
  sittings: [],
  ledgers: [],
  segments: [],
  ...changes,
});

const smallManifest = ({
  run_id,
  cells,
  matrix_sha256 = plainManifest.matrix_sha256,
  hostname = 'h',
  boot_id = 'boot-1',
}: SmallRunOptions & { readonly run_id: string; readonly cells: readonly string[] }): RunManifest => ({
  ...plainManifest,
  run_id,
  matrix: MatrixFile.parse({ name: 'm', axes: { model: ['m'], dataset: ['d'] } }),
  matrix_sha256,
  order: cells.map((letter) => `c-${letter}`),
  host: { ...plainManifest.host, hostname },
  clocks: plainManifest.clocks.map((zero) => ({ ...zero, boot_id })),
});

interface SmallCell {
  readonly letter: string;
  readonly position: number;
  readonly run_id: string;
}

const smallCell = ({ letter, position, run_id }: SmallCell): CellFile =>
  plainCell(`c-${letter}`, {
    run_id,
    position,
    point: { model: `model ${letter}`, accelerator: 'x', dataset: 'd', strategy: 's', load: 'c1' },
  });

function written(run: RunFolder, cell: CellFile, queries: number): CellFile {
  const rng = createRng(cell.position + 3);
  const ids = Array.from({ length: queries }, (_, i) => `item ${i}`);
  const energies = ids.map(() => 10 + rng());
  const rows = ids.map((item_id, i) =>
    rowOf('queries', rng, { ...ownOf(run, cell), ...queryOf(cell, item_id, energies[i] ?? 0) }),
  );
  const calls = ids.map((item_id) =>
    rowOf('calls', rng, { ...ownOf(run, cell), query_id: queryId(cell.cell_id, item_id, 0) }),
  );
  const texts = ids.map((item_id, i) =>
    rowOf('texts', rng, {
      ...ownOf(run, cell),
      query_id: queryId(cell.cell_id, item_id, 0),
      kind: 'answer',
      text: i % 5 === 0 ? `=${i}+1` : `text, "${i}"\nß`,
    }),
  );
  const segments = [
    segment(run, cell, 'calls', calls),
    segment(run, cell, 'texts', texts),
    segment(run, cell, 'queries', rows),
  ];
  const queries_j = energies.reduce((a, b) => a + b, 0);
  return {
    ...cell,
    status: 'done',
    verdict: { state: 'flagged', reasons: [{ code: 'quick', text: 'quick', fix: null }] },
    sittings: [
      {
        sitting: 0,
        state: 'closed',
        boot_id: 'boot-1',
        start_ns: '0',
        end_ns: '9',
        warmup_calls: 0,
        baselines: [],
        foreign_load_ratio: null,
        suspended: null,
      },
    ],
    ledgers: [
      {
        domain: domain.id,
        in_total: true,
        meter_j: queries_j + 5,
        queries_j,
        unattributed_j: 5,
        lost_work_j: 0,
        coverage_ratio: 1,
        reason: null,
      },
    ],
    segments,
  };
}

const ownOf = (run: RunFolder, cell: CellFile) => ({
  run_id: run.manifest.run_id,
  cell_id: cell.cell_id,
  sitting: 0,
});

const queryOf = ({ cell_id, point }: CellFile, item_id: string, joules: number) => ({
  query_id: queryId(cell_id, item_id, 0),
  item_id,
  repeat: 0,
  dataset: point.dataset,
  strategy: point.strategy,
  model: point.model,
  accelerator: point.accelerator,
  start_ns: 100n,
  end_ns: 200n,
  score: 1,
  energy_gross_j: joules,
  energy_net_j: -1.5,
  energy_lo_j: joules - 1,
  energy_hi_j: joules + 1,
});

/** A row with something in every column, nulls among it, and `given` where it matters. */
export function rowOf(table: TableName, rng: Rng, given: Readonly<Record<string, unknown>>): object {
  const columns = Object.entries<Column>(tables[table]).map(([name, { type, nullable }]) => {
    const n = Math.floor(rng() * 200);
    const values = {
      name: `name ${n % 5}`,
      text: `text ${n}`,
      bool: n % 2 === 0,
      uint8: n,
      uint16: n,
      uint32: n,
      uint64: BigInt(n),
      int64: BigInt(n),
      float64: rng(),
      list_float64: Array.from({ length: n % 4 }, (_, i) => i + 0.5),
    };
    return [name, nullable && n % 7 === 0 ? null : values[type]];
  });
  return { ...Object.fromEntries(columns), ...given };
}

export function segment(
  run: RunFolder,
  cell: CellFile,
  table: 'queries' | 'calls' | 'texts',
  rows: readonly object[],
): SegmentEntry {
  const folder = run.cellFolder(cell.cell_id);
  const file = `${table}-${run.nextSegment(folder, table)}.arrows`;
  const metadata = { run_id: run.manifest.run_id, cell_id: cell.cell_id };
  const writer = SegmentWriter.create({ folder, file, table, sitting: 0, metadata });
  for (let at = 0; at < rows.length; at += 15) {
    writer.appendArrays(arraysOf(table, rows.slice(at, at + 15)));
    writer.flush();
  }
  return writer.close();
}

function samples(run: RunFolder, boot_id: string | null): RunManifest['power'][number] {
  const file = 'rapl-0.arrows';
  const metadata = { source: 'rapl' };
  const writer = SegmentWriter.create({
    folder: run.powerFolder,
    file,
    table: 'samples',
    sitting: 0,
    metadata,
  });
  writer.append(
    Array.from({ length: 30 }, (_, i) => ({
      at_ns: BigInt(i),
      read_ns: 1,
      domain: domain.id,
      raw: BigInt(i),
      unit: 'uj',
      event: 'ok',
      booked_energy_j: i,
      booked_lo_j: i,
      booked_hi_j: i,
      power_w: null,
    })),
  );
  const base = {
    file,
    source: 'rapl',
    provenance: 'counter',
    period_ns: 1,
    domains: [domain],
    boot_id,
  } as const;
  return { ...base, segment: writer.close() };
}
