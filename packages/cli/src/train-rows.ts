import type { TrainEvalRow, TrainStepRow } from '@perwatt/core';
import type { EvalRecord, StepRecord } from '@perwatt/recipes';
import { SegmentWriter, type TrainingRun } from '@perwatt/records';
import type { TrainStamps } from './train-messages.js';

/** Whose record a row is. */
export interface RowOwner {
  readonly training: string;
  readonly recipe: string;
  readonly seed: number;
}

/** The rows of one sitting on their way to disk. */
export interface TrainRows {
  addStep(owner: RowOwner, record: StepRecord, stamps: TrainStamps): void;
  addEval(owner: RowOwner, record: EvalRecord, stamps: TrainStamps): void;
  /** Returns when all of it is on the disk. */
  flush(): void;
  /** Ends the segments and notes them in the manifest. Safe to call twice. */
  close(): void;
}

/** Opens this sitting's segments. */
export function openTrainRows(run: TrainingRun, sitting: number): TrainRows {
  const { run_id } = run.manifest;
  const segment = <T extends 'train_steps' | 'train_evals'>(table: T) =>
    SegmentWriter.create({
      folder: run.path,
      file: `${table}-${run.nextSegment(run.path, table)}.arrows`,
      table,
      sitting,
      metadata: { run_id },
    });
  const steps = segment('train_steps');
  const evals = segment('train_evals');
  let closed = false;
  return {
    addStep(owner, record, stamps) {
      const row: TrainStepRow = { run_id, ...owner, sitting, ...record, ...stamps };
      steps.append([row]);
    },
    addEval(owner, { scores, measures, ...record }, stamps) {
      const row: TrainEvalRow = {
        run_id,
        ...owner,
        sitting,
        ...record,
        accuracy: scores.reduce((sum, score) => sum + score, 0) / scores.length,
        items: scores.length,
        scores: [...scores],
        measures: JSON.stringify(measures),
        ...stamps,
      };
      evals.append([row]);
    },
    flush() {
      steps.flush();
      evals.flush();
    },
    close() {
      if (closed) return;
      closed = true;
      run.updateManifest({ segments: [...run.manifest.segments, steps.close(), evals.close()] });
    },
  };
}
