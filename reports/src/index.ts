export { buildResults } from './build-results.js';
export { buildResultsOn } from './build-results-on.js';
export {
  type CellPart,
  cellParts,
  type PartFigures,
  partFigures,
  phaseFigures,
} from './compare/cell-parts.js';
export { type ComparableCell, type ComparableFigure, cellLabel } from './compare/comparable.js';
export { comparablePublished } from './compare/comparable-published.js';
export { comparableRun, type MeasuredRun } from './compare/comparable-run.js';
export { type CompareOptions, chosenMetrics, compareCells, metricsOf } from './compare/compare-cells.js';
export {
  type CellFront,
  compareFronts,
  type FrontOptions,
  type FrontPoint,
} from './compare/compare-fronts.js';
export { compareYears, type YearComparison, type YearSplit } from './compare/compare-years.js';
export type { ComparedSide, Comparison, ComparisonRow } from './compare/comparison.js';
export {
  comparisonCsv,
  comparisonGrid,
  comparisonHead,
  comparisonMarkdown,
  comparisonNotes,
} from './compare/comparison-text.js';
export {
  type FigureLine,
  type FigureQuery,
  figureLines,
  figureRecords,
  figuresCsv,
  figuresGrid,
  figuresNotes,
} from './compare/figures-text.js';
export { blocksMarkdown, frontBlock, frontsCsv, type TextBlock, yearBlocks } from './compare/front-text.js';
export { fittedGrid, type Grid, gridMarkdown } from './compare/grid.js';
export { type RouteGroup, type RouteSources, routeGroups } from './compare/route-data.js';
export {
  type LearnedRouter,
  type RouteQuestion,
  type RouterKind,
  type RouteTable,
  routerKinds,
  routeTable,
} from './compare/route-table.js';
export { routeBlock } from './compare/route-text.js';
export { formatJoules, formatNanos, formatNumber, formatPercent } from './format.js';
export {
  type ImportedSiteOptions,
  publishedJson,
  writeImportedSite,
} from './imported/write-imported-site.js';
export { type DatasheetPeak, datasheetPeak, shareOf } from './kernels/datasheet-peak.js';
export { energyFits, pointOf, sweepRows } from './kernels/energy-fits.js';
export { fittedEnergy } from './kernels/fit-energy.js';
export { ceilingRows } from './kernels/kernel-sets.js';
export { type PredictedKernel, predictSteps, type StepPrediction } from './kernels/predict-step.js';
export { reportPage } from './page.js';
export {
  BUNDLE_FILE,
  BUNDLE_VERSION,
  BundleManifest,
  CLAIMS_FILE,
  RUN_FOLDER,
} from './publish/bundle-manifest.js';
export type { CitationFacts } from './publish/citation.js';
export {
  type ClaimComparison,
  type ClaimOptions,
  compareClaims,
  differenceText,
} from './publish/compare-claims.js';
export {
  type ChangedFact,
  type ChangedFigure,
  diffResults,
  type ResultsDiff,
  type StoredResults,
} from './publish/diff-results.js';
export { type DrawnFigure, type DrawOptions, drawFigures } from './publish/draw-figures.js';
export { type BundleClaims, type PackedBundle, packBundle } from './publish/pack-bundle.js';
export {
  type PrivateFacts,
  type PrivateRecords,
  type PublishWorld,
  privateFactsOf,
} from './publish/private-facts.js';
export { PublicationSummary, SUMMARY_VERSION, summaryJsonSchema } from './publish/publication-summary.js';
export { type EnergyRecheck, recheckEnergy } from './publish/recheck-energy.js';
export { createRedactor, type Redactions, type Redactor } from './publish/redactor.js';
export { type UnpackedBundle, unpackBundle } from './publish/unpack-bundle.js';
export {
  type PublicationOptions,
  type PublishedSource,
  writePublication,
} from './publish/write-publication.js';
export {
  type PublishedTraining,
  type TrainingPublicationOptions,
  writeTrainingPublication,
} from './publish/write-training-publication.js';
export { resultsCsv } from './results-csv.js';
export { resultsJson, resultsJsonOf } from './results-json.js';
export { resultsTable } from './results-table.js';
export {
  type CellResult,
  type CellSpan,
  type NotMeasured,
  type PowerFacts,
  type PowerTrace,
  RESULTS_VERSION,
  type RunResults,
  type ShownQuery,
  type Timeline,
} from './results-types.js';
export type { SiteRun } from './site/site-model.js';
export type { SitePage } from './site/site-page.js';
export { type SiteOptions, writeSite } from './site/write-site.js';
export {
  commonTarget,
  curveToTarget,
  type Effort,
  type EffortRatio,
  effortRatios,
  efforts,
  type TargetRule,
} from './training/curve-to-target.js';
export { type PhaseAccount, phaseAccounts } from './training/phase-account.js';
export {
  accountTraining,
  NO_GAIN,
  reportOf,
  type TrainingAccount,
  type TrainingFigure,
  type TrainingReport,
} from './training/training-account.js';
export type { TrainingEnergy, TrainingJoules, TrainingLedger } from './training/training-energy.js';
export { trainingPage } from './training/training-page.js';
export { writeTrainingReport } from './training/write-training-report.js';
export { createRunWatch, type RunWatch, type WatchOptions } from './view/run-watch.js';
export { startViewServer, type ViewOptions, type ViewServer } from './view/view-server.js';
export type { WatchedCell, WatchState } from './view/watch-types.js';
export { readPlotlySource, type WrittenReport, writeReport } from './write-report.js';
