export { datasetCatalogue, loadDataset } from './catalogue.js';
export type { CatalogueEntry, LoadContext, PulledSetFile } from './dataset.js';
export { datasetsPage } from './datasets-page.js';
export type { OptionInfo } from './options.js';
export type { DatasetCard, HubSource, KnownBad, KnownFile } from './sets/card.js';
export { howToGet } from './sets/set-files.js';
export {
  type ExactPrompt,
  type PromptMaker,
  type PromptMakerOptions,
  type PromptRow,
  promptMaker,
} from './traces/exact-prompt.js';
export {
  type ArrivalSummary,
  inspectTrace,
  type LengthSummary,
  type PrefixSummary,
  type TraceInspection,
} from './traces/inspect-trace.js';
export { type LoadTraceOptions, loadTrace } from './traces/load-trace.js';
export { type PrefixLevel, type PrefixTree, prefixHasher, prefixTree } from './traces/prefix-tree.js';
export type { SynthArrivals } from './traces/synth-arrivals.js';
export { type SynthLikeOptions, synthLike } from './traces/synth-like.js';
export { type SynthLengths, type SynthShapeOptions, synthShape } from './traces/synth-shape.js';
export { fileTexts, memoryTexts, type TextStore } from './traces/text-store.js';
export type { TraceField } from './traces/trace-columns.js';
export { traceReaders } from './traces/trace-formats.js';
export { arrivalBins, type LengthBins, lengthBins } from './traces/trace-plots.js';
export type { TraceReader } from './traces/trace-reader.js';
export type { TraceTable } from './traces/trace-table.js';
export {
  lossOf,
  metaJson,
  type TraceLoss,
  type TraceOutput,
  traceBytes,
  traceOutputs,
  type WritableTrace,
  writable,
} from './traces/write-trace.js';
export { programLanguage } from './worlds/program/language.js';
export { parseProgram } from './worlds/program/parse.js';
export { type ProgramResult, type RunOptions, runProgram } from './worlds/program/run.js';
export type { Program } from './worlds/program/syntax.js';
export { type ProgramValue, parseValues, writeValue } from './worlds/program/value.js';
export { worldById, worldOf, worlds } from './worlds/worlds.js';
