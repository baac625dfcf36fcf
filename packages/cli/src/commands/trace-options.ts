import { type ZeroOutputPolicy, zeroOutputPolicies } from '@perwatt/core';
import { loadTrace, type TextStore, type TraceTable, traceReaders } from '@perwatt/datasets';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';

/** What every command that reads a trace takes. */
export interface TraceFlags {
  readonly format?: string;
  readonly zeroOutput: ZeroOutputPolicy;
  readonly skipBad?: boolean;
  readonly limit?: number;
}

/** Adds the options of reading a trace. */
export const withTraceOptions = (command: Command): Command =>
  command
    .option(
      '--format <format>',
      `what the file is; default: known by its header or keys. One of ${traceReaders.map((r) => r.format).join(', ')}`,
    )
    .addOption(
      new Option(
        '--zero-output <policy>',
        'calls that produced no token: keep, leave out, or make them produce one',
      )
        .choices([...zeroOutputPolicies])
        .default('keep'),
    )
    .option('--skip-bad', 'leave out and count rows that cannot be read, instead of stopping at the first')
    .option('--limit <n>', 'read so many calls of the file at most', wholeNumber);

/** Loads the trace and prints on standard error what a reader must know of it. */
export async function openTrace(
  path: string,
  flags: TraceFlags,
  { io, texts }: { readonly io: Io; readonly texts?: TextStore },
): Promise<TraceTable> {
  const table = await loadTrace(path, {
    root: io.cwd,
    zeroOutput: flags.zeroOutput,
    skipBad: flags.skipBad === true,
    signal: io.signal,
    ...(flags.format === undefined ? {} : { format: flags.format }),
    ...(flags.limit === undefined ? {} : { limit: flags.limit }),
    ...(texts === undefined ? {} : { texts }),
  });
  const { meta } = table;
  if (meta.unsorted_rows > 0)
    io.printError(
      `warning: ${rowsText(meta.unsorted_rows)} of ${path} stood behind a later one; the trace was sorted`,
    );
  if (meta.bad_rows > 0)
    io.printError(`warning: ${rowsText(meta.bad_rows)} of ${path} could not be read; left out`);
  for (const note of meta.notes) io.printError(`note: ${note}`);
  return table;
}

const rowsText = (count: number) => `${count} ${count === 1 ? 'row' : 'rows'}`;

export function wholeNumber(value: string): number {
  if (!/^[1-9][0-9]{0,9}$/.test(value)) throw new InvalidArgumentError('it must be a whole number above 0.');
  return Number(value);
}

export function positiveNumber(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number <= 0)
    throw new InvalidArgumentError('it must be a number above 0.');
  return number;
}
