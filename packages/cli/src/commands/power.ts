import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type Clock,
  calibratedSource,
  type Domain,
  elapsed,
  type PowerSource,
  type Recorder,
} from '@perwatt/core';
import { type BestSourceOptions, bestSources, clock } from '@perwatt/native-power';
import { Command, Option } from 'commander';
import { calibrationsHere } from '../calibration-store.js';
import { type ChannelMemory, channelMemory } from '../channel-memory.js';
import type { CpuLoad } from '../cpu-load.js';
import { parseDuration } from '../duration.js';
import { figure } from '../figure.js';
import { flagLines, statusJson } from '../flag-lines.js';
import type { Io } from '../io.js';
import { isEstimate, type PowerDisplay, powerDisplay, wattsText } from '../power-display.js';
import { type DomainTotal, type PowerMeter, powerMeter, sumTotals } from '../power-meter.js';
import { powerPlace } from '../power-place.js';
import { forgivingFile, type SampleFile, sampleFile } from '../sample-file.js';
import { startRecorders } from '../start-recorders.js';
import { summedOf } from '../summed.js';
import { powerCalibrateCommand } from './power-calibrate.js';
import { powerRecordCommand } from './power-record.js';
import { powerReplayCommand } from './power-replay.js';

interface Flags {
  readonly duration: number;
  readonly period?: number;
  readonly source?: readonly string[];
  readonly json?: boolean;
  readonly out?: string;
}

/** Where sources and time come from; tests bring their own. */
export interface PowerWorld {
  readonly sources: (options: BestSourceOptions) => readonly PowerSource[];
  readonly clock: Clock;
  /** Load to step through while two meters are compared; the processor's unless given. */
  readonly load?: () => CpuLoad;
  /** Name of this host, which calibrations hold for. */
  readonly host?: string;
  /** Waits; returns early when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** `perwatt power`: live watts of every domain, and what they add up to. */
export const powerCommand = (io: Io, world: PowerWorld = realWorld(io), version = ''): Command =>
  new Command('power')
    .enablePositionalOptions()
    .description('Show live watts of every domain that can be read, and the energy at the end')
    .addOption(
      new Option('--duration <time>', 'how long to measure').argParser(parseDuration).default(10_000, '10s'),
    )
    .option('--period <time>', "time between two readings; default: the source's own", parseDuration)
    .option('--source <name...>', 'sources to read; default: the most trustworthy one')
    .option('--json', 'print JSON lines: one for each refresh, and a summary as the last')
    .option(
      '--out <file>',
      'keep the samples too, as an Arrow stream; beside it FILE-channels.arrows and FILE-recorders.json',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  perwatt power --duration 10s\n  perwatt power --duration 2m --period 50ms --source rapl-powercap --json',
    )
    .action((flags: Flags) => measure(io, world, flags))
    .addCommand(powerRecordCommand(io, world))
    .addCommand(powerReplayCommand(io))
    .addCommand(powerCalibrateCommand(io, world, version));

/** This host's sources, with the calibrations that are stored for them. */
const realWorld = (io: Io): PowerWorld => ({
  sources(options) {
    const calibrations = calibrationsHere(io);
    return bestSources(options).map((source) => calibratedSource(source, calibrations));
  },
  clock,
  pause,
});

async function measure(io: Io, world: PowerWorld, flags: Flags): Promise<void> {
  const sources = world.sources({ ...powerPlace(io), ...(flags.source && { names: flags.source }) });
  const recorders = startRecorders(sources, flags.period);
  let file: SampleFile | null = null;
  try {
    if (flags.out !== undefined) {
      file = forgivingFile(sampleFile(resolve(io.cwd, flags.out), recorders), ({ message }) => {
        io.printError(`error: samples are no longer kept: ${message}`);
        io.setExitCode(1);
      });
    }
    await show(io, world, { flags, recorders, file });
  } finally {
    for (const recorder of recorders) recorder.stop();
    file?.close();
  }
}

interface Showing {
  readonly flags: Flags;
  readonly recorders: readonly Recorder[];
  readonly file: SampleFile | null;
}

async function show(io: Io, world: PowerWorld, { flags, recorders, file }: Showing): Promise<void> {
  const meters = recorders.map((recorder) => powerMeter(recorder, (columns) => file?.add(recorder, columns)));
  const display = powerDisplay(
    io,
    recorders.flatMap(({ domains }) => domains),
    flags,
  );
  const memories = recorders.map((recorder) =>
    channelMemory(recorder, (columns) => file?.addChannels(recorder, columns)),
  );
  const began = world.clock.now();
  const elapsedNs = () => elapsed(began, world.clock.now());
  const flush = () => file?.flush();
  await watch({ io, world, meters, memories, flush, display, elapsedNs, duration_ms: flags.duration });
  for (const recorder of recorders) recorder.stop();
  display.end();
  const duration_ns = elapsedNs();
  for (const own of [...meters, ...memories]) own.collect();
  file?.flush();
  const totals = meters.flatMap((meter) => meter.totals(duration_ns));
  if (flags.json) io.print(JSON.stringify(summary(totals, recorders, duration_ns)));
  else for (const line of [...totalLines(totals), ...flagLines(recorders)]) io.print(line);
  if (totals.some(({ domain, energy_j }) => domain.in_total && energy_j === null)) io.setExitCode(1);
}

interface Watching {
  readonly io: Io;
  readonly world: PowerWorld;
  readonly meters: readonly PowerMeter[];
  readonly memories: readonly ChannelMemory[];
  readonly flush: () => void;
  readonly display: PowerDisplay;
  readonly elapsedNs: () => number;
  readonly duration_ms: number;
}

/** Refreshes until the time is over or the user has had enough. */
async function watch(watching: Watching): Promise<void> {
  const { io, world, meters, memories, flush, display, elapsedNs, duration_ms } = watching;
  for (;;) {
    const left = duration_ms - elapsedNs() / 1e6;
    if (left <= 0 || io.signal.aborted) return;
    await world.pause(Math.min(display.every_ms, left), io.signal);
    for (const own of [...meters, ...memories]) own.collect();
    flush();
    display.frame({
      elapsed_ns: elapsedNs(),
      watts: meters.flatMap((meter) => meter.watts()),
      channels: memories.flatMap((memory) => memory.latest()),
    });
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function totalLines(totals: readonly DomainTotal[]): string[] {
  const rows = totals.map((total) => [total.domain.id, total.domain.scope, ...figures(total, total.domain)]);
  const summed = summedOf(totals.map(({ domain }) => domain));
  const [first] = summed;
  const sum = sumTotals(totals);
  if (first && totals.length > 1)
    rows.push(['total', '', ...figures({ ...sum, reason: 'a part is unknown' }, first)]);
  const widths = [0, 1, 2].map((c) => Math.max(...rows.map((row) => row[c]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, c) => cell.padEnd(widths[c] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const beside = totals.filter(({ domain }) => !summed.includes(domain)).map(({ domain }) => domain.id);
  if (beside.length > 0) lines.push(`not in the total: ${beside.join(', ')}`);
  return [
    ...lines,
    ...totals.filter(({ domain }) => isEstimate(domain)).flatMap(({ domain }) => domain.note ?? []),
  ];
}

/** Mean power, energy with its bounds, and where they come from; or why there are none. */
function figures(
  total: Pick<DomainTotal, 'energy_j' | 'energy_lo_j' | 'energy_hi_j' | 'mean_power_w' | 'reason'>,
  domain: Domain,
): string[] {
  const { energy_j, energy_lo_j, energy_hi_j, mean_power_w, reason } = total;
  if (energy_j === null || energy_lo_j === null || energy_hi_j === null) return ['-', `unknown: ${reason}`];
  const digits = isEstimate(domain) ? 3 : 5;
  const [mid, lo, hi] = [energy_j, energy_lo_j, energy_hi_j].map((value) => figure(value, digits));
  return [wattsText(mean_power_w, domain), `${mid} J (${lo}..${hi} J)  ${domain.provenance}`];
}

function summary(totals: readonly DomainTotal[], recorders: readonly Recorder[], duration_ns: number) {
  return {
    kind: 'summary',
    duration_ns,
    estimated: totals.some(({ domain }) => isEstimate(domain)),
    domains: totals.map(({ domain, ...figures }) => ({ ...domain, ...figures })),
    total: sumTotals(totals),
    recorders: recorders.map(statusJson),
  };
}
