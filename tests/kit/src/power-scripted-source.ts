import {
  type Domain,
  type Instant,
  instant,
  PerwattError,
  type PowerSource,
  type Recorder,
  type RecorderStatus,
  type SampleColumns,
  type SampleEvent,
  sampleEvents,
} from '@perwatt/core';

/** One sample of a script. What is left out is null, or follows from the rest: bounds equal the energy, the event is `ok`. */
export interface ScriptedSample {
  readonly at_ns: bigint;
  /** Index into the domains; 0 unless said. */
  readonly domain?: number;
  readonly booked_energy_j: number;
  readonly booked_lo_j?: number;
  readonly booked_hi_j?: number;
  readonly raw?: bigint;
  readonly event?: SampleEvent;
  readonly power_w?: number;
}

/** A domain with everything that a test doesn't care about filled in. */
export function testDomain({ id, ...rest }: Partial<Domain> & Pick<Domain, 'id'>): Domain {
  return {
    id,
    source: 'scripted',
    scope: 'package',
    kind: 'counter',
    provenance: 'simulated',
    in_total: true,
    update_period_ns: 1_000_000,
    quantum: null,
    scale_error_ratio: null,
    note: null,
    ...rest,
  };
}

/** Rows as the columns that recorders hand over. */
export function sampleColumns(rows: readonly ScriptedSample[]): SampleColumns {
  const flags = (has: (row: ScriptedSample) => boolean) => Uint8Array.from(rows, (row) => (has(row) ? 1 : 0));
  const joules = (of: (row: ScriptedSample) => number) => Float64Array.from(rows, of);
  return {
    at_ns: BigInt64Array.from(rows, ({ at_ns }) => at_ns),
    read_ns: joules(() => 0),
    domain: Uint16Array.from(rows, ({ domain }) => domain ?? 0),
    raw: BigInt64Array.from(rows, ({ raw }) => raw ?? 0n),
    raw_valid: flags(({ raw }) => raw !== undefined),
    event: Uint8Array.from(rows, ({ event }) => sampleEvents.indexOf(event ?? 'ok')),
    booked_energy_j: joules((row) => row.booked_energy_j),
    booked_lo_j: joules((row) => row.booked_lo_j ?? row.booked_energy_j),
    booked_hi_j: joules((row) => row.booked_hi_j ?? row.booked_energy_j),
    power_w: joules(({ power_w }) => power_w ?? 0),
    power_valid: flags(({ power_w }) => power_w !== undefined),
  };
}

/** The script of a source. */
export interface ScriptedSourceOptions {
  readonly name?: string;
  readonly domains: readonly Domain[];
  /** One reading each: the first is there at the start, every `mark` and the stop take the next, and so does every drain. */
  readonly readings: readonly (readonly ScriptedSample[])[];
  /** After the last reading: the recorder has failed with this reason. Without it, it reads nothing more. */
  readonly failure?: string;
}

/** A power source that plays readings back: no hardware, no clock, no thread. */
export function scriptedPowerSource(options: ScriptedSourceOptions): PowerSource {
  const { name = 'scripted', domains, readings } = options;
  const [first] = domains;
  if (first === undefined) throw new Error('a scripted source needs a domain');
  return {
    name,
    provenance: first.provenance,
    default_period_ns: 100_000_000,
    start: ({ period_ns = 100_000_000 } = {}) => play({ ...options, name, readings, period_ns }),
  };
}

type Play = ScriptedSourceOptions & { readonly name: string; readonly period_ns: number };

function play({ name, domains, readings, failure, period_ns }: Play): Recorder {
  checkPeriod(period_ns);
  const script = readings.values();
  let pending: ScriptedSample[] = [];
  let last = instant(0n);
  let reads = 0;
  let state: RecorderStatus['state'] = 'running';
  const read = (): Instant => {
    if (state !== 'running') return last;
    const step = script.next();
    if (step.done) {
      if (failure !== undefined) state = 'failed';
      return last;
    }
    reads += 1;
    pending.push(...step.value);
    last = instant(step.value.at(-1)?.at_ns ?? last);
    return last;
  };
  read();
  return {
    source: name,
    domains,
    raw_units: domains.map(() => 'uJ'),
    period_ns,
    drain() {
      if (pending.length === 0) read();
      const taken = pending;
      pending = [];
      return sampleColumns(taken);
    },
    mark: read,
    status: () => ({
      state,
      reason: state === 'failed' ? (failure ?? null) : null,
      reads,
      missed_deadlines: 0,
      read_ns: 0,
    }),
    stop() {
      read();
      if (state === 'running') state = 'stopped';
    },
  };
}

/** The range of periods that every source accepts. */
export function checkPeriod(period_ns: number): void {
  if (period_ns >= 100_000 && period_ns <= 3_600_000_000_000) return;
  throw new PerwattError('INPUT_INVALID', `period of ${period_ns} ns is out of range`);
}
