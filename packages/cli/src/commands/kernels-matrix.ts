import type { MatrixFile } from '@perwatt/core';
import type { KernelRunner, KernelWork } from '@perwatt/harness';
import { findModel, shippedCatalogue } from '@perwatt/metrics';
import type { Io } from '../io.js';
import { type NamedStep, stepsOf } from './kernels-flags.js';
import { runKernelSession } from './kernels-session.js';
import { type KernelsWorld, readyKernelRunners } from './kernels-world.js';

/** What runs the kernels of a matrix beside its cells. */
export const matrixKernels = (io: Io, world: KernelsWorld): KernelRunner => ({
  async ready(kernels) {
    matrixSteps(kernels, []);
    await readyKernelRunners(io, world);
  },
  async run({ matrix, run, phase, signal, onProgress }: KernelWork) {
    const { kernels } = matrix;
    if (kernels === undefined) return;
    await runKernelSession(
      {
        devices: kernels.devices,
        specs: [],
        steps: matrixSteps(kernels, matrix.axes.model),
        phase,
        folder: run.path,
        timing: { most_ns: kernels.time_s * 1e9, deviation_ratio: 0.005 },
        energy: kernels.energy ? { windows: 3, least_ns: 5e9 } : null,
        deadline_ms: kernels.deadline_s * 1000,
        threads: kernels.threads ?? null,
      },
      { io, world, signal, onProgress },
    );
  },
});

type Kernels = NonNullable<MatrixFile['kernels']>;

/**
 * The decode steps that a matrix asks for: of the models it names, else of those of the axis that the catalogue knows the sizes
 * of. Throws `INPUT_INVALID` for a model that it names and the catalogue doesn't know.
 */
export function matrixSteps(
  { models, batch, context, weights, head_weights, activations }: Kernels,
  axis: readonly { readonly id: string }[],
): NamedStep[] {
  const catalogue = shippedCatalogue();
  const known = (name: string) => findModel(catalogue, name).entry?.shape != null;
  const ofAxis = axis.map(({ id }) => id).filter(known);
  const flags = { batch, context, phase: 'decode' as const, weights };
  return stepsOf(
    {
      ...flags,
      model: models ?? ofAxis,
      ...(head_weights && { headWeights: head_weights }),
      ...(activations && { activations }),
    },
    catalogue,
  ).map((step) => ({ ...step, names: namesOf(step, axis) }));
}

/** The names that a step's model goes by: as it was asked for, and on the axis. */
const namesOf = ({ model, names }: NamedStep, axis: readonly { readonly id: string }[]): string[] => {
  const same = axis.map(({ id }) => id).filter((id) => findModel(shippedCatalogue(), id).entry?.id === model);
  return [...new Set([...names, ...same])];
};
