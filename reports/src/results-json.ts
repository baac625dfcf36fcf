import type { RunResults } from './results-types.js';

/** `results.json`: everything but the timeline and the texts, which stay in the run's records. Ends in a newline. */
export function resultsJson(results: RunResults): string {
  const { timeline: _timeline, shown_queries: _shown, unparsed_answers: _unparsed, ...rest } = results;
  return `${JSON.stringify(rest, null, 2)}\n`;
}
