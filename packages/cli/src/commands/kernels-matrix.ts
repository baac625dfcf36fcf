import { basename } from 'node:path';
import { type MatrixFile, type ModelEntry, PerwattError } from '@perwatt/core';
import type { KernelRunner, KernelWork } from '@perwatt/harness';
import { shippedCatalogue } from '@perwatt/metrics';
import type { Io } from '../io.js';
import { knownModel, type ModelPlace, type NamedStep, stepsOf } from './kernels-flags.js';
import { type KernelsWorld, readyKernelRunners } from './kernels-world.js';

/** What runs the kernels of a matrix beside its cells. */
export const matrixKernels = (io: Io, world: KernelsWorld): KernelRunner => ({
  async ready(matrix) {
    matrixSteps(matrix, world);
    await readyKernelRunners(io, world);
  },
  async run({ matrix, run, phase, signal, onProgress }: KernelWork) {
    const { kernels } = matrix;
    if (kernels === undefined) return;
    const { runKernelSession } = await import('./kernels-session.js');
    await runKernelSession(
      {
        devices: kernels.devices,
        specs: [],
        sweep: [],
        steps: matrixSteps(matrix, world),
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

/**
 * The decode steps that a matrix asks for: of the models it names, else of those of the axis whose sizes the catalogue knows, by
 * their id, the name their server knows, or their weight file. Throws `INPUT_INVALID` where there is none.
 */
export function matrixSteps(
  { kernels, axes }: Pick<MatrixFile, 'kernels' | 'axes'>,
  { weightFile }: Pick<KernelsWorld, 'weightFile'>,
): NamedStep[] {
  if (kernels === undefined) return [];
  const { models, batch, context, weights, head_weights, activations } = kernels;
  const place: ModelPlace = {
    catalogue: shippedCatalogue(),
    alsoCalled: (name) =>
      namesOf(
        axes.model.find(({ id }) => id === name),
        weightFile(name),
      ),
  };
  const ofAxis = axes.model.map(({ id }) => id).filter((id) => knownModel(id, place) !== null);
  const wanted = models ?? ofAxis;
  if (wanted.length === 0)
    throw new PerwattError(
      'INPUT_INVALID',
      `the sizes of ${axes.model.map(({ id }) => id).join(', ')} are not known, so that \`kernels\` has nothing to run`,
      { hint: 'Name models of `perwatt catalogue models` under `kernels.models`.' },
    );
  const steps = stepsOf(
    {
      batch,
      context,
      phase: 'decode',
      weights,
      model: wanted,
      ...(head_weights && { headWeights: head_weights }),
      ...(activations && { activations }),
    },
    place,
  );
  return steps.map((step) => {
    const same = ofAxis.filter((id) => knownModel(id, place)?.id === step.model);
    return { ...step, names: [...new Set([...step.names, ...same])] };
  });
}

/** What else a model of the axis is called. */
const namesOf = (entry: ModelEntry | undefined, weightFile: string | null): string[] =>
  [
    entry?.model,
    entry?.model && basename(entry.model),
    entry?.path && basename(entry.path),
    weightFile,
  ].flatMap((name) => name ?? []);
