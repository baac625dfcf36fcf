import { streamElements } from './ceilings.js';
import type { KernelSpec } from './kernel-spec.js';
import type { KernelDevice } from './protocol.js';

/** Multiply-adds of each element: on both sides of the ridge of processors and accelerators alike. */
const steps = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256];

/**
 * The sweep over intensities that a fit of energy needs: one vector that no cache holds, read and written once, and ever more
 * multiply-adds of each element in between (after mixbench). The work is done in 32 bits whatever the type in memory.
 */
export const sweepSpecs = (device: KernelDevice, types: readonly KernelSpec['dtype'][]): KernelSpec[] => {
  const n = streamElements(device);
  return types.flatMap((dtype) => steps.map((k): KernelSpec => ({ kind: 'fma', dtype, n, k })));
};
