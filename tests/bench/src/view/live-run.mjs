import { MatrixFile, SCHEMA_VERSION } from '@perwatt/core';

const host = {
  hostname: 'bench',
  os: 'linux',
  kernel: '6',
  arch: 'x64',
  cpu: null,
  threads: 2,
  cores: null,
  memory_bytes: 1,
  virtual_machine: null,
  governor: null,
  node: '20',
};
const domain = {
  id: 'rapl:0:package-0',
  source: 'rapl',
  scope: 'package',
  kind: 'counter',
  provenance: 'counter',
  in_total: true,
  update_period_ns: 1e6,
  quantum: null,
  scale_error_ratio: null,
  note: null,
};

/** Samples of one counter that is being written. */
export const powerFile = {
  file: 'rapl-0.arrows',
  source: 'rapl',
  provenance: 'counter',
  period_ns: 5e7,
  domains: [domain],
  boot_id: null,
  segment: null,
};

/** A run of one cell that has just begun. */
export const manifest = {
  schema_version: SCHEMA_VERSION,
  metric_spec_version: 1,
  run_id: 'bench',
  perwatt_version: '0.1.0',
  status: 'running',
  matrix: MatrixFile.parse({ name: 'bench', axes: { model: ['m'], dataset: ['d'] } }),
  matrix_sha256: 'f'.repeat(64),
  order: ['c-bench'],
  host,
  clocks: [{ boot_id: null, at_ns: '0', wall_time: '2026-01-01T00:00:00Z' }],
  left_out: [],
  power: [],
};

export const cellFile = {
  schema_version: SCHEMA_VERSION,
  run_id: 'bench',
  cell_id: 'c-bench',
  point: { model: 'm', accelerator: 'x', dataset: 'd', strategy: 's', load: 'c64' },
  position: 0,
  seed: 1,
  repeats: 1,
  concurrency: 64,
  max_tokens: 40,
  status: 'running',
  failure: null,
  verdict: null,
  provenance: null,
  sittings: [],
  ledgers: [],
  segments: [],
};
