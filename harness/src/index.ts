export { datasetSpec } from './dataset-spec.js';
export type {
  ClientPlace,
  CommandEnd,
  Commands,
  CpuTimes,
  HarnessDeps,
  KernelPhase,
  KernelRunner,
  KernelWork,
  NamedEngine,
  PreparedModel,
  RouteScorer,
} from './deps.js';
export { parseAllowedEngines } from './engines/parse-allowed.js';
export { type CellEstimate, estimatePlan, type PlanEstimate } from './estimate.js';
export { type JudgedAhead, judgedAhead } from './judged-ahead.js';
export type { DrawnArrivals } from './load/arrival-stream.js';
export { type CalibrationOptions, calibrateClient } from './load/calibrate.js';
export { firstRows } from './load/first-rows.js';
export { type LoadRowArrays, sharedNumbers, sharedRows } from './load/load-rows.js';
export { type LoadWork, type LoadWorkerParts, runLoadShare } from './load/load-worker.js';
export { type LoadTimer, type PaceCounts, type Pacer, type PacerOptions, startPacer } from './load/pacer.js';
export {
  type RateSearch,
  type RateTrial,
  type RateVerdict,
  type SearchStep,
  searchStep,
} from './load/rate-search.js';
export { planReplay, type ReplayPlan, type ReplaySpec } from './load/replay-plan.js';
export type { ReplayProgress } from './load/replay-progress.js';
export {
  type LoadWorker,
  type OpenLoadWorker,
  type ReplayDeps,
  type ReplayOptions,
  type ReplayOutcome,
  runReplay,
  type WorkerHealth,
} from './load/replay-run.js';
export {
  drawSchedule,
  type Schedule,
  scheduleOf,
  type TraceSchedule,
  traceSchedule,
} from './load/schedule.js';
export type { TurnArrays, TurnTexts } from './load/turn-arrays.js';
export type { TurnFact, TurnPlay } from './load/turn-share.js';
export { parseMatrix } from './parse-matrix.js';
export { type Cell, type Filter, type Plan, planMatrix } from './plan.js';
export { openPowerLog, type PowerLog, type PowerLogOptions, type PowerRun } from './power-log.js';
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
export {
  type ChangedGrade,
  type GradeSide,
  type ModeChange,
  type RegradedCell,
  type RegradeSpec,
  regradeCell,
} from './regrade.js';
export { type RunOptions, type RunOutcome, resumeRun, runPlan } from './run-matrix.js';
export { runQuery } from './run-query.js';
export type { WattsNow } from './series-memory.js';
export { type FleetDevice, simulatedWorld, type WorldParts } from './simulate/simulated-world.js';
