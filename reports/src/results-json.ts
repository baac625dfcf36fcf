import type { RunResults } from './results-types.js';

/** `results.json`: everything but the timeline and the texts, which stay in the run's records. Ends in a newline. */
export function resultsJson(results: RunResults): string {
  const { timeline: _timeline, shown_queries: _shown, unparsed_answers: _unparsed, ...rest } = results;
  return `${JSON.stringify(rest, null, 2)}\n`;
}

/** The same of several runs: of one its results, of more an object with a list of them under `runs`. */
export function resultsJsonOf(runs: readonly RunResults[]): string {
  const [first, ...others] = runs.map(resultsJson);
  if (first === undefined || others.length === 0) return first ?? '{"runs": []}\n';
  return `{"runs": [\n${[first, ...others].map((text) => text.trimEnd()).join(',\n')}\n]}\n`;
}
