import {
  type Clock,
  createRng,
  didYouMean,
  type EndpointFacts,
  type MatrixFile,
  type ModelEntry,
  PerwattError,
  type PowerSource,
  type Simulate,
  type SimulatedSensor,
  seedFrom,
} from '@perwatt/core';
import { canonicalJson, sha256Hex } from '../canonical.js';
import type { HarnessDeps, PreparedModel } from '../deps.js';
import { createDevice, type Device } from './device.js';
import { deviceLaw } from './laws.js';
import { simulatedClient } from './simulated-client.js';
import { keyOf, type SimulatedItems, simulatedItems } from './simulated-items.js';
import { type VirtualTime, virtualTime } from './virtual-time.js';

/** One accelerator of a fleet as a power source takes it. */
export interface FleetDevice {
  readonly name: string;
  readonly host: string;
  readonly scope: 'gpu';
  readonly max_power_w: number;
  readonly signal: Device['signal'];
  readonly sensor: {
    readonly kind: SimulatedSensor['kind'];
    readonly update_period_ns: number;
    readonly lag_ns: number;
    readonly quantum: number;
    readonly sensing_share_ratio: number;
    readonly phase: number;
  };
}

/** What a simulated world takes from outside. */
export interface WorldParts
  extends Pick<HarnessDeps, 'version' | 'wallTime' | 'hostFacts' | 'grader' | 'strategy'> {
  /** Of everything that is drawn by chance. */
  readonly seed: number;
  /** Names this process: its clock begins at 0 and is nobody else's. */
  readonly boot_id: string;
  /** Makes the one source there is. */
  readonly powerSource: (parts: {
    readonly clock: Clock;
    readonly devices: readonly FleetDevice[];
  }) => PowerSource;
}

/** Items of a data set without a `limit`. */
const ITEMS = 100;

/**
 * The world of a matrix with `simulate`: models, accelerators and data sets that follow laws, in virtual time. What plans,
 * sends, records, attributes and grades is all real. Planning throws `MATRIX_INVALID` for a name without a law, and for
 * a power source that isn't the simulated one.
 */
export function simulatedWorld(laws: Simulate, parts: WorldParts): HarnessDeps {
  const { version, wallTime, hostFacts, grader, strategy, boot_id } = parts;
  const time = virtualTime();
  const devices = new Map(
    Object.entries(laws.accelerators).map(([name, { idle_w, loaded_w = idle_w, batch }]) => [
      name,
      createDevice({ time, idle_w, loaded_w, batch }),
    ]),
  );
  const items = new Map<string, SimulatedItems>();
  return {
    version,
    clock: time.clock,
    timer: time,
    wallTime,
    bootId: () => boot_id,
    suspendedNs: () => 0,
    hostFacts: () => ({ ...hostFacts(), hostname: 'simulated', cpu: 'simulated', governor: null }),
    cpuTimes: () => ({ host_busy_ns: 0, own_ns: 0 }),
    grader,
    strategy,
    powerSources(wanted) {
      refuseOthers(wanted);
      if (wanted?.sources?.length === 0) return [];
      return [parts.powerSource({ clock: time.clock, devices: fleetDevices(laws, devices, parts.seed) })];
    },
    async loadDataset({ kind, limit = ITEMS, options }, seed) {
      const [unknown] = Object.keys(options);
      if (unknown !== undefined)
        throw new PerwattError('MATRIX_INVALID', `a simulated data set has no option "${unknown}"`);
      const law = lawOf(laws.datasets, kind, 'datasets');
      const made = simulatedItems({ name: kind, law, count: limit, seed });
      items.set(keyOf({ name: kind, seed }), made);
      return made.dataset;
    },
    async prepareModel(entry) {
      return prepared(entry, laws, { time, devices, items, seed: parts.seed });
    },
  };
}

function lawOf<T>(laws: Readonly<Record<string, T>>, name: string, section: string): T {
  const law = Object.hasOwn(laws, name) ? laws[name] : undefined;
  if (law !== undefined) return law;
  throw new PerwattError(
    'MATRIX_INVALID',
    `simulate.${section} has no "${name}"${didYouMean(name, Object.keys(laws))}`,
    { hint: 'Every value of an axis needs its law; the matrix measures nothing real.' },
  );
}

function refuseOthers(power: MatrixFile['power']): void {
  const other = power?.sources?.find((name) => name !== 'simulated') ?? null;
  const real = other ?? power?.meters?.[0]?.id ?? power?.agents?.[0]?.id ?? null;
  if (real === null) return;
  throw new PerwattError('MATRIX_INVALID', `simulated power is not read beside "${real}"`, {
    hint: 'Leave `power` out of a matrix with `simulate`, or make a matrix of its own for what is measured.',
  });
}

function fleetDevices(laws: Simulate, devices: ReadonlyMap<string, Device>, seed: number): FleetDevice[] {
  return [...devices].map(([name, { signal }]) => {
    const law = lawOf(laws.accelerators, name, 'accelerators');
    const { kind, update_ms, lag_ms, quantum, sensing_share } = law.sensor ?? laws.sensor;
    const most = Math.max(
      law.idle_w,
      law.prefill_w,
      law.most_w ?? law.decode_w + law.batch * law.decode_w_per_sequence,
    );
    return {
      name,
      host: name,
      scope: 'gpu',
      max_power_w: 10 * most,
      signal,
      sensor: {
        kind,
        update_period_ns: Math.round(update_ms * 1e6),
        lag_ns: Math.round(lag_ms * 1e6),
        quantum,
        sensing_share_ratio: sensing_share,
        phase: createRng(seedFrom(seed, 'sensor', name))(),
      },
    };
  });
}

interface Fleet {
  readonly time: VirtualTime;
  readonly devices: ReadonlyMap<string, Device>;
  readonly items: ReadonlyMap<string, SimulatedItems>;
  readonly seed: number;
}

function prepared(entry: ModelEntry, laws: Simulate, { time, devices, items, seed }: Fleet): PreparedModel {
  const model = lawOf(laws.models, entry.id, 'models');
  return {
    sha256: sha256Hex(canonicalJson(laws)),
    request_model: entry.model ?? entry.id,
    weight_bytes: null,
    client({ accelerator }) {
      const law = lawOf(laws.accelerators, accelerator.id, 'accelerators');
      const device = devices.get(accelerator.id);
      if (device === undefined) throw new RangeError(`no device ${accelerator.id}`);
      return simulatedClient({
        time,
        device,
        law: deviceLaw(model, law),
        model,
        facts: factsOf(entry, accelerator.id),
        items,
        gap_ns: laws.gap_ms * 1e6,
        noise: laws.noise,
        random: createRng(seedFrom(seed, entry.id, accelerator.id, String(time.clock.now()))),
      });
    },
  };
}

const factsOf = ({ id }: ModelEntry, accelerator: string): EndpointFacts => ({
  kind: 'simulated',
  endpoint: accelerator,
  engine: 'simulated',
  engine_version: null,
  model: id,
  model_sha256: null,
  quantisation: null,
  chat_template_sha256: null,
  context_tokens: null,
  threads: null,
  pids: [],
});
