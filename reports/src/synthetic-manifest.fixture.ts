import { MatrixFile, SCHEMA_VERSION } from '@perwatt/core';
import { METRIC_SPEC_VERSION } from '@perwatt/metrics';
import type { RunManifest } from '@perwatt/records';

export interface SyntheticOptions {
  readonly root: string;
  readonly models?: readonly string[];
  readonly strategies?: readonly string[];
  /** Each draws 1.6 times the power of the one before. */
  readonly accelerators?: readonly string[];
  readonly run_id?: string;
  /** How queries come by their energy. Default `time_share`. */
  readonly method?: 'isolated' | 'time_share';
  readonly items?: number;
  readonly repeats?: number;
  /** `none` records no power at all. */
  readonly power?: 'counter' | 'estimated' | 'none';
  readonly protocol?: 'quick' | 'standard';
  /** Address of an HTTP endpoint; null for the embedded engine. Default null. */
  readonly endpoint?: string | null;
  /** A text that stands in a host's name, a prompt, a completion and a reason. */
  readonly text?: string;
  /** A text that stands in completions alone. */
  readonly completion?: string;
  /** Share of queries that fail in the last cell. */
  readonly failing?: number;
}

export const BOOT = '3f6f2c1e-0000-4000-8000-000000000000';
const ZERO_S = 5_000;
export const ns = (seconds: number): bigint => BigInt(Math.round((ZERO_S + seconds) * 1e9));
export const text = (seconds: number): string => String(ns(seconds));
export const hex = (digit: string): string => digit.repeat(64);

/** `run.json` of a synthetic run before its power and cells are known. */
export function manifestOf(options: Required<SyntheticOptions>): RunManifest {
  const { models, strategies, accelerators, protocol } = options;
  return {
    schema_version: SCHEMA_VERSION,
    metric_spec_version: METRIC_SPEC_VERSION,
    run_id: options.run_id,
    perwatt_version: '0.1.0',
    status: 'done',
    matrix: {
      ...MatrixFile.parse({
        name: 'quickstart',
        protocol,
        axes: { model: ['x'], dataset: ['arithmetic', 'choice'] },
      }),
      axes: {
        ...MatrixFile.parse({ name: 'quickstart', axes: { model: ['x'], dataset: ['arithmetic', 'choice'] } })
          .axes,
        model: models.map((id) => ({ id })),
        accelerator: accelerators.map((id) => ({ id, kind: 'cpu' as const, gpu: false })),
        strategy: strategies.map((id) => ({ id })),
      },
    },
    matrix_sha256: hex('d'),
    order: [],
    host: {
      hostname: `bench-1${options.text}`,
      os: 'Linux',
      arch: 'x64',
      kernel: '6.1.0',
      cpu: 'Example CPU 3000 @ 2.4 GHz',
      cores: 2,
      threads: 2,
      memory_bytes: 8 * 2 ** 30,
      virtual_machine: 'kvm',
      governor: null,
      node: '20.19.0',
    },
    clocks: [{ boot_id: BOOT, at_ns: text(0), wall_time: '2026-11-29T12:00:00.000Z' }],
    left_out: [{ what: 'model smollm2-360m', reason: `no location could be reached ${options.text}` }],
    power: [],
  };
}
