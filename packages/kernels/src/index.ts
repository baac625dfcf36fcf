export { addonPath } from './addon.js';
export { type AddonPlace, type BuildOptions, ensureAddon } from './build-addon.js';
export { ceilingSpecs, ceilingsOf, type RanKernel } from './ceilings.js';
export {
  type Ceilings,
  CONVENTION,
  type KernelCounts,
  kernelCounts,
  type Roofline,
  rooflineOf,
} from './kernel-counts.js';
export type { KernelOutcome } from './kernel-outcome.js';
export { type KernelProgram, kernelProgram } from './kernel-process.js';
export { type DeviceCeilings, kernelRow, type RowPlace } from './kernel-row.js';
export {
  KernelSpec,
  optionsText,
  sizesOf,
  sizesText,
  specText,
} from './kernel-spec.js';
export {
  type AbsentBackend,
  type FoundDevice,
  type KernelDevices,
  type KernelSupport,
  listDevices,
} from './list-devices.js';
export type { ModelFacts } from './model-facts.js';
export { type ModelKernel, type ModelStep, modelKernels } from './model-kernels.js';
export { parseSpec } from './parse-spec.js';
export type { EnergyOptions, KernelDevice, PowerPlace, TimingOptions } from './protocol.js';
export {
  type KernelJob,
  type KernelProgress,
  type RunKernelsOptions,
  runKernels,
} from './run-kernels.js';
export { checkSpecs, type SpecChoice, usualSpecs } from './standard-specs.js';
export { sweepSpecs } from './sweep-specs.js';
