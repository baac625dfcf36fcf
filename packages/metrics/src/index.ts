export { apportionNanojoules } from './apportion.js';
export { type Attribution, attribute, type QueryEnergy } from './attribute.js';
export { type AveragedOptions, averagedEnergy } from './averaged-energy.js';
export { type BootstrapOptions, bootstrapMean, bootstrapRatio, type RatioCluster } from './bootstrap.js';
export { boundaryOf } from './boundary.js';
export {
  type CalibrationFit,
  type CalibrationOutcome,
  type CalibrationPoint,
  calibrationPoints,
  calibrationWindows,
  FEWEST_CALIBRATION_POINTS,
  fitCalibration,
  type LagSearch,
  lagBetween,
  type MeterSeries,
  type PairedMeters,
  type WindowCutting,
} from './calibration.js';
export {
  type AmbiguousName,
  CatalogueAccelerator,
  CatalogueModel,
  type CatalogueSource,
  ModelShape,
  type NumberType,
  numberTypes,
  OwnEntries,
} from './catalogue/catalogue-schema.js';
export { type Found, findAccelerator, findModel } from './catalogue/find-entry.js';
export { type Catalogue, shippedCatalogue } from './catalogue/load-catalogue.js';
export { withOwnEntries } from './catalogue/own-entries.js';
export { type Accuracy, accuracyOf, scoreSums } from './cell-accuracy.js';
export {
  type CallColumns,
  type CellColumns,
  type Codes,
  callsOfQueries,
  PARENT_LATE,
  type QueryColumns,
} from './cell-columns.js';
export { type CellContributions, cellContributions } from './cell-contributions.js';
export { timesOfCalls } from './cell-latency.js';
export { cellMetrics } from './cell-metrics.js';
export type {
  BaselineInput,
  Boundary,
  CellBase,
  CellColumnsInput,
  CellCounts,
  CellEnergy,
  CellFlag,
  CellInput,
  CellMetrics,
  HostBaselines,
  IntervalMethod,
  MetricValue,
  RepeatFigures,
  SittingInput,
  SubjectFigures,
  SubjectValue,
} from './cell-types.js';
export { columnsOfRows } from './columns-of-rows.js';
export {
  type Coverage,
  type CoverageItem,
  coverage,
  coverageBySubject,
  guessingFloor,
} from './coverage.js';
export { normalCdf, studentQuantile } from './distributions.js';
export {
  type CallPhase,
  type CellPhases,
  callPhases,
  type EnergyDetail,
  energyDetail,
  type PhaseShare,
} from './energy-detail.js';
export { type ProductName, powersOf, type TotalName, totalNames } from './energy-figures.js';
export { energyInWindow, energyOverSpans } from './energy-window.js';
export { countParams, type LayerKinds, layerKinds, type ParamCounts } from './flops/count-params.js';
export { type CallTokens, callFlop, decodeFlop, type Prefill, prefillFlop } from './flops/flop-count.js';
export { type KvElements, type KvType, kvBytes, kvElementBytes, kvElements } from './flops/kv-bytes.js';
export {
  decodeReadBytes,
  expectedExperts,
  mixedWeightBits,
  type WeightFormat,
  type WeightType,
  weightBits,
  weightBytes,
} from './flops/weight-bytes.js';
export {
  type Factors,
  type FactorText,
  factorsOfRegion,
  parsePriceFile,
  type RegionFactors,
  shippedFactors,
  shippedPrices,
  withOwnFactors,
} from './footprint/factor-files.js';
export { type AmountRange, FactorFile, PriceFile } from './footprint/factor-schema.js';
export { carbonOf, costOf, type PaidTokens, tokenCostOf, waterOf } from './footprint/footprint.js';
export {
  type CallStampsOf,
  type CallTimeName,
  type CallTimes,
  callTimeNames,
  callTimes,
} from './load/call-times.js';
export {
  type ClientHealth,
  type ClientLimit,
  clientLimits,
  type LoadedTimes,
} from './load/client-limits.js';
export {
  createLoadTally,
  type LoadSummary,
  type LoadTally,
  type LoadTallyOptions,
  type TimeSummary,
} from './load/load-tally.js';
export { judgeSlo, type Slo, type SloName, type SloVerdict, sloOf } from './load/slo.js';
export { ruleText, type SteadyFacts, steadyFacts } from './load/steady-facts.js';
export {
  type CallSpans,
  type SteadyWindow,
  steadyWindow,
  type TokenArrivals,
  tokensInWindow,
} from './load/steady-state.js';
export { busyLength, type CallEdges, shareByTime, type TimeShares } from './load/time-shares.js';
export { TOKEN_TOLERANCE, type TokenAgreement, tokenAgreement } from './load/token-agreement.js';
export {
  byYear,
  type DatedCell,
  releaseYear,
  type YearEntry,
  type YearTable,
} from './longitudinal/by-year.js';
export {
  type Factor,
  type LongitudinalCell,
  type LongitudinalPair,
  type LongitudinalSplit,
  longitudinalSplit,
} from './longitudinal/longitudinal-split.js';
export {
  type PublishedFigure,
  type PublishedFigures,
  publishedFigures,
} from './longitudinal/published-figures.js';
export { meanPower, type PowerReading } from './mean-power.js';
export {
  type EnergyKind,
  type LatencyName,
  METRIC_SPEC_VERSION,
  type Metric,
  type MetricId,
  type MetricNeed,
  type MetricUnit,
  metricOf,
  metrics,
} from './metric-definitions.js';
export { metricsPage } from './metrics-page.js';
export { type BaselinePoint, type NetEnergy, type NetInput, netEnergy } from './net-energy.js';
export { type DrawnPoint, type FrontShare, frontShares } from './pareto/front-shares.js';
export { hypervolume } from './pareto/hypervolume.js';
export {
  type MetricFront,
  type MetricPoint,
  metricFront,
  type ParetoAxis,
} from './pareto/pareto-front.js';
export { type ParetoPoint, paretoFront } from './pareto.js';
export {
  type CallStamps,
  type PhaseEnergy,
  phaseEnergy,
} from './phase-energy.js';
export { fastestPeak } from './physics/compute-check.js';
export type { PhysicsCheck, PhysicsFinding, PhysicsOutcome } from './physics/finding.js';
export { type PhysicsFlag, physicsFlags, physicsGate } from './physics/physics-gate.js';
export type { PhysicsClaims, PhysicsSetup } from './physics/physics-setup.js';
export {
  type PublishedMethod,
  type PublishedTag,
  publishedFor,
  publishedMethods,
} from './published-methods.js';
export {
  fitRouter,
  parseRouterModel,
  type RouterExample,
  RouterModel,
  routerExamples,
  routerScore,
  splitItems,
} from './routing/learned-router.js';
export { fitLogistic, type LogisticFit } from './routing/logistic.js';
export { PROMPT_FEATURES, promptFeatureNames, promptFeatures } from './routing/prompt-features.js';
export type { RouteResult } from './routing/route-table.js';
export {
  type AccurateRouter,
  accurateRouting,
  type Misroute,
  oracleChoice,
  oracleRouting,
  type RoutingData,
  randomRouting,
  singleRouting,
  thresholdRouting,
} from './routing/routers.js';
export {
  type CurveMetrics,
  type CurvePoint,
  curveMetrics,
  type RankedItem,
  routingCurve,
  savingWithin,
  thresholdFor,
} from './routing/routing-curve.js';
export {
  type Resource,
  type RouteOptions,
  type RouteOutcome,
  type RoutingItem,
  resources,
  type UsableItem,
  usableItems,
} from './routing/routing-items.js';
export { type CrossCheck, crossCheck, holdsPackages } from './sanity.js';
export { shortestMeasurable } from './series-index.js';
export { busySpans, idleSpans, totalLength } from './spans.js';
export { seriesWithoutStale } from './stale-gauge.js';
export {
  type ClusteredEstimate,
  clusteredMean,
  type Estimate,
  mean,
  type QuantileEstimate,
  quantile,
  quantileInterval,
  quantileIntervals,
  standardDeviation,
  studentT,
  t95,
  wilson,
} from './statistics.js';
export {
  averageAtK,
  equivalenceClasses,
  generalPassAtK,
  type MajorityOptions,
  majorityAtK,
  meanGeneralPassAtK,
  passAllK,
  passAtK,
  type Vote,
} from './stats/attempts.js';
export { blocks, TIME_BLOCKS } from './stats/blocks.js';
export { type ClusterSums, createClusterSums, type DeltaEstimate } from './stats/cluster-sums.js';
export {
  type ComparisonInput,
  type ComparisonResult,
  type ComparisonVerdict,
  comparisonVerdict,
  type SensorBand,
  sensorBandOf,
} from './stats/comparison-verdict.js';
export {
  type CoverageFit,
  type CoverageLaw,
  type CoveragePoint,
  coverageAt,
  fitCoverageLaw,
} from './stats/coverage-law.js';
export { type CrossedEstimate, crossedEstimate, type IntervalScale } from './stats/crossed-estimate.js';
export { createExactSum, type ExactSum } from './stats/exact-sum.js';
export { hierarchicalBootstrap } from './stats/hierarchical-bootstrap.js';
export { type HolmResult, holm, multipleComparisonNote } from './stats/holm.js';
export { type McNemar, mcnemar } from './stats/mcnemar.js';
export {
  type Paired,
  type PairedEstimate,
  pairedDifference,
  pairedRatio,
  type UnpairedReason,
} from './stats/paired.js';
export {
  detectableDifference,
  type Errors,
  itemsNeeded,
  type PowerQuestion,
  repeatsNeeded,
} from './stats/power-analysis.js';
export { type Contribution, type Powers, productFigure, totalsOf } from './stats/product-figure.js';
export {
  declaredSpread,
  FEWEST_REPEATS,
  type RunSpread,
  runSpread,
  SPREAD_UNKNOWN,
} from './stats/run-spread.js';
export {
  attributeByTokens,
  type TokenArrival,
  type TokenAttribution,
  type TokenCall,
} from './token-share.js';
export type { CallSpan, EnergyReading, PowerSeries, Window } from './types.js';
