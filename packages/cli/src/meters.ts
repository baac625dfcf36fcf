import { resolve } from 'node:path';
import type { AgentEntry, MatrixFile, MeterEntry, PowerSource } from '@perwatt/core';
import { PerwattError } from '@perwatt/core';
import {
  clock,
  dcmiMeter,
  httpJsonMeter,
  type MeterSource,
  type MeterWorld,
  openAgent,
  prometheusMeter,
  ptdaemonMeter,
  replayedSource,
  tailMeter,
} from '@perwatt/native-power';
import type { Io } from './io.js';
import { recordedSamples } from './recorded-samples.js';
import { summedOf } from './summed.js';

export interface MetersOptions {
  readonly io: Io;
  /** Folder that paths of the matrix start from. */
  readonly base: string;
}

type Power = NonNullable<MatrixFile['power']>;

/** Names in `sources` that are meters or agents of the matrix rather than sources of this host. */
export function splitSources({ sources, meters = [], agents = [] }: Power): {
  readonly own: readonly string[] | undefined;
  readonly meters: readonly MeterEntry[];
  readonly agents: readonly AgentEntry[];
} {
  if (sources === undefined) return { own: undefined, meters, agents };
  const ids = new Set([...meters, ...agents].map(({ id }) => id));
  const named = <T extends { readonly id: string }>(entries: readonly T[]) =>
    entries.filter(({ id }) => sources.includes(id));
  return { own: sources.filter((name) => !ids.has(name)), meters: named(meters), agents: named(agents) };
}

/** The meters and agents of a matrix, each tried once. Throws `POWER_NO_SOURCE` for one that can't be read and `INPUT_INVALID` for two of one name. */
export async function openMeters(power: Power, options: MetersOptions): Promise<readonly PowerSource[]> {
  const { meters, agents } = splitSources(power);
  const ids = [...meters, ...agents].map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice !== undefined) throw new PerwattError('INPUT_INVALID', `two power meters are called "${twice}"`);
  const opened = await Promise.all([
    ...meters.map(async (entry) => {
      if (entry.kind === 'replay') return [recordedSource(resolve(options.base, entry.path), entry.id)];
      const source = meterOf(entry, options);
      await source.check(options.io.signal);
      return [source];
    }),
    ...agents.map(async (entry) => {
      const { token_env, ...rest } = defined(entry);
      const token = secret(token_env, options.io);
      const { sources } = await openAgent({ ...rest, token }, clock, options.io.signal);
      return sources;
    }),
  ]);
  return opened.flat();
}

/** A recording as a source. Its total holds what `power record` would sum; the rest is shown beside it. */
export function recordedSource(path: string, name: string): PowerSource {
  const { sources, torn } = recordedSamples(path);
  if (torn !== null) {
    throw new PerwattError('INPUT_INVALID', `recording ${path} is torn: ${torn}`, {
      hint: 'See what is whole of it with `perwatt power replay`; a run is measured by a whole recording only.',
    });
  }
  const [recorded, other] = sources;
  if (recorded === undefined || other !== undefined) {
    const names = sources.map(({ source }) => source).join(', ');
    throw new PerwattError('INPUT_INVALID', `recording ${path} holds several sources: ${names}`, {
      hint: 'Record one source with `--source NAME`.',
    });
  }
  if (recorded.domains.some(({ provenance }) => provenance === 'estimated')) {
    throw new PerwattError(
      'INPUT_INVALID',
      `recording ${path} holds an estimate, and would hide that it is one`,
      {
        hint: 'Account for it with `perwatt power replay`, which says so; a run is measured by what was measured.',
      },
    );
  }
  const summed = summedOf(recorded.domains);
  const domains = recorded.domains.map((domain) => ({ ...domain, in_total: summed.includes(domain) }));
  const flags = recorded.status?.flags ?? [];
  return replayedSource({ ...recorded, domains, flags }, { name, clock });
}

function meterOf(entry: Exclude<MeterEntry, { kind: 'replay' }>, { io, base }: MetersOptions): MeterSource {
  const world: MeterWorld = { clock, wallNs: () => BigInt(io.wallTime().getTime()) * 1_000_000n };
  switch (entry.kind) {
    case 'http-json':
      return httpJsonMeter(authorised(entry, io), world);
    case 'prometheus':
      return prometheusMeter(authorised(entry, io), world);
    case 'ptdaemon':
      return ptdaemonMeter(defined(entry), world);
    case 'tail':
      return tailMeter({ ...defined(entry), path: resolve(base, entry.path) }, world);
    case 'dcmi':
      return dcmiMeter(defined(entry), world);
  }
}

function authorised<T extends { readonly authorization_env?: string | undefined }>(entry: T, io: Io) {
  const { authorization_env: name, ...rest } = entry;
  return { ...defined(rest), ...(name === undefined ? {} : { authorization: secret(name, io) }) };
}

function secret(name: string, io: Io): string {
  const value = io.env[name];
  if (value !== undefined && value !== '') return value;
  throw new PerwattError('INPUT_INVALID', `environment variable ${name} is not set`, {
    hint: `Set ${name} to what the meter or agent expects.`,
  });
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Leaves out what is undefined. */
const defined = <T extends object>(entry: T): Defined<T> =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Defined<T>;
