export { cacheFolder } from './weights/cache-folder.js';
export type { CatalogueModel, Lock, Pin, WeightLocation } from './weights/catalogue.js';
export { probeModels } from './weights/probe-models.js';
export {
  type CommandResult,
  type RunCommand,
  runCommand,
} from './weights/run-command.js';
export {
  type ListedModel,
  listModels,
  type ModelWeights,
  pullModel,
  resolveModel,
  verifyModel,
} from './weights/store.js';
export type { WeightsProgress, WeightsWorld } from './weights/weights-world.js';
