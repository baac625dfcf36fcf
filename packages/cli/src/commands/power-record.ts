import { resolve } from 'node:path';
import { elapsed, instant, type PowerSource, type Recorder } from '@perwatt/core';
import type { Window } from '@perwatt/metrics';
import { Command, Option } from 'commander';
import { energyText, flatEnergy, totalJson } from '../account-text.js';
import { appliedLines } from '../calibration-result.js';
import { parseDuration } from '../duration.js';
import { figure } from '../figure.js';
import { flagLines, statusJson } from '../flag-lines.js';
import type { Io } from '../io.js';
import { accountFor, type DomainAccount, totalAccount } from '../power-account.js';
import { powerPlace } from '../power-place.js';
import { type KeptSamples, keepSamples } from '../power-series.js';
import { type ChildEnd, runChild } from '../run-child.js';
import { forgivingFile, type SampleFile, sampleFile } from '../sample-file.js';
import { startRecorders } from '../start-recorders.js';
import { summedOf } from '../summed.js';
import type { PowerWorld } from './power.js';

interface Flags {
  readonly baseline: number;
  readonly period?: number;
  /** One text, or several where `power` itself took the option. */
  readonly source?: string | readonly string[];
  readonly json?: boolean;
  readonly out?: string;
}

const COLLECT_MS = 1000;

/** `perwatt power record`: what a command draws while it runs. */
export const powerRecordCommand = (io: Io, world: PowerWorld): Command =>
  new Command('record')
    .description('Run a command and account for the energy that was drawn meanwhile')
    .argument('<command...>', 'the command and its arguments, best after --')
    .addOption(
      new Option('--baseline <time>', 'how long to watch the idle host first, for net energy; 0s: not at all')
        .argParser(parseDuration)
        .default(3000, '3s'),
    )
    .option('--period <time>', "time between two readings; default: the source's own", parseDuration)
    .option('--source <name>', 'sources to read, separated by commas; default: the most trustworthy one')
    .option('--json', 'print one JSON object on standard output, after whatever the command prints')
    .option(
      '--out <file>',
      'keep the samples too, as an Arrow stream; beside it FILE-channels.arrows and FILE-recorders.json',
    )
    .passThroughOptions()
    .addHelpText(
      'after',
      `
The account goes to standard error, so that the command's own output can be piped on. Signals are passed on to the
command, and its exit code is passed back; 127: there is no such command.

Examples:
  perwatt power record -- make -j8
  perwatt power record --baseline 10s --period 50ms --json -- python train.py`,
    )
    .action((command: readonly string[], _own: Flags, self: Command) =>
      record(io, world, { command, flags: self.optsWithGlobals<Flags>() }),
    );

interface Recording {
  readonly command: readonly string[];
  readonly flags: Flags;
}

async function record(io: Io, world: PowerWorld, { command, flags }: Recording): Promise<void> {
  const recorders = startRecorders(sourcesOf(io, world, flags), flags.period);
  let file: SampleFile | null = null;
  try {
    if (flags.out !== undefined) {
      file = forgivingFile(sampleFile(resolve(io.cwd, flags.out), recorders), ({ message }) =>
        io.printError(`error: samples are no longer kept: ${message}`),
      );
    }
    const kept = recorders.map((recorder) => keepInFile(recorder, file));
    const idle = await watchIdle(io, world, { kept, baseline_ms: flags.baseline });
    if (idle === 'interrupted') return io.setExitCode(130);
    const { window, end } = await watchCommand(io, world, { kept, command, flush: () => file?.flush() });
    for (const recorder of recorders) recorder.stop();
    for (const own of kept) own.collect();
    report(io, { command, flags, window, idle, end, kept });
  } finally {
    for (const recorder of recorders) recorder.stop();
    file?.close();
  }
}

function sourcesOf(io: Io, world: PowerWorld, { source }: Flags): readonly PowerSource[] {
  return world.sources({
    ...powerPlace(io),
    ...(source !== undefined && { names: [source].flat().flatMap((names) => names.split(',')) }),
  });
}

/** Reads every source now; returns when the last of them was read. */
const markAll = (kept: readonly KeptSamples[], world: PowerWorld) => {
  const times = kept.map(({ recorder }) => recorder.mark());
  return instant(times.reduce((a, b) => (a > b ? a : b), world.clock.now()));
};

async function watchIdle(
  io: Io,
  world: PowerWorld,
  { kept, baseline_ms }: { readonly kept: readonly KeptSamples[]; readonly baseline_ms: number },
): Promise<Window | null | 'interrupted'> {
  if (baseline_ms === 0) return null;
  const start = markAll(kept, world);
  await world.pause(baseline_ms, io.signal);
  if (io.signal.aborted) return 'interrupted';
  return { start, end: markAll(kept, world) };
}

/** Keeps a recorder's samples, in the file too; its channels in the file only. */
function keepInFile(recorder: Recorder, file: SampleFile | null): KeptSamples {
  const kept = keepSamples(recorder, (columns) => file?.add(recorder, columns));
  return {
    ...kept,
    collect() {
      kept.collect();
      const channels = recorder.drainChannels?.();
      if (channels !== undefined) file?.addChannels(recorder, channels);
    },
  };
}

interface Watching {
  readonly kept: readonly KeptSamples[];
  readonly command: readonly string[];
  readonly flush: () => void;
}

async function watchCommand(
  io: Io,
  world: PowerWorld,
  { kept, command, flush }: Watching,
): Promise<{ readonly window: Window; readonly end: ChildEnd }> {
  markAll(kept, world);
  const start = world.clock.now();
  const ended = new AbortController();
  const running = runChild(io, command).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await world.pause(COLLECT_MS, ended.signal);
    for (const own of kept) own.collect();
    flush();
  }
  const end = await running;
  const window = { start, end: world.clock.now() };
  markAll(kept, world);
  return { window, end };
}

interface Account extends Recording {
  readonly window: Window;
  readonly idle: Window | null;
  readonly end: ChildEnd;
  readonly kept: readonly KeptSamples[];
}

function report(io: Io, account: Account): void {
  const { window, idle, end, kept, flags } = account;
  io.setExitCode(end.exit_code);
  if (end.problem !== null) {
    io.printError(`error: ${end.problem}`);
    return;
  }
  const accounts = kept.flatMap((own) =>
    accountFor(own.series(), { window, idle, period_ns: own.recorder.period_ns }),
  );
  if (flags.json) io.print(JSON.stringify(summary(account, accounts)));
  else for (const line of textLines(account, accounts)) io.printError(line);
}

function summary({ command, window, idle, end, kept }: Account, accounts: readonly DomainAccount[]) {
  return {
    kind: 'record',
    command,
    exit_code: end.exit_code,
    signal: end.signal,
    duration_ns: elapsed(window.start, window.end),
    baseline_ns: idle === null ? null : elapsed(idle.start, idle.end),
    estimated: accounts.some(({ domain }) => domain.provenance === 'estimated'),
    domains: accounts.map(({ domain, gross, net, ...rest }) => ({
      ...domain,
      ...flatEnergy('gross', gross),
      ...flatEnergy('net', net),
      ...rest,
    })),
    total: totalJson(totalAccount(accounts)),
    recorders: kept.map(({ recorder }) => statusJson(recorder)),
  };
}

function textLines({ window, idle, end, kept }: Account, accounts: readonly DomainAccount[]): string[] {
  const ended = end.signal === null ? `exit code ${end.exit_code}` : `ended by ${end.signal}`;
  const seconds = figure(elapsed(window.start, window.end) / 1e9, 4);
  const rows = accounts.map((own) => [own.domain.id, own.domain.scope, ...cells(own)]);
  const sum = totalAccount(accounts);
  const summed = summedOf(accounts.map(({ domain }) => domain));
  const first = accounts.find(({ domain }) => summed.includes(domain));
  if (first !== undefined && accounts.length > 1) {
    const reason = sum.gross.energy_j === null ? 'a part is unknown' : null;
    rows.push(['total', '', ...cells({ ...first, ...sum, peak_power_w: null, reason })]);
  }
  const widths = [0, 1, 2, 3, 4, 5, 6].map((c) => Math.max(...rows.map((row) => row[c]?.length ?? 0)));
  const beside = accounts.filter(({ domain }) => !summed.includes(domain)).map(({ domain }) => domain.id);
  return [
    `${seconds} s, ${ended}${idleText(idle, accounts)}`,
    ...rows.map((row) =>
      row
        .map((cell, c) => cell.padEnd(widths[c] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...(beside.length > 0 ? [`not in the total: ${beside.join(', ')}`] : []),
    ...accounts.flatMap(({ domain }) => (domain.provenance === 'estimated' ? (domain.note ?? []) : [])),
    ...appliedLines(accounts.map(({ domain }) => domain)),
    ...flagLines(kept.map(({ recorder }) => recorder)),
  ];
}

/** Why there is no net energy, where there is none. */
function idleText(idle: Window | null, accounts: readonly DomainAccount[]): string {
  if (idle === null) return '; no baseline, so no net energy';
  const short = accounts.some(({ gross, net }) => gross.energy_j !== null && net.energy_j === null);
  return short ? '; the baseline was too short for net energy' : '';
}

/** Gross and net energy with their bounds, mean and peak power, and where they come from; or why there are none. */
function cells({ domain, gross, net, mean_power_w, peak_power_w, reason }: DomainAccount): string[] {
  if (reason !== null) return [`unknown: ${reason}`];
  const digits = domain.provenance === 'estimated' ? 3 : 5;
  const watts = (power: number | null) => (power === null ? '-' : `${figure(power, Math.min(digits, 4))} W`);
  return [
    `gross ${energyText(gross, digits)}`,
    `net ${energyText(net, digits)}`,
    `mean ${watts(mean_power_w)}`,
    peak_power_w === null ? '' : `peak ${watts(peak_power_w)}`,
    domain.provenance,
  ];
}
