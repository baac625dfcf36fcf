import { arrowRows } from './arrow-rows.js';
import { baseName } from './figure-rows.js';
import { foreignError } from './foreign-error.js';
import type { ForeignFile, Importer, ImportOptions, PublishedRecord } from './importer.js';
import { type Charged, type IpwQuery, profiledQuery, queryFigures, tracedQuery } from './ipw-query.js';
import { type RunContext, summaryOf, summaryRecord } from './ipw-summary.js';
import { type IpwSums, noSums, totalFigures, withQuery } from './ipw-totals.js';
import { type Fields, isFields, numberOrNull, textLines } from './json-files.js';
import { factsOf, ipwSource } from './sources.js';

const boundaries = {
  gpu: 'all GPUs the monitor saw, idle included; no CPU',
  soc: 'CPU, GPU and neural engine of the chip, idle included',
} as const;

interface Place {
  readonly file: ForeignFile;
  readonly options: ImportOptions;
  readonly context: RunContext;
  readonly charged: Charged;
}

function shared(place: Place, model: string | null): Omit<PublishedRecord, 'source_row' | 'figures'> {
  const { file, options, context } = place;
  return {
    source: factsOf(ipwSource, file, options),
    path: file.path,
    model: options.model ?? model,
    accelerator: options.accelerator ?? context.accelerator,
    dataset: context.dataset,
    concurrency: place.charged === 'alone' ? 1 : context.concurrency,
    window: 'whole',
  };
}

function queryRecord(
  place: Place,
  model: string | null,
  [row, query]: readonly [number, IpwQuery],
): PublishedRecord {
  return {
    ...shared(place, model),
    source_row: row,
    item_id: query.item_id,
    scope: query.scope,
    boundary: boundaries[query.scope],
    figures: queryFigures(query, place.charged),
  };
}

function totalRecord(place: Place, model: string | null, sums: IpwSums): PublishedRecord {
  const scope = sums.scope === 'mixed' ? null : sums.scope;
  return {
    ...shared(place, model),
    source_row: 0,
    scope,
    boundary: scope === null ? null : boundaries[scope],
    figures: totalFigures(sums, place.charged),
  };
}

/** How a profile charged its queries: alone, unless the times of two overlap; then each had an equal share of the device. */
async function profileCharge(file: ForeignFile): Promise<Charged> {
  const spans: (readonly [number, number])[] = [];
  for await (const { fields } of arrowRows(file)) {
    const start = numberOrNull(fields['request_start_time']);
    const end = numberOrNull(fields['request_end_time']);
    if (start !== null && end !== null) spans.push([start, end]);
  }
  spans.sort(([a], [b]) => a - b);
  const overlaps = spans.some(([start], i) => start < (spans[i - 1]?.[1] ?? Number.NEGATIVE_INFINITY));
  return overlaps ? 'equal_share' : 'alone';
}

/** Queries of the profiler's Arrow files: one a row and model. */
async function* profiled(place: Place): AsyncGenerator<PublishedRecord, void, undefined> {
  const totals = new Map<string, IpwSums>();
  for await (const { row, fields } of arrowRows(place.file)) {
    const byModel = fields['model_metrics'];
    if (!isFields(byModel)) {
      throw foreignError(
        `${place.file.path}: row ${row}`,
        'no column model_metrics; expected one struct a model',
      );
    }
    for (const [model, metrics] of Object.entries(byModel)) {
      if (!isFields(metrics)) continue;
      const index = fields['dataset_index'];
      const query = profiledQuery(`${index ?? row}`, metrics);
      totals.set(model, withQuery(totals.get(model) ?? noSums(), query));
      yield queryRecord(place, model, [row, query]);
    }
  }
  for (const [model, sums] of totals) yield totalRecord(place, model, sums);
}

function parsedLine(place: string, text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value) && 'query_id' in value && 'is_resolved' in value) return value;
  } catch (error) {
    throw foreignError(place, 'not JSON', error);
  }
  throw foreignError(place, 'not a trace: expected an object with query_id and is_resolved');
}

/** Queries of an agentic run: one a line. */
async function* traced(place: Place): AsyncGenerator<PublishedRecord, void, undefined> {
  const model = place.context.model;
  let sums = noSums();
  for await (const { line, text } of textLines(place.file)) {
    const trace = parsedLine(`${place.file.path}:${line}`, text);
    const query = tracedQuery(String(trace['query_id']), trace);
    sums = withQuery(sums, query);
    yield queryRecord(place, model, [line, query]);
  }
  if (sums.queries === 0) throw foreignError(place.file.path, 'the file has no traces');
  yield totalRecord(place, model, sums);
}

const isSummary = ({ path }: ForeignFile) => baseName(path) === 'summary.json';
const isDescription = ({ path }: ForeignFile) =>
  ['dataset_info.json', 'state.json', 'artifacts_manifest.json'].includes(baseName(path));

function readerOf(file: ForeignFile) {
  if (file.path.endsWith('.arrow')) return profiled;
  if (file.path.endsWith('.jsonl')) return traced;
  throw foreignError(
    file.path,
    'not a file of such a run: expected data-….arrow, traces.jsonl or summary.json',
  );
}

/** Runs of the reference implementation: its profiler's data set, its agentic traces, its summary. */
export const ipw: Importer = {
  kind: 'ipw',
  version: 1,
  title: 'runs of the reference implementation of intelligence per watt, recomputed from their queries',
  files: 'data-….arrow of `ipw profile`, traces.jsonl of `ipw run` and `ipw bench`, and their summary.json',
  extensions: ['.arrow', '.jsonl', '.json'],
  async *read(files, options) {
    const summaryFile = files.find(isSummary);
    const context = await summaryOf(summaryFile);
    for (const file of files) {
      if (isSummary(file) || isDescription(file)) continue;
      const charged = file.path.endsWith('.arrow') ? await profileCharge(file) : context.charged;
      yield* readerOf(file)({ file, options, context, charged });
    }
    if (summaryFile === undefined || context.summary === null) return;
    const record = summaryRecord(context.summary);
    const about = shared({ file: summaryFile, options, context, charged: context.charged }, context.model);
    if (record !== null) yield { ...about, source_row: 0, scope: 'gpu', boundary: boundaries.gpu, ...record };
  },
};
