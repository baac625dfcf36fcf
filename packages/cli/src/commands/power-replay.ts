import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { elapsed, messageOf, PerwattError } from '@perwatt/core';
import { Command, Option } from 'commander';
import { energyText, flatEnergy, totalJson } from '../account-text.js';
import { parseDuration } from '../duration.js';
import { figure } from '../figure.js';
import { explainedFlags } from '../flag-lines.js';
import type { Io } from '../io.js';
import { type DomainAccount, totalAccount } from '../power-account.js';
import { type RecordedFile, recordedSamples } from '../recorded-samples.js';
import { type Replayed, replayCases } from '../replay/replay-case.js';
import { type AskedWindow, accountRecorded, type RecordedAccount } from '../replay-account.js';
import { summedOf } from '../summed.js';

interface Flags {
  readonly json?: boolean;
  readonly window?: AskedWindow;
}

/** `perwatt power replay`: recorded readings through the rules that live ones go through. */
export const powerReplayCommand = (io: Io): Command =>
  new Command('replay')
    .description(
      'Account for samples that were kept, or run recorded readings through the rules of live ones',
    )
    .argument(
      '<file>',
      'samples that `power --out` or a run kept (.arrows), or JSON: one fixture of the format perwatt-power-case/1, or an array of them',
    )
    .addOption(
      new Option(
        '--window <from,to>',
        'of samples: the span to account for, from their first on: 2s,10s; default: all of it',
      ).argParser(parseWindow),
    )
    .option(
      '--json',
      'print one JSON object: of samples the account, of fixtures one each with what was computed',
    )
    .addHelpText(
      'after',
      `
Of samples the joules are those that were booked when they were taken; nothing is booked again. A torn file is read as far
as it is whole, and says so. A fixture that no built code can run is said to be unsupported, with the reason.

Examples:
  perwatt power replay samples.arrows
  perwatt power replay runs/<id>/power/rapl-powercap-0.arrows --window 2s,10s --json
  perwatt power replay cases.json --json`,
    )
    .action((file: string, _own: Flags, self: Command) => {
      const flags = self.optsWithGlobals<Flags>();
      const path = resolve(io.cwd, file);
      if (isArrow(path)) return replaySamples(io, file, { ...flags, path });
      if (flags.window !== undefined)
        throw new PerwattError('USAGE', `--window is for samples, and ${file} holds fixtures`);
      for (const replayed of replayCases(readJson(path))) {
        io.print(flags.json ? jsonLine(replayed) : textLine(replayed));
      }
    });

/** Two durations or seconds: `2s,10s` or `2,10`. */
function parseWindow(text: string): AskedWindow {
  const [from, to, more] = text.split(',').map((part) => {
    const seconds = /^\s*\d+(\.\d+)?\s*$/.test(part);
    return 1e6 * (seconds ? Number(part) * 1000 : parseDuration(part));
  });
  if (from !== undefined && to !== undefined && more === undefined && from < to)
    return { from_ns: from, to_ns: to };
  throw new PerwattError('USAGE', `"${text}" is not a window`, {
    hint: 'Write when it begins and when it ends, from the first sample on: 2s,10s.',
  });
}

/** Whether a file is samples rather than fixtures: by its name, or by how an Arrow stream begins. */
function isArrow(path: string): boolean {
  if (path.endsWith('.arrows')) return true;
  const start = Buffer.alloc(4);
  try {
    const fd = openSync(path, 'r');
    try {
      return readSync(fd, start) === 4 && start.readInt32LE() === -1;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

function replaySamples(
  io: Io,
  file: string,
  { path, json, window }: Flags & { readonly path: string },
): void {
  const recorded = recordedSamples(path);
  const account = accountRecorded(recorded, window ?? null);
  if (recorded.torn !== null) io.printError(`warning: ${file}: ${recorded.torn}; the rest was read`);
  if (json) io.print(JSON.stringify(samplesJson(file, recorded, account)));
  else for (const line of samplesText(recorded, account)) io.print(line);
}

function samplesJson(file: string, { sources, torn }: RecordedFile, account: RecordedAccount) {
  const { accounts, window, zero, events } = account;
  return {
    kind: 'replay',
    file,
    provenance: 'replayed',
    torn,
    from_ns: elapsed(zero, window.start),
    duration_ns: elapsed(window.start, window.end),
    domains: accounts.map(({ domain, gross, net: _, baseline_power_w: _idle, ...rest }) => ({
      ...domain,
      provenance: 'replayed',
      recorded_provenance: domain.provenance,
      ...flatEnergy('gross', gross),
      ...rest,
    })),
    total: totalJson(totalAccount(accounts)),
    events,
    sources: sources.map(({ source, period_ns, columns, status }) => ({
      source,
      period_ns,
      samples: columns.at_ns.length,
      recorder_known: status !== null,
      explained_flags: status === null ? [] : explainedFlags(status),
    })),
  };
}

function samplesText(
  { sources }: RecordedFile,
  { accounts, window, zero, events }: RecordedAccount,
): string[] {
  const rows = accounts.map((own) => [own.domain.id, own.domain.scope, ...figures(own)]);
  const summed = summedOf(accounts.map(({ domain }) => domain));
  const first = accounts.find(({ domain }) => summed.includes(domain));
  if (first !== undefined && accounts.length > 1) {
    const sum = totalAccount(accounts);
    const reason = sum.gross.energy_j === null ? 'a part is unknown' : null;
    rows.push(['total', '', ...figures({ ...first, ...sum, peak_power_w: null, reason })]);
  }
  const widths = [0, 1, 2, 3, 4, 5, 6].map((c) => Math.max(...rows.map((row) => row[c]?.length ?? 0)));
  const beside = accounts.filter(({ domain }) => !summed.includes(domain)).map(({ domain }) => domain.id);
  return [
    `${seconds(elapsed(window.start, window.end))}, from ${seconds(elapsed(zero, window.start))} on, replayed`,
    ...rows.map((row) =>
      row
        .map((cell, c) => cell.padEnd(widths[c] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    ...(beside.length > 0 ? [`not in the total: ${beside.join(', ')}`] : []),
    ...accounts.flatMap(({ domain }) => (domain.provenance === 'estimated' ? (domain.note ?? []) : [])),
    ...eventLines(events),
    ...sources.flatMap(({ source, status }) =>
      status === null
        ? [`${source}: how it was recorded is not known; its bounds hold the declared update period`]
        : explainedFlags(status).map(({ text }) => `flag: ${source}: ${text}`),
    ),
  ];
}

const seconds = (ns: number): string => `${figure(ns / 1e9, 4)} s`;

function figures({
  domain,
  gross,
  mean_power_w,
  peak_power_w,
  coverage_ratio,
  reason,
}: DomainAccount): string[] {
  const covered = `covered ${figure(coverage_ratio * 100, 4)} %`;
  if (reason !== null) return [`unknown: ${reason}`, covered];
  const digits = domain.provenance === 'estimated' ? 3 : 5;
  const watts = (power: number | null) => (power === null ? '-' : `${figure(power, Math.min(digits, 4))} W`);
  return [
    energyText(gross, digits),
    `mean ${watts(mean_power_w)}`,
    peak_power_w === null ? '' : `peak ${watts(peak_power_w)}`,
    covered,
    `replayed (${domain.provenance})`,
  ];
}

/** Events that are told one by one; of the others there may be thousands. */
const told: ReadonlySet<string> = new Set(['gap', 'reset', 'clock', 'alias']);
const mostTold = 20;

function eventLines(events: RecordedAccount['events']): string[] {
  const counts = new Map<string, number>();
  for (const { domain, event } of events) {
    const key = `${domain}: ${event}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const single = events.filter(({ event }) => told.has(event));
  const lines = single.slice(0, mostTold).map(({ domain, event, at_ns, since_ns }) => {
    const since = since_ns === null ? '' : `, ${seconds(since_ns)} after the last reading`;
    return `${event}: ${domain} at ${seconds(at_ns)}${since}`;
  });
  const more = single.length - lines.length;
  return [
    ...[...counts].map(([key, count]) => `events: ${key} × ${count}`),
    ...lines,
    ...(more > 0 ? [`and ${more} more; --json lists them`] : []),
  ];
}

const jsonLine = ({ id, kind, computed }: Replayed): string => JSON.stringify({ id, kind, ...computed });

const textLine = ({ id, kind, computed }: Replayed): string => {
  const parts = Object.entries(computed).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${id}  ${kind}  ${parts.join('  ')}`;
};

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new PerwattError('INPUT_INVALID', `cannot read fixtures of ${path}: ${messageOf(error)}`, {
      hint: 'Pass a file of JSON: one fixture, or an array of them.',
      cause: error,
    });
  }
}
