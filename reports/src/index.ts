export { buildResults } from './build-results.js';
export { reportPage } from './page.js';
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
  type ShownQuery,
  type Timeline,
} from './results-types.js';
export { readPlotlySource, type WrittenReport, writeReport } from './write-report.js';
