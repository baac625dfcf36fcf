export type { CpuTimes, HarnessDeps, PreparedModel } from './deps.js';
export { type CellEstimate, estimatePlan, type PlanEstimate } from './estimate.js';
export { parseMatrix } from './parse-matrix.js';
export { type Cell, type Filter, type Plan, planMatrix } from './plan.js';
export {
  type OpenPowerStream,
  type PowerSegments,
  type PowerStream,
  type PowerStreamOptions,
  streamHere,
} from './power-stream.js';
export type { CellResult, Progress, ProgressSnapshot } from './progress.js';
export { type Protocol, protocols } from './protocols.js';
export { type Lease, localQueue, type Queue } from './queue.js';
export { type RunOptions, type RunOutcome, resumeRun, runPlan } from './run-matrix.js';
export type { WattsNow } from './series-memory.js';
