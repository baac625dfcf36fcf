export { cellEndpoints } from './cell-endpoints.js';
export { changedJson } from './changed-json.js';
export { type Compacted, compactCell, compactRun } from './compact-run.js';
export type { CompactedTable } from './compact-table.js';
export {
  type AnsweredQuery,
  type CompletedQueries,
  completedQueries,
  type DuplicateQuery,
} from './completed-queries.js';
export { type CopiedRun, type CopyOptions, copyRun } from './copy-run.js';
export { type CopiedTraining, copyTraining } from './copy-training.js';
export type { SampleNames } from './encode-samples.js';
export type {
  BoundFacts,
  CellCapFacts,
  CoolDownFacts,
  DeviceFacts,
  DriftFacts,
  GateReading,
  ObservedFacts,
  PowerCapFacts,
  RoleLedger,
  StoppingFacts,
  WarmUpFacts,
} from './experiment-facts.js';
export {
  type Exported,
  type ExportedFile,
  type ExportFormat,
  type ExportOptions,
  exportFormats,
  exportRun,
} from './export-run.js';
export type { Finding } from './findings.js';
export {
  type EnergyFit,
  type FitCoefficient,
  hasKernels,
  type KernelDeviceFacts,
  type KernelFit,
  type KernelRecords,
  type KernelSession,
  type KernelSessionFacts,
  type KernelStep,
  type KernelWriter,
  kernelsOf,
  openKernelSession,
  readKernels,
  type StepKernel,
} from './kernel-sessions.js';
export type {
  Baseline,
  BaselinePower,
  CellFile,
  CellHashes,
  CellPoint,
  CellProvenance,
  CellSettings,
  CellVerdict,
  ChannelFile,
  ClientFacts,
  ClockZero,
  DomainLedger,
  GradingFacts,
  GradingLedger,
  HostFacts,
  InstantText,
  LoopFacts,
  MergedRun,
  OrderFacts,
  PowerFile,
  PrunedCell,
  ReplayFacts,
  RunManifest,
  SegmentEntry,
  Sitting,
  SourceFlag,
  VerdictReason,
} from './manifest.js';
export { type Merged, mergeRuns } from './merge-runs.js';
export type { ChannelReadings, PowerFileSeries } from './power-series.js';
export { isPublished, type PublishedFile, type PublishedManifest } from './published-manifest.js';
export {
  createPublishedRun,
  type PublishedFacts,
  type PublishedRun,
  type PublishedWriter,
  readPublished,
} from './published-run.js';
export { parseQueryId, type QueryIdParts, queryId } from './query-ids.js';
export { openQueries, type QueryAnswer, type QueryableRun } from './query-run.js';
export { type ColumnContent, readCellColumns } from './read-columns.js';
export type { TableContent, TornSegment } from './read-tables.js';
export { readTextsOf } from './read-texts.js';
export { type RecordValue, writeRecordsParquet } from './records-parquet.js';
export { repeatsMade } from './repeats-made.js';
export { createRun, type ManifestPatch, openRun, type RunFolder } from './run-folder.js';
export { openTables, type RunTables, type TablesOptions, type ViewName, viewNames } from './run-tables.js';
export { type ColumnBatch, scanColumns } from './scan-columns.js';
export type { SegmentInfo } from './scan-segment.js';
export { createScratch, type Scratch } from './scratch.js';
export {
  readColumns,
  readSegment,
  type SampleContent,
  type SampleSeries,
  type SegmentContent,
} from './segment-reader.js';
export { createSegmentTail, type SegmentTail, type TailOptions } from './segment-tail.js';
export { type SegmentOptions, SegmentWriter } from './segment-writer.js';
export type { GaugeLoad, ServerLoad } from './server-load.js';
export { csvLine, sqlJson, sqlText } from './sql-values.js';
export type { ArraysOf, ListArray, NameArray, TextArray } from './table-arrays.js';
export {
  checkpointText,
  createTrainingRun,
  openTrainingRun,
  type TrainingAside,
  type TrainingFacts,
  type TrainingIdle,
  type TrainingManifest,
  type TrainingPatch,
  type TrainingRun,
  type TrainingSitting,
} from './training-run.js';
export { type Verification, verifyRun } from './verify-run.js';
