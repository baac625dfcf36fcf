import type { FeedValue } from '../feed-recorder.js';
import { connectionTo, httpText } from './http-text.js';
import { valueAt } from './json-pointer.js';
import { type MeterOptions, type MeterSource, type MeterWorld, meterDomain, polledMeter } from './meter.js';
import { samplesOf } from './prometheus-text.js';
import { isDcgmBlank, kindOf, type MeterUnit, quantityOf } from './quantity.js';

/** One series of an exporter's text page, or one query of a Prometheus server. */
export interface PrometheusOptions extends MeterOptions {
  /** The exporter's page (`…/metrics`) with `metric`, or the server's address with `query`. */
  readonly url: string;
  /** Name of the metric on an exporter's page. */
  readonly metric?: string;
  /** Labels that single the series out. */
  readonly labels?: Readonly<Record<string, string>>;
  /** A query that gives one number. Its server answers with the latest scrape, so `update_ms` is the scrape interval. */
  readonly query?: string;
  readonly unit: MeterUnit;
  readonly authorization?: string;
}

/** The number of one series; `absent`, `ambiguous`, `sentinel` or `parse` where it has none. Never throws. */
export function prometheusReading(text: string, options: PrometheusOptions): FeedValue {
  return one(
    samplesOf(text, options.metric ?? '', options.labels).map(({ value }) => value),
    options.unit,
  );
}

/** The number that a query was answered with; as above. */
export function queryReading(text: string, unit: MeterUnit): FeedValue {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { missing: 'parse' };
  }
  const result = valueAt(document, ['data', 'result']);
  if (valueAt(document, ['status']) !== 'success' || !Array.isArray(result)) return { missing: 'parse' };
  if (valueAt(document, ['data', 'resultType']) === 'scalar') return one([result[1]], unit);
  return one(
    result.map((series) => valueAt(series, ['value', '1'])),
    unit,
  );
}

function one(values: readonly unknown[], unit: MeterUnit): FeedValue {
  const [value, second] = values;
  if (second !== undefined) return { missing: `ambiguous: ${values.length} series match` };
  if (value === undefined) return { missing: 'absent: no series matches' };
  if (typeof value !== 'string') return { missing: 'parse' };
  return isDcgmBlank(value, kindOf(unit)) ? { missing: 'sentinel' } : quantityOf(value, unit);
}

/** A meter that Prometheus knows of. */
export function prometheusMeter(options: PrometheusOptions, { clock }: MeterWorld): MeterSource {
  const { query, unit, authorization } = options;
  const url = new URL(options.url);
  if (query !== undefined) {
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/query`;
    url.searchParams.set('query', query);
  }
  const agent = connectionTo(url);
  const headers = authorization === undefined ? {} : { authorization };
  const labels = Object.entries(options.labels ?? {}).map(([key, value]) => `${key}="${value}"`);
  const series = query ?? `${options.metric}${labels.length === 0 ? '' : `{${labels.join(',')}}`}`;
  return polledMeter({
    options,
    domains: [meterDomain(options, { kind: kindOf(unit), note: `${series} of ${url.origin}, in ${unit}` })],
    clock,
    async read(signal) {
      const text = await httpText({ url, headers, signal, agent });
      return [query === undefined ? prometheusReading(text, options) : queryReading(text, unit)];
    },
  });
}
