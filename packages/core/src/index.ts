export {
  type AppliedCalibration,
  CALIBRATION_FORMAT,
  Calibration,
  calibratedDomain,
  calibratedRecorder,
  calibratedSource,
} from './calibration.js';
export type { CallInput, Message, MessageToolCall, Sampling, ToolSpec } from './call-input.js';
export {
  type CallOptions,
  type CallRecord,
  type CallStamps,
  type CallStatus,
  type Client,
  type ClientRequest,
  callStatuses,
  type EndpointFacts,
  type TokenSource,
  type ToolCall,
  type Usage,
} from './client.js';
export type { Clock } from './clock.js';
export { closest, didYouMean } from './closest.js';
export type { Column, ColumnType } from './column.js';
export type { Dataset, DatasetFile, DatasetSpec, PromptFacts } from './datasets.js';
export { coverEndpoints, coversEndpoint, isElsewhere } from './endpoint-place.js';
export {
  type AgentEngineEntry,
  AllowedEngines,
  Engine,
  type EngineAsk,
  type EngineEntry,
  type EngineFacts,
  type EngineHost,
  type EngineKind,
  type EngineStatus,
  engineKinds,
  type LaunchedEntry,
  type ProfileName,
  profileNames,
  type RunningEngine,
  type ServerReading,
} from './engine.js';
export { type ErrorCode, hints, isErrorCode, messageOf, PerwattError, systemCode } from './errors.js';
export type {
  BlockKind,
  Breaker,
  CellOrder,
  Condition,
  Constraint,
  Expect,
  PowerCap,
  RepeatRule,
  StopMetric,
  Test,
  ThermalGate,
  WarmUpRule,
} from './experiment.js';
export {
  type Grade,
  type GradeInput,
  type Grader,
  type GraderMode,
  type GradingAccount,
  type Item,
  type LateGrader,
  type Material,
  type Verdict,
  verdicts,
} from './grading.js';
export { Grading } from './grading-file.js';
export { issueText, issueWords } from './issue-words.js';
export {
  type ActivationType,
  activationTypes,
  type KernelName,
  Kernels,
  type KernelType,
  kernelNames,
  kernelTypes,
  type WeightType,
  weightTypes,
} from './kernels-file.js';
export { type KernelSize, kernelSizes, kernels } from './kernels-table.js';
export {
  Arrivals,
  type EndedLoadCall,
  type HistorySource,
  historySources,
  type LateParentPolicy,
  type LoadColumns,
  type LoadEngine,
  type LoadEngineNeeds,
  type LoadJob,
  lateParentPolicies,
  SloLimits,
  SteadyRule,
  type TrimAmount,
} from './load.js';
export { type LoadPreset, loadPresets } from './load-preset.js';
export {
  type AcceleratorEntry,
  type AgentEntry,
  type AxisName,
  axisNames,
  type DatasetEntry,
  type EndpointEntry,
  type LoadEntry,
  MATRIX_VERSION,
  MatrixFile,
  type MeterEntry,
  type ModelEntry,
  matrixJsonSchema,
  type PointAxis,
  pointAxes,
  type StrategyEntry,
  type VariantEntry,
} from './matrix-file.js';
export {
  asObserved,
  blindEvents,
  type DeadlineLateness,
  type Domain,
  type ObservedDomain,
  type PowerSource,
  type Probe,
  type Provenance,
  provenances,
  type Recorder,
  type RecorderStatus,
  type SampleColumns,
  type SampleEvent,
  type Scope,
  sampleEvents,
  scopes,
} from './power.js';
export {
  type ChannelColumns,
  type ChannelInfo,
  type ChannelUnit,
  channelRows,
  channelUnits,
} from './power-channels.js';
export { explainFlag, flagsOf, type PowerFlag } from './power-flags.js';
export { published } from './published-table.js';
export { createRng, seedFrom } from './rng.js';
export {
  Simulate,
  type SimulatedAccelerator,
  type SimulatedDataset,
  type SimulatedModel,
  SimulatedSensor,
} from './simulate.js';
export type {
  Answers,
  CallRequest,
  CallResult,
  Candidate,
  Needs,
  Outcome,
  ParameterInfo,
  ProgramRun,
  PromptRouter,
  Rng,
  Role,
  SafeLanguage,
  Strategy,
  StrategyContext,
} from './strategy.js';
export {
  arrowSchema,
  type CallRow,
  type ChannelRow,
  calls,
  channels,
  type GradeRow,
  type KernelRow,
  type PublishedRow,
  type QueryRow,
  queries,
  type RowOf,
  replayed,
  type SampleRow,
  SCHEMA_VERSION,
  samples,
  type Table,
  type TableName,
  type TextRow,
  type TrainEvalRow,
  type TrainStepRow,
  tables,
  texts,
} from './tables.js';
export { chatWithToolsAsText, toolResponseText, toolsAsText } from './tools-as-text.js';
export {
  type TokenCounter,
  type TraceFormat,
  type TraceMeta,
  type TraceRow,
  type TraceText,
  type TraceUnit,
  traceFormats,
  type ZeroOutputPolicy,
  zeroOutputPolicies,
} from './trace.js';
export { train_evals, train_steps } from './training-tables.js';
export {
  elapsed,
  type Instant,
  instant,
  type Joules,
  joules,
  meanPower,
  type Nanos,
  nanos,
  type Watts,
  watts,
} from './units.js';
export type { World, WorldEpisode, WorldStep } from './world.js';
