import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Clock, type Domain, elapsed, type PowerSource, type Recorder } from '@perwatt/core';
import { type BestSourceOptions, bestSources, clock } from '@perwatt/native-power';
import { Command, Option } from 'commander';
import { parseDuration } from '../duration.js';
import { figure } from '../figure.js';
import { flagLines, statusJson } from '../flag-lines.js';
import type { Io } from '../io.js';
import {
  type DomainTotal,
  type PowerMeter,
  powerMeter,
  sumKnown,
  summedOf,
  sumTotals,
} from '../power-meter.js';
import { powerPlace } from '../power-place.js';
import { type SampleFile, sampleFile } from '../sample-file.js';
import { startRecorders } from '../start-recorders.js';
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
  /** Waits; returns early when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Time between two refreshes, ms: on a terminal or as JSON, and as plain lines. */
const refreshMs = { live: 500, plain: 1000 };

/** `perwatt power`: live watts of every domain, and what they add up to. */
export const powerCommand = (io: Io, world: PowerWorld = { sources: bestSources, clock, pause }): Command =>
  new Command('power')
    .enablePositionalOptions()
    .description('Show live watts of every domain that can be read, and the energy at the end')
    .addOption(
      new Option('--duration <time>', 'how long to measure').argParser(parseDuration).default(10_000, '10s'),
    )
    .option('--period <time>', "time between two readings; default: the source's own", parseDuration)
    .option('--source <name...>', 'sources to read; default: the most trustworthy one')
    .option('--json', 'print JSON lines: one for each refresh, and a summary as the last')
    .option('--out <file>', 'keep the samples too, as an Arrow stream')
    .addHelpText(
      'after',
      '\nExamples:\n  perwatt power --duration 10s\n  perwatt power --duration 2m --period 50ms --source rapl-powercap --json',
    )
    .action((flags: Flags) => measure(io, world, flags))
    .addCommand(powerRecordCommand(io, world))
    .addCommand(powerReplayCommand(io));

async function measure(io: Io, world: PowerWorld, flags: Flags): Promise<void> {
  const sources = world.sources({ ...powerPlace(io), ...(flags.source && { names: flags.source }) });
  const recorders = startRecorders(sources, flags.period);
  let file: SampleFile | null = null;
  try {
    if (flags.out !== undefined) file = sampleFile(resolve(io.cwd, flags.out), recorders);
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
  const meters = recorders.map((recorder) => powerMeter(file === null ? recorder : kept(recorder, file)));
  const display = showOn(
    io,
    recorders.flatMap(({ domains }) => domains),
    flags,
  );
  const began = world.clock.now();
  const elapsedNs = () => elapsed(began, world.clock.now());
  await watch({ io, world, meters, display, elapsedNs, duration_ms: flags.duration });
  for (const recorder of recorders) recorder.stop();
  display.end();
  const duration_ns = elapsedNs();
  for (const meter of meters) meter.collect();
  const totals = meters.flatMap((meter) => meter.totals(duration_ns));
  if (flags.json) io.print(JSON.stringify(summary(totals, recorders, duration_ns)));
  else for (const line of [...totalLines(totals), ...flagLines(recorders)]) io.print(line);
  if (totals.some(({ domain, energy_j }) => domain.in_total && energy_j === null)) io.setExitCode(1);
}

/** A recorder whose samples are written down as they are handed over. */
const kept = (recorder: Recorder, file: SampleFile): Recorder => ({
  ...recorder,
  drain() {
    const columns = recorder.drain();
    file.add(recorder, columns);
    file.flush();
    return columns;
  },
});

interface Watching {
  readonly io: Io;
  readonly world: PowerWorld;
  readonly meters: readonly PowerMeter[];
  readonly display: Show;
  readonly elapsedNs: () => number;
  readonly duration_ms: number;
}

/** Refreshes until the time is over or the user has had enough. */
async function watch({ io, world, meters, display, elapsedNs, duration_ms }: Watching): Promise<void> {
  for (;;) {
    const left = duration_ms - elapsedNs() / 1e6;
    if (left <= 0 || io.signal.aborted) return;
    await world.pause(Math.min(display.every_ms, left), io.signal);
    for (const meter of meters) meter.collect();
    display.frame(
      elapsedNs(),
      meters.flatMap((meter) => meter.watts()),
    );
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** A way to show watts as they come. */
interface Show {
  readonly every_ms: number;
  frame(elapsed_ns: number, watts: readonly (number | null)[]): void;
  end(): void;
}

function showOn(io: Io, domains: readonly Domain[], { json }: Flags): Show {
  if (json) return jsonLines(io, domains);
  return io.columns === null ? plainLines(io, domains) : redraw(io, domains, io.columns);
}

const jsonLines = (io: Io, domains: readonly Domain[]): Show => ({
  every_ms: refreshMs.live,
  frame(elapsed_ns, watts) {
    const rows = domains.map(({ id, source, scope, provenance, in_total }, d) => {
      return { id, source, scope, provenance, in_total, power_w: watts[d] ?? null };
    });
    io.print(
      JSON.stringify({
        kind: 'reading',
        elapsed_ns,
        domains: rows,
        total_power_w: totalWatts(domains, watts),
      }),
    );
  },
  end() {},
});

const plainLines = (io: Io, domains: readonly Domain[]): Show => ({
  every_ms: refreshMs.plain,
  frame(elapsed_ns, watts) {
    const parts = domains.map((domain, d) => `${domain.id} ${wattsText(watts[d] ?? null, domain)}`);
    io.printError(`${(elapsed_ns / 1e9).toFixed(1)} s  ${parts.join('  ')}`);
  },
  end() {},
});

/** One write a frame, so that the display itself costs next to nothing while power is measured. */
function redraw(io: Io, domains: readonly Domain[], columns: number): Show {
  const width = Math.max(...domains.map(({ id }) => id.length));
  let drawn = 0;
  const erase = () => (drawn === 0 ? '' : `\r\u001b[${drawn}A\u001b[0J`);
  const end = () => {
    io.draw(erase());
    drawn = 0;
  };
  io.signal.addEventListener('abort', end, { once: true });
  return {
    every_ms: refreshMs.live,
    frame(elapsed_ns, watts) {
      const rows = domains.map((domain, d) => {
        return `${domain.id.padEnd(width)}  ${wattsText(watts[d] ?? null, domain)}`;
      });
      const lines = [...rows, `${(elapsed_ns / 1e9).toFixed(1)} s`].map((line) => line.slice(0, columns - 1));
      io.draw(`${erase()}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    end,
  };
}

const totalWatts = (domains: readonly Domain[], watts: readonly (number | null)[]): number | null =>
  sumKnown(watts.filter((_, d) => summedOf(domains).some((summed) => summed === domains[d])));

const isEstimate = ({ provenance }: Domain) => provenance === 'estimated';

const wattsText = (power_w: number | null, domain: Domain): string => {
  if (power_w === null) return '- W';
  return isEstimate(domain) ? `~${figure(power_w, 3)} W (estimated)` : `${figure(power_w, 4)} W`;
};

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
