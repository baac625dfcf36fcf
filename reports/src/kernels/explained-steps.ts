import type { CellResult } from '../results-types.js';
import type { KernelSet } from './kernel-sets.js';
import { predictSteps, type StepPrediction } from './predict-step.js';

/** A prediction beside a cell that measured the same step. */
export interface ExplainedStep {
  readonly prediction: StepPrediction;
  /** The cell; null where none ran this model with as many sequences. */
  readonly cell: CellResult | null;
  /** Time per output token of one sequence as it was measured, median, ns; null without a cell or where it isn't known. */
  readonly measured_ns: number | null;
  /** Share of it that the kernels explain; above 1 the kernels here are slower than those of the engine. */
  readonly explained_ratio: number | null;
  /** Output tokens of all sequences, 1/s, as measured. */
  readonly measured_tokens_per_s: number | null;
  /** J per output token as measured, prefill included, and where it is from. */
  readonly measured_energy_per_token_j: number | null;
  readonly measured_provenance: string | null;
}

/**
 * Predictions of decode steps beside the cells of the same run that ran the model with as many calls in flight. A step takes the
 * time between tokens of one sequence, so that `tpot` is what it is compared with. Of several such cells each is set beside it.
 */
export const explainedSteps = (sets: readonly KernelSet[]): ExplainedStep[] =>
  sets.flatMap(({ run, sessions, rows }) =>
    sessions.flatMap(({ session, steps }) =>
      predictSteps(steps, rows, session).flatMap((prediction) => {
        const cells = run.results.cells.filter((cell) => sameStep(prediction, cell));
        return cells.length === 0
          ? [beside(prediction, null)]
          : cells.map((cell) => beside(prediction, cell));
      }),
    ),
  );

const sameStep = ({ step }: StepPrediction, { point, concurrency }: CellResult): boolean =>
  step.phase === 'decode' && step.batch === concurrency && [step.model, ...step.names].includes(point.model);

function beside(prediction: StepPrediction, cell: CellResult | null): ExplainedStep {
  const measured_ns = cell?.metrics.tpot_p50_ns.value ?? null;
  const { time_ns } = prediction;
  const energy = cell?.metrics.energy_per_output_token_j ?? null;
  return {
    prediction,
    cell,
    measured_ns,
    explained_ratio:
      time_ns === null || measured_ns === null || measured_ns === 0 ? null : time_ns / measured_ns,
    measured_tokens_per_s:
      measured_ns === null || cell === null ? null : (cell.concurrency / measured_ns) * 1e9,
    measured_energy_per_token_j: energy?.value ?? null,
    measured_provenance: energy?.value == null ? null : energy.provenance,
  };
}
