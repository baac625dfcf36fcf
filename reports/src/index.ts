export { buildResults } from './build-results.js';
export type { Figure } from './figure.js';
export {
  DASH,
  formatJoules,
  formatMetric,
  formatNanos,
  formatNumber,
  formatPercent,
  formatShare,
  formatWithUnit,
} from './format.js';
export { notMeasured } from './not-measured.js';
export { reportPage } from './page.js';
export { paretoFigure } from './pareto-figure.js';
export { powerFigure } from './power-figure.js';
export { TIMELINE_POINTS } from './power-timeline.js';
export { resultsCsv } from './results-csv.js';
export { resultsJson } from './results-json.js';
export { resultsTable } from './results-table.js';
export {
  type CellResult,
  type CellSpan,
  type NotMeasured,
  type PowerFacts,
  type PowerTrace,
  RESULTS_VERSION,
  type RunResults,
  type SampleQuery,
  type Timeline,
} from './results-types.js';
export { readPlotlySource, type WrittenReport, writeReport } from './write-report.js';
