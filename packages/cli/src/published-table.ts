import type { PublishedRow } from '@perwatt/core';
import type { PublishedRun } from '@perwatt/records';
import { figure } from './figure.js';

/** What an imported run holds: files, figures by metric, and how often each doubt was raised. */
export function publishedSummary({ manifest, rows }: PublishedRun): string[] {
  const files = manifest.files.map(
    ({ file, records, source_version }) =>
      `${file}: ${records} records${records > 0 ? `, version ${source_version ?? 'not known'}` : ''}`,
  );
  const counts = tally(rows.map(({ metric }) => metric));
  const missing = tally(rows.filter(({ value }) => value === null).map(({ metric }) => metric));
  const metrics = [...counts].map(
    ([metric, n]) =>
      `  ${metric}: ${n}${missing.has(metric) ? `, ${missing.get(metric)} without a value` : ''}`,
  );
  const flags = tally(rows.flatMap((row) => row.flags?.split(' ') ?? []));
  return [
    ...files,
    `${rows.length} published figures (${[...new Set(rows.map(({ licence }) => licence))].join(', ')})`,
    ...metrics,
    ...(flags.size > 0
      ? [`flagged figures: ${[...flags].map(([flag, n]) => `${flag} ${n}`).join(', ')}`]
      : []),
  ];
}

const tally = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

const DIGITS = 4;

const shownValue = ({ value, bound, reason }: PublishedRow): string =>
  value === null ? (reason ?? '–') : `${bound === 'upper' ? '≤ ' : ''}${figure(value, DIGITS)}`;

const settingOf = ({ setting }: PublishedRow): string =>
  Object.entries(JSON.parse(setting) as Readonly<Record<string, unknown>>)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');

const heads = [
  'value',
  'unit',
  'scope',
  'statistic',
  'basis',
  'model',
  'format',
  'accelerator',
  'dataset',
  'load',
  'setting',
  'flags',
];

/** Rows of one metric as a table, in the order of the source: published figures are never ranked across scopes or statistics. */
export function publishedTable(rows: readonly PublishedRow[]): string[] {
  const cells = rows.map((row) => [
    shownValue(row),
    row.unit,
    row.scope ?? '',
    row.statistic,
    row.basis,
    row.model ?? '',
    row.weight_format ?? '',
    `${row.accelerator ?? ''}${row.devices !== null && row.devices > 1 ? ` × ${row.devices}` : ''}`,
    row.dataset ?? '',
    row.concurrency === null ? '' : String(row.concurrency),
    settingOf(row),
    row.flags ?? '',
  ]);
  const shown = heads.map((_, i) => i).filter((i) => cells.some((line) => line[i] !== ''));
  const all = [heads, ...cells].map((line) => shown.map((i) => line[i] ?? ''));
  const widths = shown.map((_, i) => Math.max(...all.map((line) => line[i]?.length ?? 0)));
  return all.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
