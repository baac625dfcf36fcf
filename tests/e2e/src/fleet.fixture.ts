import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instant, type MatrixFile, type Simulate, seedFrom } from '@perwatt/core';
import { graderById } from '@perwatt/graders';
import {
  type FleetDevice,
  parseMatrix,
  planMatrix,
  runPlan,
  simulatedWorld,
  type WorldParts,
} from '@perwatt/harness';
import { energyDetail, type MetricId, type MetricValue, type PowerSeries } from '@perwatt/metrics';
import { simulatedSource } from '@perwatt/native-power';
import type { CellFile, RunFolder } from '@perwatt/records';
import { buildResults } from '@perwatt/reports';
import { strategyById } from '@perwatt/strategies';

/** Figures whose intervals are held against the truth. */
export const judged = [
  'accuracy',
  'energy_per_query_j',
  'ipw_per_w',
  'prefill_energy_per_prompt_token_j',
  'decode_energy_per_output_token_j',
] as const satisfies readonly MetricId[];
export type Judged = (typeof judged)[number];

/** What one cell of one replicate came to, exactly: by a meter that knows power at every moment. */
export interface ExactTotals {
  readonly energy_j: number;
  readonly prefill_j: number;
  readonly decode_j: number;
  readonly busy_s: number;
  readonly queries: number;
  readonly prompt_tokens: number;
  readonly decoded_tokens: number;
}

export interface CellOfReplicate {
  /** Model, accelerator and load. */
  readonly name: string;
  readonly figures: Readonly<Record<Judged, MetricValue>>;
  readonly exact: ExactTotals;
}

interface Step {
  readonly at_ns: bigint;
  readonly power_w: number;
}

/** Every step of a device's power, from the start of the world. */
function logged({ signal }: FleetDevice): Step[] {
  const steps: Step[] = [];
  let from = 0n;
  signal.onChange((at) => {
    if (at > from) steps.push({ at_ns: from, power_w: signal.now() });
    from = at;
  });
  return steps;
}

/** The same as a meter would book it that never errs. */
function exactSeries(id: string, steps: readonly Step[]): PowerSeries {
  const booked = new Float64Array(steps.length);
  for (let i = 1; i < steps.length; i++) {
    const before = steps[i - 1] ?? { at_ns: 0n, power_w: 0 };
    const seconds = Number((steps[i]?.at_ns ?? 0n) - before.at_ns) / 1e9;
    booked[i] = (booked[i - 1] ?? 0) + before.power_w * seconds;
  }
  return {
    domain: {
      id,
      source: 'exact',
      scope: 'gpu',
      kind: 'counter',
      provenance: 'simulated',
      in_total: true,
      update_period_ns: 1,
      quantum: null,
      scale_error_ratio: null,
      note: null,
    },
    at_ns: BigInt64Array.from(steps, ({ at_ns }) => at_ns),
    booked_j: booked,
    lo_j: booked,
    hi_j: booked,
    period_ns: 3.6e12,
  };
}

/** One run of a fleet, with what its meters said and what they should have. */
export async function replicate(text: string, seed: number): Promise<CellOfReplicate[]> {
  const matrix: MatrixFile = { ...parseMatrix(text, 'fleet.yaml'), seed };
  const { simulate: laws } = matrix;
  if (laws === undefined) throw new RangeError('the matrix simulates nothing');
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'perwatt-fleet-'));
  try {
    const logs = new Map<string, Step[]>();
    const powerSource: WorldParts['powerSource'] = ({ clock, devices }) => {
      for (const device of devices) logs.set(device.name, logged(device));
      return simulatedSource({ clock, devices, period_ns: 1e9 });
    };
    const deps = simulatedWorld(laws, {
      seed: seedFrom(seed, 'world'),
      version: '0.0.0',
      boot_id: 'simulated',
      wallTime: () => new Date(0),
      hostFacts: () => ({
        hostname: 'host',
        os: 'linux',
        kernel: '',
        arch: 'x64',
        cpu: null,
        threads: 1,
        cores: null,
        memory_bytes: 0,
        virtual_machine: null,
        governor: null,
        node: '',
      }),
      grader: graderById,
      strategy: strategyById,
      powerSource,
    });
    const plan = await planMatrix(matrix, deps, {});
    const { run } = await runPlan(plan, deps, { root, signal: new AbortController().signal });
    const results = new Map(buildResults(run).cells.map((cell) => [cell.cell_id, cell]));
    return run.cells().map((cell) => {
      const found = results.get(cell.cell_id);
      if (found === undefined) throw new RangeError(`no results of ${cell.cell_id}`);
      const { model, accelerator, load } = cell.point;
      return {
        name: `${model} ${accelerator} ${load}`,
        figures: Object.fromEntries(
          judged.map((id) => [id, found.metrics[id]]),
        ) as CellOfReplicate['figures'],
        exact: exactTotals(run, cell, {
          steps: logs.get(accelerator) ?? [],
          busy_ns: found.energy.busy_ns,
        }),
      };
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function exactTotals(
  run: RunFolder,
  cell: CellFile,
  { steps, busy_ns }: { readonly steps: readonly Step[]; readonly busy_ns: number },
): ExactTotals {
  const [queries, calls] = [run.readQueries(cell.cell_id).rows, run.readCalls(cell.cell_id).rows];
  const series = exactSeries(`exact:${cell.point.accelerator}`, steps);
  const sittings = cell.sittings.map(({ sitting, start_ns, end_ns }) => ({
    sitting,
    window: { start: instant(BigInt(start_ns)), end: instant(BigInt(end_ns ?? start_ns)) },
    series: [series],
    baselines: [],
  }));
  const { phases } = energyDetail({ queries, calls, sittings, guess_rate: null }, new Map()).phases;
  const all = Object.values(phases ?? {});
  const own = calls.filter(({ phase }) => phase === 'measure');
  return {
    energy_j: all.reduce((sum, { energy_j }) => sum + energy_j, 0),
    prefill_j: phases?.prefill.energy_j ?? Number.NaN,
    decode_j: phases?.decode.energy_j ?? Number.NaN,
    busy_s: busy_ns / 1e9,
    queries: queries.length,
    prompt_tokens: own.reduce((sum, call) => sum + (call.prompt_tokens ?? 0), 0),
    decoded_tokens: own.reduce((sum, call) => sum + (call.completion_tokens ?? 1) - 1, 0),
  };
}

/** Chance that a model is right about an item drawn from a data set, by the laws alone. */
export function trueAccuracy({ models, datasets }: Simulate, model: string, dataset: string): number {
  const { skill } = models[model] ?? { skill: Number.NaN };
  const { difficulty, difficulty_sd, guess_rate } = datasets[dataset] ?? {
    difficulty: Number.NaN,
    difficulty_sd: 0,
    guess_rate: 0,
  };
  let [sum, weights] = [0, 0];
  for (let z = -8; z <= 8; z += 0.001) {
    const weight = Math.exp(-(z ** 2) / 2);
    weights += weight;
    sum += (weight * 1) / (1 + Math.exp(difficulty + difficulty_sd * z - skill));
  }
  return guess_rate + (1 - guess_rate) * (sum / weights);
}
