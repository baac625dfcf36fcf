import {
  type ArrivalSummary,
  arrivalBins,
  type LengthSummary,
  lengthBins,
  type PrefixSummary,
  type TraceInspection,
  type TraceTable,
} from '@perwatt/datasets';
import { figure } from './figure.js';
import { sparkline } from './sparkline.js';

const PLOT_WIDTH = 60;

/** What `perwatt trace inspect` shows, a fact a line. */
export function traceLines(table: TraceTable, found: TraceInspection): string[] {
  const { meta } = found;
  return [
    `${meta.path}: ${meta.format}, ${unitWords[meta.unit]}, sha256 ${meta.sha256}`,
    labelled('rows', rowsText(found)),
    ...(found.arrivals === null
      ? [labelled('time', 'none in this trace')]
      : arrivalLines(found, found.arrivals)),
    labelled('input', lengthText(found.input)),
    labelled('output', lengthText(found.output)),
    ...(found.prefixes === null ? [] : [labelled('prefixes', prefixText(found.prefixes))]),
    ...(found.conversations === null ? [] : [labelled('conversations', whole(found.conversations))]),
    ...(found.images === null ? [] : [labelled('images', whole(found.images))]),
    ...namesLine('models', found.models),
    ...namesLine('kinds', found.kinds),
    ...plotLines(table),
  ];
}

const unitWords = {
  wall_time: 'time in wall-clock stamps',
  s: 'time in s',
  ms: 'time in ms',
  ns: 'time in ns',
  none: 'without time',
} as const;

const labelled = (label: string, text: string) => `${label.padEnd(16)}${text}`;

const whole = (value: number) => value.toLocaleString('en-US');

function rowsText({ meta }: TraceInspection): string {
  const parts = [
    whole(meta.rows),
    meta.unsorted_rows === 0 ? 'in order of time' : `${whole(meta.unsorted_rows)} out of order (sorted)`,
    `${whole(meta.zero_output_rows)} without output (${meta.zero_output})`,
    ...(meta.bad_rows === 0 ? [] : [`${whole(meta.bad_rows)} unreadable ones left out`]),
  ];
  return parts.join(', ');
}

function arrivalLines({ meta }: TraceInspection, arrivals: ArrivalSummary): string[] {
  const orNone = (value: number | null, digits: number) => (value === null ? '–' : figure(value, digits));
  const span = secondsText(meta.span_ns ?? 0n);
  return [
    labelled('span', `${span} s, from ${meta.first_stamp ?? '–'}`),
    labelled('rate', `${orNone(arrivals.rate_per_s, 4)} calls/s`),
    labelled(
      'gaps',
      `CV ${orNone(arrivals.gap_cv, 4)}, burstiness ${orNone(arrivals.burstiness, 4)}, gamma shape ${orNone(arrivals.gamma_shape, 4)}, ` +
        `lag-1 correlation ${orNone(arrivals.gap_autocorrelation, 4)}, calls per second: variance/mean ${orNone(arrivals.dispersion_per_s, 4)}`,
    ),
    labelled(
      '',
      `smallest ${secondsText(BigInt(arrivals.smallest_gap_ns))} s, largest ${secondsText(BigInt(arrivals.largest_gap_ns))} s`,
    ),
    labelled(
      'ties',
      `${whole(arrivals.tied_rows)} rows share the stamp of the one before; ${whole(arrivals.distinct_stamps)} stamps, at most ${whole(arrivals.most_at_one_stamp)} rows at one`,
    ),
  ];
}

/** ns as seconds, all digits that count. */
function secondsText(ns: bigint): string {
  const fraction = `${ns % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '');
  return `${ns / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}`;
}

function lengthText(length: LengthSummary | null): string {
  if (length === null) return 'tokens not known: the trace carries text, which a tokenizer must count';
  const { min, median, p95, max, mean, cv, sum, known_rows } = length;
  return (
    `min ${whole(min)}, median ${whole(median)}, p95 ${whole(p95)}, max ${whole(max)}, mean ${figure(mean, 5)}, ` +
    `CV ${cv === null ? '–' : figure(cv, 4)}, sum ${whole(sum)} tokens over ${whole(known_rows)} rows`
  );
}

function prefixText({ block_tokens, blocks, distinct_blocks, hit_ratio }: PrefixSummary): string {
  const share = hit_ratio === null ? '–' : `${(hit_ratio * 100).toFixed(2)} %`;
  return `${whole(blocks)} blocks of ${block_tokens ?? 'unknown'} tokens, ${whole(distinct_blocks)} distinct; a cache that never forgets hits ${share}`;
}

function namesLine(label: string, counts: Readonly<Record<string, number>>): string[] {
  const most = Object.entries(counts).sort(([, a], [, b]) => b - a);
  if (most.length === 0) return [];
  const shown = most.slice(0, 5).map(([name, count]) => `${name} ${whole(count)}`);
  const more = most.length > 5 ? [`${most.length - 5} more`] : [];
  return [labelled(label, [...shown, ...more].join(', '))];
}

/** A bar for each count, and a blank for none. */
const bars = (counts: readonly number[]) =>
  sparkline(
    counts.map((count) => (count === 0 ? null : count)),
    counts.length,
  );

function plotLines(table: TraceTable): string[] {
  const arrivals = arrivalBins(table, PLOT_WIDTH);
  const histograms = (['input_tokens', 'output_tokens'] as const).flatMap((side) => {
    const bins = lengthBins(table, side);
    if (bins === null) return [];
    const to = (bins.from === 0 ? 0.5 : bins.from) * 2 ** bins.counts.length;
    const label = `${side === 'input_tokens' ? 'input' : 'output'} lengths`;
    const line = bars(bins.counts);
    return [labelled(label, `${line}  ${whole(bins.from)} to ${whole(to)} tokens, doubling`)];
  });
  if (arrivals === null) return histograms;
  return [labelled('arrivals', `${bars(arrivals)}  over the span`), ...histograms];
}
