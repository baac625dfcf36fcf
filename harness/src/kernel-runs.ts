import { type MatrixFile, messageOf, PerwattError } from '@perwatt/core';
import { type RunFolder, readKernels } from '@perwatt/records';
import type { HarnessDeps, KernelPhase } from './deps.js';
import type { Progress } from './progress.js';

/** Whether a matrix has kernels run before or after its cells. */
const wanted = ({ kernels }: Pick<MatrixFile, 'kernels'>, phase: KernelPhase): boolean =>
  kernels !== undefined && (kernels.when === phase || kernels.when === 'both');

/** Makes what runs kernels ready, before anything is measured. Throws where the matrix wants kernels and nothing can run them. */
export async function readyKernels(
  matrix: MatrixFile,
  { kernels }: Pick<HarnessDeps, 'kernels'>,
): Promise<void> {
  if (matrix.kernels === undefined) return;
  if (kernels === undefined) throw new PerwattError('MATRIX_INVALID', 'nothing here can run `kernels`');
  await kernels.ready(matrix);
}

interface KernelWorld {
  readonly matrix: MatrixFile;
  readonly deps: Pick<HarnessDeps, 'kernels'>;
  readonly signal: AbortSignal;
  readonly progress: Pick<Progress, 'phase'>;
}

/**
 * Runs the kernels of a matrix before or after its cells, unless an earlier start of the run did. What stops them is kept among
 * what the run left out, and stops nothing else.
 */
export async function kernelsAround(
  run: RunFolder,
  phase: KernelPhase,
  { matrix, deps, signal, progress }: KernelWorld,
): Promise<void> {
  if (!wanted(matrix, phase) || signal.aborted || wereRun(run, phase)) return;
  progress.phase(`kernels ${phase} the cells`);
  try {
    await deps.kernels?.run({ matrix, run, phase, signal, onProgress: (text) => progress.phase(text) });
  } catch (error) {
    if (signal.aborted) return;
    const { left_out } = run.manifest;
    run.updateManifest({
      left_out: [...left_out, { what: `kernels ${phase} the cells`, reason: messageOf(error) }],
    });
  }
}

/** Whether a session of that phase was carried through. */
const wereRun = (run: RunFolder, phase: KernelPhase): boolean =>
  readKernels(run.path)?.sessions.some((known) => known.phase === phase && known.ended === 'done') ?? false;
