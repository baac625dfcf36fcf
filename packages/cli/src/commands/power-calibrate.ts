import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type MatrixFile, PerwattError, type PowerSource } from '@perwatt/core';
import type { Window } from '@perwatt/metrics';
import { Command, Option } from 'commander';
import { compareMeters } from '../calibrate-meters.js';
import { calibrationLines, calibrationOf, percent } from '../calibration-result.js';
import {
  calibrationFile,
  removeCalibration,
  storedCalibrations,
  writeCalibration,
} from '../calibration-store.js';
import { startCpuLoad } from '../cpu-load.js';
import { parseDuration } from '../duration.js';
import { figure } from '../figure.js';
import type { Io } from '../io.js';
import { openMeters } from '../meters.js';
import { powerPlace } from '../power-place.js';
import { type KeptSamples, keepSamples } from '../power-series.js';
import { runChild } from '../run-child.js';
import { optionsOf } from '../shared-options.js';
import { startRecorders } from '../start-recorders.js';
import type { PowerWorld } from './power.js';
import { readMatrix } from './run.js';

interface Flags {
  readonly against?: string;
  /** One text, or several where `power` itself took the option. */
  readonly source?: string | readonly string[];
  readonly matrix?: string;
  readonly duration: number;
  readonly out?: string;
  readonly list?: boolean;
  readonly remove?: string;
  readonly json?: boolean;
}

/** Shares of full load, one phase each: up and down again, so that warming up doesn't pass for a slope. */
const loads = [0, 0.5, 1, 0.5, 0] as const;
const collect_ms = 1000;

/** `perwatt power calibrate`: holds one source against a better meter. */
export const powerCalibrateCommand = (io: Io, world: PowerWorld, version: string): Command =>
  new Command('calibrate')
    .description(
      'Fit scale and offset of one source against a better meter; bounds use the result from then on',
    )
    .argument(
      '[command...]',
      'what steps the load, best after --; default: the processor, idle, half and full',
    )
    .option('--against <source>', 'the better meter: a source of this host, or a meter or agent of --matrix')
    .option('--source <name>', 'the source to calibrate; default: the most trustworthy one')
    .option('--matrix <file>', 'matrix file whose `power` section describes the meter')
    .addOption(
      new Option('--duration <time>', 'how long to step the load')
        .argParser(parseDuration)
        .default(120_000, '2m'),
    )
    .option('--out <file>', 'write the calibration there instead, and do not apply it')
    .option('--list', 'show what is stored')
    .option('--remove <source>', 'forget the calibration of a source of this host')
    .option('--json', 'print the calibration, or the list, as JSON')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
The fit is reference = offset + scale × source. What is booked never changes: the scale's distance from 1, its uncertainty
and the reference's own error replace the declared error of the source in every bound. The offset is told: a wall meter
sees more than a processor package. Stored in PERWATT_CONFIG, or the user's folder of settings.

Examples:
  perwatt power calibrate --against acpi-power-meter --duration 3m
  perwatt power calibrate --source nvml --against plug --matrix lab.yaml -- python burn.py
  perwatt power calibrate --list`,
    )
    .action(async (command: readonly string[], _own: Flags, self: Command) => {
      const flags = optionsOf<Flags>(self);
      if (flags.list) return list(io, flags);
      if (flags.remove !== undefined)
        return io.print(`removed ${removeCalibration(io, flags.remove, hostOf(world))}`);
      if (flags.against === undefined)
        throw new PerwattError('USAGE', 'no better meter was given', { hint: 'Name one with `--against`.' });
      await calibrate(io, world, { command, flags: { ...flags, against: flags.against }, version });
    });

interface Calibrating {
  readonly command: readonly string[];
  readonly flags: Flags & { readonly against: string };
  readonly version: string;
}

const hostOf = ({ host }: PowerWorld): string => host ?? hostname();

async function calibrate(io: Io, world: PowerWorld, calibrating: Calibrating): Promise<void> {
  const { command, flags } = calibrating;
  const { source, reference } = await meterPair(io, world, flags);
  const recorders = startRecorders([source, reference], undefined);
  try {
    const kept = recorders.map((recorder) => keepSamples(recorder));
    const phases =
      command.length === 0
        ? await stepLoad(io, world, { kept, total_ms: flags.duration })
        : await runCommand(io, world, { kept, command });
    if (io.signal.aborted) return io.setExitCode(130);
    for (const recorder of recorders) recorder.stop();
    for (const each of kept) each.collect();
    conclude(io, world, { ...calibrating, kept, phases });
  } finally {
    for (const recorder of recorders) recorder.stop();
  }
}

interface Concluding extends Calibrating {
  readonly kept: readonly KeptSamples[];
  readonly phases: readonly Window[];
}

function conclude(io: Io, world: PowerWorld, { command, flags, version, kept, phases }: Concluding): void {
  const [own, better] = kept;
  if (own === undefined || better === undefined) return;
  const steady = command.length === 0;
  const compared = compareMeters({ source: own, reference: better, phases, steady });
  const calibration = calibrationOf(compared, {
    own,
    better,
    host: hostOf(world),
    date: io.wallTime(),
    version,
  });
  const file = flags.out === undefined ? calibrationFile(io, calibration) : resolve(io.cwd, flags.out);
  writeCalibration(file, calibration);
  if (flags.json) io.print(JSON.stringify(calibration, null, 2));
  else for (const line of calibrationLines(calibration, own.recorder)) io.print(line);
  io.printError(
    `${flags.out === undefined ? 'stored, and applied from now on' : 'written, not applied'}: ${file}`,
  );
}

/** Both meters, or why they can't be compared. */
async function meterPair(io: Io, world: PowerWorld, flags: Calibrating['flags']) {
  const place = powerPlace(io);
  const names = flags.source === undefined ? undefined : [flags.source].flat();
  const [source, another] = world.sources({ ...place, ...(names && { names }) });
  if (source === undefined) throw new PerwattError('POWER_NO_SOURCE', 'no power source can be read');
  if (another !== undefined) {
    throw new PerwattError('USAGE', `${source.name} and ${another.name} are both read here`, {
      hint: 'Name one to calibrate with `--source`.',
    });
  }
  if (source.name === flags.against)
    throw new PerwattError('INPUT_INVALID', `${source.name} cannot be calibrated against itself`);
  const reference =
    (await matrixMeter(io, flags)) ?? ownReference(world, { source, against: flags.against, place });
  if (reference.provenance === 'estimated') {
    throw new PerwattError('INPUT_INVALID', `${reference.name} estimates, and an estimate is no reference`, {
      hint: 'Name a source that measures.',
    });
  }
  if (reference.provenance === 'replayed') {
    throw new PerwattError('INPUT_INVALID', `${reference.name} is a recording, and no load of now is in it`, {
      hint: 'Name a source that measures.',
    });
  }
  return { source, reference };
}

interface Wanted {
  readonly source: PowerSource;
  readonly against: string;
  readonly place: ReturnType<typeof powerPlace>;
}

/** Another source of this host; asked for beside the first, so that two views of one counter are told apart. */
function ownReference(world: PowerWorld, { source, against, place }: Wanted): PowerSource {
  const names = source.provenance === 'estimated' ? [against] : [source.name, against];
  const [alone] = world.sources({ ...place, names: [against] });
  if (alone === undefined || alone.provenance === 'estimated') return alone ?? source;
  return world.sources({ ...place, names }).find(({ name }) => name === against) ?? alone;
}

/** The meter or agent of the matrix; null when it names none of that id. */
async function matrixMeter(
  io: Io,
  { matrix: file, against }: Calibrating['flags'],
): Promise<PowerSource | null> {
  if (file === undefined) return null;
  const { power } = readMatrix(file, {}, io);
  const meters = power?.meters?.filter(({ id }) => id === against);
  const agents = power?.agents?.filter(({ id }) => against === id || against.startsWith(`${id}-`));
  const wanted: NonNullable<MatrixFile['power']> = {
    ...(meters && meters.length > 0 && { meters }),
    ...(agents && agents.length > 0 && { agents }),
  };
  const opened = await openMeters(wanted, { io, base: dirname(resolve(io.cwd, file)) });
  const named = opened.find(({ name }) => name === against);
  return named ?? (opened.length === 1 ? (opened[0] ?? null) : null);
}

interface Stepping {
  readonly kept: readonly KeptSamples[];
  readonly total_ms: number;
}

/** Puts the processor through its phases; returns their spans. */
async function stepLoad(io: Io, world: PowerWorld, { kept, total_ms }: Stepping): Promise<Window[]> {
  const load = (world.load ?? startCpuLoad)();
  const phase_ms = total_ms / loads.length;
  const phases: Window[] = [];
  try {
    for (const share of loads) {
      if (io.signal.aborted) return phases;
      io.printError(`${figure(share * 100, 3)} % load for ${figure(phase_ms / 1000, 3)} s`);
      load.set(share);
      const start = world.clock.now();
      await waitAndCollect(io, world, { kept, ms: phase_ms });
      phases.push({ start, end: world.clock.now() });
    }
    return phases;
  } finally {
    load.stop();
  }
}

async function waitAndCollect(
  io: Io,
  world: PowerWorld,
  { kept, ms }: { readonly kept: readonly KeptSamples[]; readonly ms: number },
): Promise<void> {
  for (let left = ms; left > 0 && !io.signal.aborted; left -= collect_ms) {
    await world.pause(Math.min(left, collect_ms), io.signal);
    for (const own of kept) own.collect();
  }
}

interface Running {
  readonly kept: readonly KeptSamples[];
  readonly command: readonly string[];
}

/** Lets a command step the load; its whole span is one phase. Throws when it can't be started. */
async function runCommand(io: Io, world: PowerWorld, { kept, command }: Running): Promise<Window[]> {
  const start = world.clock.now();
  const ended = new AbortController();
  const running = runChild(io, command).finally(() => ended.abort());
  while (!ended.signal.aborted) {
    await world.pause(collect_ms, ended.signal);
    for (const own of kept) own.collect();
  }
  const { problem, exit_code } = await running;
  if (problem !== null) throw new PerwattError('INPUT_INVALID', problem);
  if (exit_code !== 0) io.printError(`warning: the command ended with exit code ${exit_code}`);
  return [{ start, end: world.clock.now() }];
}

function list(io: Io, { json }: Flags): void {
  const stored = storedCalibrations(io);
  if (json) return void io.print(JSON.stringify(stored, null, 2));
  if (stored.length === 0) return void io.print('no calibration is stored');
  for (const { file, calibration } of stored) {
    const { host, source, against, date, scale, offset_w, scale_error_ratio } = calibration;
    io.print(
      `${source} on ${host}: against ${against.source} on ${date.slice(0, 10)}, scale ${figure(scale, 4)}, offset ${figure(offset_w, 3)} W, error ${percent(scale_error_ratio)}`,
    );
    io.print(`  ${file}`);
  }
}
