import { type CallRow, type Domain, instant } from '@perwatt/core';
import type { PowerSeries } from '@perwatt/metrics';
import type { Baseline } from '@perwatt/records';
import { expect, test } from 'vitest';
import { addLedgers, energiesOf, ledgersOf } from './energy.js';

const S = 1_000_000_000n;
const window = { start: instant(0n), end: instant(20n * S) };

const series = (id: string, watts: number, change: Partial<Domain> = {}): PowerSeries => {
  const times = Array.from({ length: 23 }, (_, i) => BigInt(i - 1) * S);
  const joules = Float64Array.from(times, (t) => (Number(t + S) / 1e9) * watts);
  const domain: Domain = {
    id,
    source: 'fake',
    scope: 'package',
    kind: 'counter',
    provenance: 'counter',
    in_total: true,
    update_period_ns: 1_000_000,
    quantum: null,
    scale_error_ratio: null,
    note: null,
    ...change,
  };
  return { domain, at_ns: BigInt64Array.from(times), booked_j: joules, lo_j: joules, hi_j: joules };
};

const call = (query_id: string, from: number, to: number): CallRow =>
  ({ query_id, dispatch_ns: BigInt(from) * S, end_ns: BigInt(to) * S }) as CallRow;

const idle = (when: Baseline['when'], power_w: number): Baseline => ({
  kind: 'loaded_idle',
  when,
  start_ns: when === 'before' ? String(-10n * S) : String(25n * S),
  end_ns: when === 'before' ? String(-5n * S) : String(30n * S),
  shared: false,
  powers: ['a', 'b'].map((domain) => ({ domain, power_w, lo_w: power_w, hi_w: power_w, reason: null })),
});

test('a query gets the energy of every domain of the total, net of the idle power in its share of the time', () => {
  const calls = [call('q1', 2, 6), call('q2', 10, 12)];
  const energies = energiesOf({
    series: [series('a', 10), series('b', 5), series('inside', 3, { in_total: false })],
    calls,
    window,
    baselines: [idle('before', 2), idle('after', 2)],
  });
  const q1 = energies.get('q1');
  expect(q1).toMatchObject({ method: 'isolated' });
  expect(q1?.gross_j).toBeCloseTo(60, 9);
  expect(q1?.net_j).toBeCloseTo(60 - 2 * 2 * 4, 6);
  expect(q1?.lo_j).toBeLessThanOrEqual(60);
  expect(energies.get('q2')?.gross_j).toBeCloseTo(30, 9);
});

test('tiers are never summed, and a wall meter takes the place of what hangs behind it', () => {
  const calls = [call('q1', 2, 6)];
  const of = (...more: PowerSeries[]) =>
    energiesOf({ series: [series('a', 10), ...more], calls, window, baselines: [] }).get('q1')?.gross_j;
  expect(of(series('guess', 7, { provenance: 'estimated' }))).toBeCloseTo(40, 9);
  expect(of(series('wall', 30, { scope: 'wall' }))).toBeCloseTo(120, 9);
  const ledgers = ledgersOf({
    series: [series('a', 10), series('guess', 7, { provenance: 'estimated' })],
    calls,
    surviving: calls,
    window,
  });
  expect(ledgers.map((l) => [l.domain, l.in_total])).toEqual([
    ['a', true],
    ['guess', false],
  ]);
});

test('overlapping queries share time, and so the idle power that is taken off', () => {
  const calls = [call('q1', 0, 10), call('q2', 5, 10)];
  const energies = energiesOf({ series: [series('a', 10)], calls, window, baselines: [idle('before', 4)] });
  expect(energies.get('q1')?.gross_j).toBeCloseTo(75, 9);
  expect(energies.get('q2')?.gross_j).toBeCloseTo(25, 9);
  expect(energies.get('q1')?.net_j).toBeCloseTo(75 - 4 * 7.5, 6);
  expect(energies.get('q2')?.method).toBe('time_share');
});

/** A call whose output came at times, s, in equal parts. */
const talking = (
  query_id: string,
  [from, to]: readonly [number, number],
  [tokens, ...at]: readonly [number | null, ...number[]],
): CallRow => ({
  ...call(query_id, from, to),
  status: 'ok',
  completion_tokens: tokens,
  first_any_ns: at[0] === undefined ? null : BigInt(at[0]) * S,
  icl_ns: at.slice(1).map((time, i) => (time - at[i]!) * 1e9),
});

test('by tokens, the energy of a time goes to the calls that gave them, and so does the idle power', () => {
  const calls = [talking('a', [2, 12], [150, 3, 4, 8]), talking('b', [7, 12], [150, 9])];
  const input = { series: [series('a', 100)], calls, window, baselines: [idle('before', 10)] };
  const energies = energiesOf({ ...input, attribution: 'token_share' });
  expect(energies.get('a')).toMatchObject({ method: 'token_share' });
  expect(energies.get('a')?.gross_j).toBeCloseTo(500 + 200, 6);
  expect(energies.get('b')?.gross_j).toBeCloseTo(300, 6);
  expect(energies.get('a')?.net_j).toBeCloseTo(700 - 10 * 7, 5);
  expect(energies.get('b')?.net_j).toBeCloseTo(300 - 10 * 3, 5);
  expect(energiesOf(input).get('a')).toMatchObject({ method: 'time_share' });
  expect(energiesOf(input).get('a')?.gross_j).toBeCloseTo(750, 6);
});

// biome-ignore format: a table is read in columns
test.each([
  ['a call whose tokens nobody counted',       'time_share',  talking('a', [2, 12], [null, 3, 4])],
  ['tokens whose time is not known',           'time_share',  talking('a', [2, 12], [9])],
  ['a call that gave none',                    'token_share', talking('a', [2, 12], [0])],
  ['a call that failed before it gave any',    'token_share', { ...talking('a', [2, 12], [null]), status: 'timeout' }],
  ['queries that do not overlap were measured', 'isolated',   talking('a', [2, 6], [9, 3])],
])('asked for by tokens, %s: energy is %s', (_, method, first) => {
  const calls = [first, talking('b', [7, 12], [150, 9])];
  const input = { series: [series('a', 100)], calls, window, baselines: [] };
  expect(energiesOf({ ...input, attribution: 'token_share' }).get('b')?.method).toBe(method);
});

test('one domain without energy leaves no energy at all, not less; without a baseline there is no net', () => {
  const calls = [call('q1', 2, 6)];
  const gone = series('b', 5);
  const short = { ...gone, at_ns: gone.at_ns.slice(0, 3), booked_j: gone.booked_j.slice(0, 3) };
  const energies = energiesOf({ series: [series('a', 10), short], calls, window, baselines: [] });
  expect(energies.get('q1')).toEqual({ gross_j: null, net_j: null, lo_j: null, hi_j: null, method: 'none' });
  const bare = energiesOf({ series: [series('a', 10)], calls, window, baselines: [] });
  expect(bare.get('q1')).toMatchObject({ net_j: null, method: 'isolated' });
  expect(energiesOf({ series: [], calls, window, baselines: [] }).get('q1')?.method).toBe('none');
});

test('calls without an answer are lost work, where no other call was in flight', () => {
  const surviving = [call('q1', 2, 6)];
  const calls = [...surviving, call('lost', 4, 9), call('lost too', 8, 10)];
  const [ledger] = ledgersOf({ series: [series('a', 10)], calls, surviving, window });
  expect(ledger).toMatchObject({ domain: 'a', coverage_ratio: 1, reason: null });
  expect(ledger?.meter_j).toBeCloseTo(200, 9);
  expect(ledger?.queries_j).toBeCloseTo(40, 9);
  expect(ledger?.unattributed_j).toBeCloseTo(160, 9);
  expect(ledger?.lost_work_j).toBeCloseTo(40, 9);
});

test('a ledger tells its meter net of the loaded model and net of the idle host', () => {
  const calls = [call('q1', 2, 6)];
  const host = { ...idle('before', 3), kind: 'host_idle' as const };
  const input = { series: [series('a', 10)], calls, surviving: calls, window };
  const [both] = ledgersOf({ ...input, baselines: [idle('before', 4), idle('after', 6), host] });
  expect(both?.net_j).toBeCloseTo(200 - 5 * 20, 3);
  expect(both?.net_host_j).toBeCloseTo(200 - 3 * 20, 6);
  expect(ledgersOf(input)[0]).toMatchObject({ net_j: null, net_host_j: null });
  const [sum] = addLedgers([both!], [both!]);
  expect(sum?.net_host_j).toBeCloseTo(280, 6);
});

test('a sitting that answered nothing and has no baseline leaves the net energy of the others', () => {
  const calls = [call('q1', 2, 6)];
  const input = { series: [series('a', 10)], calls, surviving: calls, window };
  const good = ledgersOf({ ...input, baselines: [idle('before', 4)] });
  const bare = ledgersOf({ ...input, calls: [], surviving: [] });
  const answered = ledgersOf(input);
  const net = (...[a, b, which]: Parameters<typeof addLedgers>) => addLedgers(a, b, which)[0];
  expect(net(good, bare, { before: true, more: false })?.net_j).toBeCloseTo(120, 3);
  expect(net(bare, good, { before: false, more: true })?.net_j).toBeCloseTo(120, 3);
  expect(net(good, bare, { before: true, more: false })?.meter_j).toBeCloseTo(400, 6);
  expect(net(good, good, { before: true, more: false })?.net_j).toBeCloseTo(240, 3);
  expect(net(good, answered)?.net_j).toBeNull();
  expect(net(answered, bare, { before: true, more: false })?.net_j).toBeNull();
  const unknown = bare.map((ledger) => ({ ...ledger, meter_j: null }));
  expect(net(good, unknown, { before: true, more: false })?.net_j).toBeNull();
});

test('ledgers of sittings add up; a domain that one of them lacks has no total', () => {
  const calls = [call('q1', 2, 6)];
  const both = ledgersOf({ series: [series('a', 10), series('b', 5)], calls, surviving: calls, window });
  const one = ledgersOf({ series: [series('a', 20)], calls, surviving: calls, window });
  const [a, b] = addLedgers(both, one);
  expect(a?.meter_j).toBeCloseTo(600, 9);
  expect(a?.queries_j).toBeCloseTo(120, 9);
  expect(b).toMatchObject({ domain: 'b', meter_j: null, coverage_ratio: 0 });
  expect(addLedgers(null, one)).toEqual(one);
  expect(addLedgers([], one)).toMatchObject([{ domain: 'a', meter_j: null }]);
});

test('what a crash left no record of is lost work too, from the last call on record to the last sample', () => {
  const surviving = [call('q1', 2, 6)];
  const input = { series: [series('a', 10)], calls: [...surviving, call('lost', 4, 9)], surviving, window };
  expect(ledgersOf(input)[0]?.lost_work_j).toBeCloseTo(30, 9);
  expect(ledgersOf({ ...input, cut_off: true })[0]?.lost_work_j).toBeCloseTo(30 + 110, 9);
  expect(ledgersOf({ ...input, calls: [], surviving: [], cut_off: true })[0]?.lost_work_j).toBeCloseTo(
    200,
    9,
  );
});

test('a sitting that meters other domains than the ones before gives its queries no energy, not less', () => {
  const input = { series: [series('a', 10)], calls: [call('q1', 2, 6)], window, baselines: [] };
  expect(energiesOf({ ...input, earlier: ['a'] }).get('q1')?.gross_j).toBeCloseTo(40, 9);
  expect(energiesOf({ ...input, earlier: null }).get('q1')?.gross_j).toBeCloseTo(40, 9);
  for (const earlier of [['a', 'b'], ['b'], []])
    expect(energiesOf({ ...input, earlier }).get('q1')).toMatchObject({ gross_j: null, method: 'none' });
});
