import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCHEMA_VERSION } from '@perwatt/core';
import { createTrainingRun, SegmentWriter, type TrainingFacts, type TrainingRun } from '@perwatt/records';
import { sampleColumns, testDomain } from '@perwatt/test-kit';
import { onTestFinished } from 'vitest';

const MS = 1_000_000n;

/** One seed of a made-up training: when its pieces were, in ms, and the scores of its evaluations. */
export interface MadeSeed {
  readonly training: string;
  readonly seed: number;
  readonly sitting?: number;
  readonly steps: readonly { readonly step: number; readonly from: number; readonly to: number }[];
  readonly evals: readonly {
    readonly step: number;
    readonly from: number;
    readonly to: number;
    readonly scores: readonly number[];
    readonly measures?: Readonly<Record<string, number>>;
  }[];
}

/** What a made-up run is of. */
export interface MadeRun {
  readonly trainings: readonly (Partial<TrainingFacts> & Pick<TrainingFacts, 'name'>)[];
  readonly seeds: readonly MadeSeed[];
  /** Ends of the sittings, ms; null for one that was killed. Each begins where the one before ended. */
  readonly sittings?: readonly { readonly from: number; readonly to: number | null }[];
  /** What each sitting noted beside its rows, ms. */
  readonly asides?: readonly {
    readonly kind: 'start' | 'votes';
    readonly from: number;
    readonly to: number;
  }[];
  readonly idle?: readonly {
    readonly when: 'before' | 'after';
    readonly from: number;
    readonly to: number;
  }[];
  /** False for a run without a meter. */
  readonly metered?: boolean;
}

const factsOf = (own: MadeRun['trainings'][number]): TrainingFacts => ({
  recipe: 'grpo',
  version: 1,
  title: 'made up',
  effort: 'env_actions',
  params: { lr: 1 },
  seeds: [0],
  steps: 2,
  eval_every: 2,
  claims: [],
  ...own,
});

const spanText = ({ from, to }: { readonly from: number; readonly to: number }) => ({
  start_ns: String(BigInt(from) * MS),
  end_ns: String(BigInt(to) * MS),
});

/** A training run on disk whose meter shows 10 W all the time, from −1 s to 60 s; deleted when the test ends. */
export function madeRun({
  trainings,
  seeds,
  sittings = [{ from: 0, to: 10_000 }],
  asides,
  idle,
  metered = true,
}: MadeRun): TrainingRun {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-training-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = createTrainingRun(join(root, 'run'), {
    schema_version: SCHEMA_VERSION,
    kind: 'training',
    run_id: 'run',
    perwatt_version: '0',
    status: 'done',
    trainings: trainings.map(factsOf),
    host: {
      hostname: 'h',
      os: 'o',
      kernel: 'k',
      arch: 'a',
      cpu: null,
      threads: 1,
      cores: null,
      memory_bytes: 1,
      virtual_machine: null,
      governor: null,
      node: '20',
    },
    clocks: [],
    power: [],
    boundary: null,
    sittings: sittings.map(({ from, to }, sitting) => ({
      sitting,
      boot_id: 'boot',
      start_ns: String(BigInt(from) * MS),
      end_ns: to === null ? null : String(BigInt(to) * MS),
      threads: 2,
      ...(asides && { asides: asides.map(({ kind, ...own }) => ({ kind, ...spanText(own) })) }),
      ...(idle && { idle: idle.map(({ when, ...own }) => ({ when, ...spanText(own) })) }),
    })),
    segments: [],
  });
  writeRows(run, seeds, trainings.map(factsOf));
  if (metered) writeSamples(run);
  return run;
}

function writeRows(run: TrainingRun, seeds: readonly MadeSeed[], facts: readonly TrainingFacts[]): void {
  const writer = <T extends 'train_steps' | 'train_evals'>(table: T) =>
    SegmentWriter.create({ folder: run.path, file: `${table}-0.arrows`, table, sitting: 0, metadata: {} });
  const [steps, evals] = [writer('train_steps'), writer('train_evals')];
  for (const { training, seed, sitting = 0, ...own } of seeds) {
    const recipe = facts.find(({ name }) => name === training)?.recipe ?? '';
    const owner = { run_id: 'run', training, recipe, seed, sitting };
    const span = ({ from, to }: { readonly from: number; readonly to: number }) => ({
      start_ns: BigInt(from) * MS,
      end_ns: BigInt(to) * MS,
      cpu_ns: (to - from) * 1e6,
    });
    for (const step of own.steps)
      steps.append([
        {
          ...owner,
          step: step.step,
          tokens: 100,
          env_actions: 50,
          privileged_actions: 5,
          calls: 8,
          verification_tokens: 2,
          updates: 1,
          rejected_updates: 1,
          reward: 0.5,
          ...span(step),
        },
      ]);
    for (const { step, scores, measures = {}, ...times } of own.evals)
      evals.append([
        {
          ...owner,
          step,
          accuracy: scores.reduce((sum, score) => sum + score, 0) / scores.length,
          items: scores.length,
          scores: [...scores],
          tokens: 10,
          calls: 10,
          measures: JSON.stringify(measures),
          ...span(times),
        },
      ]);
  }
  run.updateManifest({ segments: [steps.close(), evals.close()] });
}

function writeSamples(run: TrainingRun): void {
  const domain = testDomain({ id: 'package-0', source: 'rapl', provenance: 'counter' });
  const file = 'rapl-0.arrows';
  const writer = SegmentWriter.create({
    folder: run.powerFolder,
    file,
    table: 'samples',
    sitting: 0,
    metadata: {},
  });
  const columns = sampleColumns(
    Array.from({ length: 611 }, (_, i) => ({
      at_ns: BigInt(i * 100 - 1000) * MS,
      domain: 0,
      raw: BigInt(i),
      booked_energy_j: i,
      event: i === 0 ? ('first' as const) : ('ok' as const),
    })),
  );
  writer.appendColumns(columns, { domains: [domain.id], raw_units: ['uJ'] });
  const segment = writer.close();
  const period_ns = 1e8;
  const entry = {
    file,
    source: 'rapl',
    provenance: 'counter' as const,
    period_ns,
    domains: [domain],
    boot_id: 'boot',
    segment,
  };
  run.updateManifest({ power: [entry] });
}
