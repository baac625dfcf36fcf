import {
  blindEvents,
  type PowerSource,
  provenances,
  type Recorder,
  type SampleColumns,
  sampleEvents,
  scopes,
} from '@perwatt/core';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

export interface SourceUnderContract {
  readonly source: PowerSource;
  /** Lets energy flow or time pass, so that the next reading differs from the last. */
  readonly advance: () => void;
  /** Removes what was built for the test. */
  readonly dispose?: () => void | Promise<void>;
  /**
   * Its numbers come from elsewhere: the first may take a moment, and a mark or a stop asks for one without waiting for
   * it.
   */
  readonly external?: true;
  /** It serves one recorder at a time. */
  readonly single?: true;
}

const period_ns = 1_000_000;
const patience = { timeout: 10_000, interval: 5 };

/** What every power source must do. Run it over fakes on every commit, and over real devices where there are any. */
export function powerSourceContract(
  name: string,
  make: () => SourceUnderContract | Promise<SourceUnderContract>,
) {
  /** `unless_marked` leaves readings to marks; what comes from elsewhere comes all the same. */
  const start = async (options: { readonly period_ns?: number } | 'unless_marked' = { period_ns }) => {
    const under = await make();
    if (under.dispose) onTestFinished(under.dispose);
    const rare = { period_ns: under.external ? 10 * period_ns : 3_600_000_000_000 };
    const recorder = under.source.start(options === 'unless_marked' ? rare : options);
    onTestFinished(() => recorder.stop());
    return { ...under, recorder };
  };

  describe(`power source contract: ${name}`, () => {
    test('domains are named once, belong to the source, and say where their numbers come from', async () => {
      const { source, recorder } = await start();
      const ids = recorder.domains.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBeGreaterThan(0);
      expect(recorder.raw_units).toHaveLength(ids.length);
      expect(recorder.source).toBe(source.name);
      expect(recorder.domains.some(({ in_total }) => in_total)).toBe(true);
      for (const domain of recorder.domains) {
        expect(domain.source).toBe(source.name);
        expect(tiersOf(source)).toContain(domain.provenance);
        expect(domain.provenance === 'counter').toBe(
          domain.kind === 'counter' && source.provenance === 'counter',
        );
        expect(provenances).toContain(domain.provenance);
        expect(scopes).toContain(domain.scope);
        expect(domain.update_period_ns).toBeGreaterThan(0);
        expect(domain.kind === 'estimate').toBe(domain.provenance === 'estimated');
        if (domain.kind === 'estimate') expect(domain.note).toMatch(/estimated/);
      }
    });

    test('every domain has a first sample that books nothing as soon as the recorder exists, or soon after', async () => {
      const { recorder, external } = await start();
      const columns = await firstOf(recorder, external);
      for (const d of recorder.domains.keys()) {
        const i = firstNumber(columns, d);
        expect(sampleEvents[columns.event[i] ?? -1]).toBe('first');
        expect([columns.booked_energy_j[i], columns.booked_lo_j[i], columns.booked_hi_j[i]]).toEqual([
          0, 0, 0,
        ]);
        expect(columns.raw_valid[i]).toBe(1);
      }
    });

    test('samples come in columns of one length, in order of time, and booked energy never falls', async () => {
      const { recorder, advance } = await start();
      const parts: SampleColumns[] = [];
      await vi.waitFor(() => {
        advance();
        parts.push(recorder.drain());
        for (const d of recorder.domains.keys()) expect(samplesOf(parts, d)).toBeGreaterThan(3);
      }, patience);
      await vi.waitFor(() => expect(recorder.status().reads).toBeGreaterThan(1), patience);
      advance();
      recorder.stop();
      parts.push(recorder.drain());
      const columns = joined(parts);
      for (const values of Object.values(columns)) expect(values).toHaveLength(columns.at_ns.length);
      for (const d of recorder.domains.keys()) checkDomain(columns, d);
      expect(Math.max(...columns.domain)).toBeLessThan(recorder.domains.length);
    });

    test('a mark is a reading of its own, and says when it was', async () => {
      const { recorder, advance, external } = await start('unless_marked');
      const [before] = (await firstOf(recorder, external)).at_ns;
      const { reads } = recorder.status();
      advance();
      const at = recorder.mark();
      expect(at).toBeGreaterThan(before ?? 0n);
      if (external) return;
      const { at_ns, domain } = recorder.drain();
      expect(recorder.status().reads).toBe(reads + 1);
      expect([...new Set(domain)].toSorted()).toEqual([...recorder.domains.keys()]);
      for (const stamp of at_ns) expect(Math.abs(Number(stamp - at))).toBeLessThan(1e9);
    });

    test('a stop takes a last reading, hands it over once, and may be repeated', async () => {
      const { recorder, advance, external } = await start('unless_marked');
      await firstOf(recorder, external);
      expect(recorder.status()).toMatchObject({ state: 'running', reason: null });
      advance();
      recorder.stop();
      recorder.stop();
      expect(recorder.status()).toMatchObject({ state: 'stopped', reason: null });
      const last = recorder.drain();
      if (!external) expect([...new Set(last.domain)].toSorted()).toEqual([...recorder.domains.keys()]);
      expect(recorder.drain().at_ns).toHaveLength(0);
      recorder.mark();
      expect(recorder.drain().at_ns).toHaveLength(0);
    });

    test('recorders of one source run side by side', async () => {
      const { source, recorder, external, single } = await start();
      if (single) return;
      const other = source.start({ period_ns });
      onTestFinished(() => other.stop());
      const first = await firstOf(other, external);
      other.stop();
      expect(recorder.status().state).toBe('running');
      expect(first.at_ns.length).toBeGreaterThan(0);
    });

    test('its status tells what it lost and saw in the terms that everyone reads', async () => {
      const { recorder, external } = await start();
      await firstOf(recorder, external);
      const { dropped = 0, flags = [], observed = [], reads, read_ns, missed_deadlines } = recorder.status();
      expect(dropped).toBe(0);
      for (const count of [reads, read_ns, missed_deadlines]) expect(count).toBeGreaterThanOrEqual(0);
      for (const flag of flags) expect(flag).toMatch(/^[a-z<>_\d-]+(:.+)?$/);
      const ids = recorder.domains.map(({ id }) => id);
      for (const { domain, update_period_ns, reason } of observed) {
        expect(ids).toContain(domain);
        expect(update_period_ns === null).toBe(reason !== null);
      }
    });

    test('the period is the one asked for, or the default, and nonsense is refused', async () => {
      expect((await start()).recorder.period_ns).toBe(period_ns);
      const { source, recorder } = await start({});
      expect(recorder.period_ns).toBe(source.default_period_ns);
      for (const bad of [0, -1, Number.NaN, 1e15]) {
        expect(() => source.start({ period_ns: bad })).toThrowError(
          expect.objectContaining({ name: 'PerwattError', code: 'INPUT_INVALID' }),
        );
      }
    });
  });
}

/** What a recorder has to hand over first: at once, or from elsewhere in a moment. */
async function firstOf(recorder: Recorder, external: true | undefined): Promise<SampleColumns> {
  const parts = [recorder.drain()];
  if (!external) return joined(parts);
  await vi.waitFor(() => {
    parts.push(recorder.drain());
    const columns = joined(parts);
    for (const d of recorder.domains.keys()) expect(firstNumber(columns, d)).toBeGreaterThanOrEqual(0);
  }, patience);
  return joined(parts);
}

/** Index of the first sample of a domain that has a number; -1 for none. */
const firstNumber = ({ domain, event }: SampleColumns, d: number): number =>
  domain.findIndex((own, i) => {
    const name = sampleEvents[event[i] ?? -1];
    return own === d && name !== undefined && !blindEvents.has(name);
  });

const samplesOf = (parts: readonly SampleColumns[], d: number): number =>
  parts.reduce((sum, { domain }) => sum + domain.filter((own) => own === d).length, 0);

/** A source of counters may have devices without one, and may show power beside them. */
const tiersOf = ({ provenance }: PowerSource) =>
  provenance === 'counter' ? ['counter', 'integrated'] : [provenance];

function checkDomain(columns: SampleColumns, d: number) {
  const own = [...columns.domain.keys()].filter((i) => columns.domain[i] === d);
  expect(own.length).toBeGreaterThan(2);
  const of = (column: BigInt64Array | Float64Array) => own.map((i) => Number(column[i]));
  expectRising(of(columns.at_ns));
  const [booked, lo, hi] = [columns.booked_energy_j, columns.booked_lo_j, columns.booked_hi_j].map(of);
  expectRising(booked ?? []);
  for (const [i, energy] of (booked ?? []).entries()) {
    expect(lo?.[i]).toBeLessThanOrEqual(energy);
    expect(hi?.[i]).toBeGreaterThanOrEqual(energy);
  }
  for (const i of own) {
    expect(sampleEvents[columns.event[i] ?? -1]).toBeDefined();
    expect([0, 1]).toContain(columns.raw_valid[i]);
    expect([0, 1]).toContain(columns.power_valid[i]);
    expect(columns.read_ns[i]).toBeGreaterThanOrEqual(0);
  }
}

const expectRising = (values: readonly number[]) => expect(values).toEqual(values.toSorted((a, b) => a - b));

/** The columns of several drains as one. */
function joined(parts: readonly SampleColumns[]): SampleColumns {
  const big = (of: (part: SampleColumns) => BigInt64Array) =>
    BigInt64Array.from(parts.flatMap((part) => [...of(part)]));
  const real = (of: (part: SampleColumns) => Float64Array) =>
    Float64Array.from(parts.flatMap((part) => [...of(part)]));
  const flags = (of: (part: SampleColumns) => Uint8Array) =>
    Uint8Array.from(parts.flatMap((part) => [...of(part)]));
  return {
    at_ns: big((part) => part.at_ns),
    read_ns: real((part) => part.read_ns),
    domain: Uint16Array.from(parts.flatMap(({ domain }) => [...domain])),
    raw: big(({ raw }) => raw),
    raw_valid: flags((part) => part.raw_valid),
    event: flags(({ event }) => event),
    booked_energy_j: real((part) => part.booked_energy_j),
    booked_lo_j: real((part) => part.booked_lo_j),
    booked_hi_j: real((part) => part.booked_hi_j),
    power_w: real((part) => part.power_w),
    power_valid: flags((part) => part.power_valid),
  };
}
