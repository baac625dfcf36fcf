export { type Compacted, compactCell, compactRun } from './compact-run.js';
export type { CompactedTable } from './compact-table.js';
export {
  type AnsweredQuery,
  type CompletedQueries,
  completedQueries,
  type DuplicateQuery,
} from './completed-queries.js';
export type { SampleNames } from './encode-samples.js';
export type {
  Baseline,
  BaselinePower,
  CellFile,
  CellPoint,
  CellProvenance,
  CellVerdict,
  ChannelFile,
  ClockZero,
  DomainLedger,
  HostFacts,
  InstantText,
  PowerFile,
  RunManifest,
  SegmentEntry,
  Sitting,
  SourceFlag,
  VerdictReason,
} from './manifest.js';
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
export type { TableContent, TornSegment } from './read-tables.js';
export { createRun, type ManifestPatch, openRun, type RunFolder } from './run-folder.js';
export type { SegmentInfo } from './scan-segment.js';
export {
  readColumns,
  readSegment,
  type SampleContent,
  type SampleSeries,
  type SegmentContent,
} from './segment-reader.js';
export { type SegmentOptions, SegmentWriter } from './segment-writer.js';
export type { ArraysOf, ListArray, NameArray, TextArray } from './table-arrays.js';
