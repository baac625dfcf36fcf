import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fc, test as property } from '@fast-check/vitest';
import { channelRows, instant, type PowerSource, type SampleColumns, sampleEvents } from '@perwatt/core';
import {
  sampleColumns,
  scriptedPowerSource,
  steadyPowerSource,
  testDomain,
  tickingClock,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { clock } from '../clock.js';
import { AGENT_VERSION, parseAgentLine, parseFacts, parsePong, pong, samplesLine } from './agent-protocol.js';
import { openAgent } from './agent-source.js';
import { channelsLine, statusLine } from './agent-status.js';
import { betterOffset, clockOffset } from './clock-offset.js';
import { relay } from './relay.js';
import { channelRelay, remoteStatus } from './remote-status.js';
import { serveAgent } from './serve-agent.js';

const token = 'a token';

const columnsOf = (rows: readonly [at_s: number, energy: number, event?: (typeof sampleEvents)[number]][]) =>
  sampleColumns(
    rows.map(([at_s, booked_energy_j, event]) => ({
      at_ns: BigInt(at_s * 1e9),
      booked_energy_j,
      event: event ?? 'ok',
    })),
  );

const seen = (columns: SampleColumns) =>
  [...columns.event].map((event, i) => [
    Number(columns.at_ns[i]) / 1e9,
    sampleEvents[event],
    columns.booked_energy_j[i],
    columns.booked_hi_j[i],
  ]);

describe('the clock of another host', () => {
  property.prop([
    fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
    fc.array(fc.tuple(fc.integer({ min: 1, max: 10 ** 8 }), fc.integer({ min: 1, max: 10 ** 8 })), {
      minLength: 1,
      maxLength: 10,
    }),
  ])('is known to within the error that is stated', async (offset, delays) => {
    let now = 10n ** 15n;
    const ours = { now: () => instant(now) };
    const script = delays.values();
    const ping = async () => {
      const [there, back] = script.next().value ?? [1, 1];
      now += BigInt(there);
      const theirs = now - offset;
      now += BigInt(back);
      return theirs;
    };
    const found = await clockOffset(ping, ours, delays.length);
    expect(Math.abs(Number(found.offset_ns - offset))).toBeLessThanOrEqual(found.error_ns + 1);
    expect(found.error_ns).toBeCloseTo(Math.max(Math.min(...delays.map(([a, b]) => a + b)) / 2, 1), 6);
  });

  test('an old offset is kept until a new one is better than it has become', () => {
    const old = { offset_ns: 5n, error_ns: 1000 };
    expect(betterOffset(old, 1e6, { offset_ns: 9n, error_ns: 1100 })).toEqual({
      offset_ns: 5n,
      error_ns: 1050,
    });
    expect(betterOffset(old, 1e9, { offset_ns: 9n, error_ns: 1100 })).toEqual({
      offset_ns: 9n,
      error_ns: 1100,
    });
  });

  test('a ping that fails rejects', async () =>
    expect(clockOffset(() => Promise.reject(new Error('gone')), tickingClock(1n))).rejects.toThrow('gone'));
});

describe('sessions put one after the other', () => {
  test('stamps move onto our clock, energy goes on across sessions, and the time between is a gap of nothing', () => {
    const heard = relay([{ max_power_w: 100 }]);
    heard.begin([0]);
    heard.take(
      columnsOf([
        [1, 0, 'first'],
        [2, 50],
        [3, 100],
      ]),
      10_000_000_000n,
    );
    heard.begin([0]);
    heard.take(
      columnsOf([
        [1, 0, 'first'],
        [2, 7],
      ]),
      20_000_000_000n,
    );
    expect(seen(heard.drain())).toEqual([
      [11, 'first', 0, 0],
      [12, 'ok', 50, 50],
      [13, 'ok', 100, 100],
      [21, 'gap', 100, 900],
      [22, 'ok', 107, 907],
    ]);
    expect(heard.gaps()).toEqual([{ start_ns: 13_000_000_000n, end_ns: 21_000_000_000n, length_ns: 8e9 }]);
    expect(heard.drain().at_ns).toHaveLength(0);
  });

  test('what is missing ends no gap', () => {
    const heard = relay([{ max_power_w: 1 }]);
    heard.begin([0]);
    heard.take(
      columnsOf([
        [1, 0, 'first'],
        [2, 5],
      ]),
      0n,
    );
    heard.begin([0]);
    heard.take(
      columnsOf([
        [5, 0, 'missing'],
        [8, 0, 'first'],
        [9, 1],
      ]),
      0n,
    );
    expect(seen(heard.drain()).map(([, event]) => event)).toEqual(['first', 'ok', 'missing', 'gap', 'ok']);
    expect(heard.gaps().map(({ length_ns }) => length_ns)).toEqual([6e9]);
  });

  test('a stamp that goes back is dropped as such, and a sum that falls is not followed', () => {
    const heard = relay([{ max_power_w: 1 }]);
    heard.begin([0]);
    heard.take(
      columnsOf([
        [1, 0, 'first'],
        [2, 5],
        [2, 6],
        [3, 4],
      ]),
      0n,
    );
    expect(seen(heard.drain()).map(([, event, energy]) => [event, energy])).toEqual([
      ['first', 0],
      ['ok', 5],
      ['clock', 5],
      ['ok', 5],
    ]);
  });

  test('domains are found by name: one that is new is left out, one that is gone is simply silent', () => {
    const heard = relay([{ max_power_w: 1 }, { max_power_w: 1 }]);
    heard.begin([1, -1]);
    heard.take(
      sampleColumns([
        { at_ns: 1n, domain: 0, booked_energy_j: 0 },
        { at_ns: 1n, domain: 1, booked_energy_j: 0 },
      ]),
      0n,
    );
    expect([...heard.drain().domain]).toEqual([1]);
  });

  property.prop([
    fc.array(
      fc.array(
        fc.tuple(
          fc.integer({ min: -5, max: 1000 }),
          fc.integer({ min: 0, max: 100 }),
          fc.integer({ min: 0, max: 11 }),
        ),
      ),
      { maxLength: 6 },
    ),
  ])('whatever comes: stamps that count advance, sums never fall, bounds hold', (sessions) => {
    const heard = relay([{ max_power_w: 50 }]);
    for (const rows of sessions) {
      heard.begin([0]);
      heard.take(columnsOf(rows.map(([at, energy, event]) => [at, energy, sampleEvents[event]!])), 0n);
    }
    const columns = heard.drain();
    let [last, energy] = [null as bigint | null, 0];
    for (const [i, at] of columns.at_ns.entries()) {
      expect(columns.booked_energy_j[i]).toBeGreaterThanOrEqual(energy);
      expect(columns.booked_hi_j[i]).toBeGreaterThanOrEqual(columns.booked_energy_j[i]!);
      energy = columns.booked_energy_j[i]!;
      if (columns.event[i] === sampleEvents.indexOf('clock')) continue;
      if (last !== null) expect(at).toBeGreaterThan(last);
      last = at;
    }
  });
});

describe('bytes of an agent', () => {
  const one = { domains: 1, channels: 1 };
  const line = samplesLine(
    columnsOf([
      [1, 0, 'first'],
      [2, 5.5],
    ]),
  );
  test('columns survive the wire', () => {
    const parsed = parseAgentLine(line, one);
    expect(parsed).toEqual({
      kind: 'samples',
      columns: columnsOf([
        [1, 0, 'first'],
        [2, 5.5],
      ]),
    });
    expect(parsePong(pong(-5n))).toBe(-5n);
  });

  const cut = JSON.parse(line) as Record<string, unknown>;
  // biome-ignore format: a table is read in columns
  test.each<[Record<string, unknown>, string]>([
    [{ at_ns: ['1'] },                          'one stamp for two samples'],
    [{ at_ns: ['1', '1e3'] },                   'a stamp that is no whole number'],
    [{ at_ns: ['1', '9223372036854775808'] },   'a stamp beyond 64 bits'],
    [{ at_ns: [1, 2] },                         'stamps that lost their last digits'],
    [{ domain: [0, 1] },                        'a domain that isn’t there'],
    [{ domain: [0, 0.5] },                      'half a domain'],
    [{ event: [0, 99] },                        'an unknown event'],
    [{ booked_energy_j: [0, null] },            'NaN, as JSON writes it'],
    [{ booked_energy_j: [0, -1] },              'negative energy'],
    [{ raw_valid: [0, 2] },                     'a flag that is none'],
    [{ power_w: undefined },                    'a column that is missing'],
    [{ kind: 'other' },                         'an unknown kind'],
  ])('%j is refused: %s', (change) =>
    expect(() => parseAgentLine(JSON.stringify({ ...cut, ...change }), one)).toThrowError(expect.objectContaining({ code: 'POWER_MALFORMED' })));

  const reading = {
    at_ns: BigInt64Array.of(5n),
    channel: Uint16Array.of(0),
    value: Float64Array.of(3),
    value_valid: Uint8Array.of(1),
    text: ['sw_power_cap hw_slowdown'],
    missing_reason: [null],
  };
  test('channel readings and a status survive the wire', () => {
    expect(parseAgentLine(channelsLine(reading), one)).toEqual({ kind: 'channels', columns: reading });
    const status = {
      reads: 3,
      missed_deadlines: 1,
      read_ns: 9,
      dropped: 2,
      flags: ['suspended'],
      observed: [],
      missing_reason: 'lost',
    };
    const line = statusLine({ ...status, state: 'running', reason: null });
    expect(parseAgentLine(line, one)).toEqual({ kind: 'status', status });
  });

  // biome-ignore format: a table is read in columns
  test.each<[Record<string, unknown>, string]>([
    [{ channel: [1] },             'a channel that isn’t there'],
    [{ value: [null] },            'NaN, as JSON writes it'],
    [{ text: [7] },                'a text that is none'],
    [{ at_ns: ['1', '2'] },        'two stamps for one reading'],
  ])('channels with %j are refused: %s', (change) =>
    expect(() => parseAgentLine(JSON.stringify({ ...JSON.parse(channelsLine(reading)), ...change }), one)).toThrowError(expect.objectContaining({ code: 'POWER_MALFORMED' })));

  // biome-ignore format: a table is read in columns
  test.each<[Record<string, unknown>, string]>([
    [{ reads: -1 },                            'fewer readings than none'],
    [{ flags: 'suspended' },                   'flags that are no list'],
    [{ observed: [{ domain: 'd', samples: 1, reason: 'tired' }] }, 'a reason that is none'],
  ])('a status with %j is refused: %s', (change) =>
    expect(() => parseAgentLine(JSON.stringify({ kind: 'status', reads: 1, missed_deadlines: 0, read_ns: 0, ...change }), one)).toThrowError(expect.objectContaining({ code: 'POWER_MALFORMED' })));

  test.each([
    '',
    'null',
    '[]',
    '{',
    '{"agent_version":999}',
    '{"agent_version":1,"hostname":"h","sources":{}}',
  ])('%j is no agent', (body) =>
    expect(() => parseFacts(body)).toThrowError(expect.objectContaining({ code: 'POWER_MALFORMED' })),
  );

  test('sources without domains or with a name that is a path are refused', () => {
    const facts = (source: object) =>
      JSON.stringify({ agent_version: AGENT_VERSION, hostname: 'h', boot_id: null, sources: [source] });
    const domain = { ...testDomain({ id: 'd' }), sensing_share_ratio: 0.25 };
    const good = { name: 's', default_period_ns: 1, domains: [domain], raw_units: ['uJ'], channels: [] };
    expect(parseFacts(facts(good)).sources[0]?.domains[0]).toEqual({ ...domain, source: 's' });
    for (const bad of [
      { ...good, name: '../x' },
      { ...good, domains: [] },
      { ...good, domains: [domain, domain] },
      { ...good, domains: [{ ...domain, scope: 'x' }] },
      { ...good, default_period_ns: 0 },
    ]) {
      expect(() => parseFacts(facts(bad))).toThrowError(expect.objectContaining({ code: 'POWER_MALFORMED' }));
    }
  });
});

const steadySource = () =>
  steadyPowerSource({ clock, domains: [testDomain({ id: 'd', source: 'steady' })], watts: () => 10 });

async function agentOf(sources = [steadySource()], port = 0) {
  const served = await serveAgent({
    host: '127.0.0.1',
    port,
    token,
    sources,
    hostname: 'far',
    bootId: 'boot',
    facts: { cpu: 'x' },
    clock,
  });
  onTestFinished(() => served.close());
  return served;
}

/** A steady source whose recorder has something to say and something to show beside power. */
const talkingSource = (flags: readonly string[]): PowerSource => {
  const steady = steadySource();
  return {
    ...steady,
    start(options) {
      const recorder = steady.start(options);
      let told = false;
      return {
        ...recorder,
        channels: [{ device: 'd', channel: 'temp_c', unit: '°C' }],
        drainChannels() {
          const n = told ? 0 : 1;
          told = true;
          return {
            at_ns: new BigInt64Array(n).fill(process.hrtime.bigint()),
            channel: new Uint16Array(n),
            value: new Float64Array(n).fill(64),
            value_valid: new Uint8Array(n).fill(1),
            text: Array.from({ length: n }, () => null),
            missing_reason: Array.from({ length: n }, () => null),
          };
        },
        status: () => ({
          ...recorder.status(),
          flags,
          observed: [{ domain: 'd', update_period_ns: 5e7, reason: null, quantum: 0.5, samples: 9 }],
          dropped: 4,
        }),
      };
    },
  };
};

describe('what an agent’s recorders say', () => {
  test('flags, what was observed and channels come with the samples, of our domains, on our clock', async () => {
    const { url } = await agentOf([talkingSource(['stale:d', 'suspended'])]);
    const opened = await openAgent({ id: 'gpu', url, token }, clock);
    const recorder = opened.sources[0]!.start({ period_ns: 20_000_000 });
    onTestFinished(() => recorder.stop());
    expect(recorder.channels).toEqual([{ device: 'gpu/d', channel: 'temp_c', unit: '°C' }]);
    await vi.waitFor(() => expect(recorder.status().flags).toEqual(['stale:gpu/d', 'suspended']), 10_000);
    expect(recorder.status()).toMatchObject({
      dropped: 4,
      missing_reason: null,
      observed: [
        { domain: 'gpu/d', update_period_ns: 5e7 + opened.clock_offset.error_ns, quantum: 0.5, samples: 9 },
      ],
    });
    const rows = channelRows(recorder.drainChannels!(), recorder.channels!);
    expect(rows).toMatchObject([{ device: 'gpu/d', channel: 'temp_c', value: 64, missing_reason: null }]);
    expect(Math.abs(Number(process.hrtime.bigint() - rows[0]!.at_ns))).toBeLessThan(60e9);
  });

  test('an agent that is started anew counts on, and its flags of before stay', () => {
    const theirs = remoteStatus({ named: (id) => `gpu/${id}`, clock_error_ns: 0 });
    const said = { reads: 5, missed_deadlines: 1, read_ns: 7, dropped: 2, observed: [] };
    theirs.begin();
    theirs.take({ ...said, flags: ['stale:d'] });
    theirs.take({ ...said, reads: 6, flags: ['clock_step'] });
    expect(theirs.status()).toMatchObject({ reads: 6, flags: ['clock_step'] });
    theirs.begin();
    theirs.take({ ...said, flags: ['cross-check:d'] });
    expect(theirs.status()).toMatchObject({
      reads: 11,
      missed_deadlines: 2,
      dropped: 4,
      flags: ['clock_step', 'cross-check:gpu/d'],
    });
  });

  test('a channel that a later session names in another order is found; a new one is left out', () => {
    const beside = channelRelay([{ device: 'd', channel: 'a', unit: '1' }]);
    beside.begin([
      { device: 'd', channel: 'b', unit: '1' },
      { device: 'd', channel: 'a', unit: '1' },
    ]);
    beside.take(
      {
        at_ns: BigInt64Array.of(1n, 2n),
        channel: Uint16Array.of(0, 1),
        value: Float64Array.of(7, 8),
        value_valid: Uint8Array.of(1, 1),
        text: [null, null],
        missing_reason: [null, null],
      },
      10n,
    );
    const { at_ns, channel, value } = beside.drain();
    expect([[...at_ns], [...channel], [...value]]).toEqual([[12n], [0], [8]]);
    expect(beside.drain().at_ns).toHaveLength(0);
  });
});

describe('an agent and who listens to it', () => {
  test('a remote source is one like any other, its clock’s error in the bounds', async () => {
    const { url } = await agentOf();
    const opened = await openAgent({ id: 'gpu', url, token }, clock);
    expect(opened.facts).toMatchObject({ hostname: 'far', boot_id: 'boot', facts: { cpu: 'x' } });
    const { offset_ns, error_ns } = opened.clock_offset;
    expect(Math.abs(Number(offset_ns))).toBeLessThanOrEqual(error_ns);
    const [source] = opened.sources;
    const local = steadySource().start();
    const recorder = source!.start({ period_ns: 20_000_000 });
    onTestFinished(() => recorder.stop());
    expect(recorder.domains[0]).toMatchObject({
      id: `gpu/${local.domains[0]!.id}`,
      source: source!.name,
      update_period_ns: local.domains[0]!.update_period_ns + error_ns,
      note: expect.stringContaining('on far, through an agent; clock offset known to ±'),
    });
    const got: unknown[][] = [];
    await vi.waitFor(
      () => {
        got.push(...seen(recorder.drain()));
        expect(got.length).toBeGreaterThan(2);
      },
      { timeout: 10_000 },
    );
    expect(got[0]).toEqual([expect.any(Number), 'first', 0, 0]);
    expect(recorder.status()).toMatchObject({ state: 'running', missing_reason: null });
    expect(recorder.gaps()).toEqual([]);
    recorder.stop();
    recorder.stop();
    expect(recorder.status().state).toBe('stopped');
  });

  // biome-ignore format: a table is read in columns
  test.each<[{ token?: string; sources?: string[] }, string, RegExp, string]>([
    [{ token: 'wrong' },           'POWER_NO_SOURCE',  /answered 401/,           'the wrong token'],
    [{ token: '' },                'POWER_NO_SOURCE',  /answered 401/,           'no token'],
    [{ sources: ['nvml'] },        'INPUT_INVALID',    /has no source "nvml"/,   'a source it doesn’t have'],
  ])('%j fails with %s: %s %s', async (extra, code, message) => {
    const { url } = await agentOf();
    await expect(openAgent({ id: 'gpu', url, token, ...extra }, clock)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('nothing is served without the token, nor to anything but GET', async () => {
    const { url } = await agentOf();
    for (const path of ['/v1/ping', '/v1/facts', '/v1/samples?source=steady', '/'])
      expect((await fetch(url + path)).status).toBe(401);
    const headers = { authorization: `Bearer ${token}` };
    // biome-ignore format: a table is read in columns
    const cases = [['/nothing', 'GET', 404], ['/v1/samples?source=none', 'GET', 404], ['/v1/ping', 'POST', 405]] as const;
    for (const [path, method, status] of cases)
      expect((await fetch(url + path, { method, headers })).status).toBe(status);
    const { sources } = (await (await fetch(`${url}/v1/facts`, { headers })).json()) as {
      sources: { name: string }[];
    };
    const bad = await fetch(`${url}/v1/samples?source=${sources[0]!.name}&period_ns=0`, { headers });
    expect([bad.status, await bad.json()]).toEqual([400, { error: expect.stringContaining('period') }]);
  });

  test('what is no agent is said to be none', async () => {
    const server = createServer((_, response) => response.end('<html>'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(openAgent({ id: 'x', url, token }, clock)).rejects.toMatchObject({
      code: 'POWER_NO_SOURCE',
      message: expect.stringContaining('is not JSON'),
    });
  });

  test('a source that fails over there fails over here, with its reason', async () => {
    const domains = [testDomain({ id: 'd', source: 's' })];
    const readings = [[{ at_ns: 1n, booked_energy_j: 0, event: 'first' as const }]];
    const { url } = await agentOf([
      scriptedPowerSource({ name: 's', domains, readings, failure: 'fell off the bus' }),
    ]);
    const { sources } = await openAgent({ id: 'gpu', url, token }, clock);
    const recorder = sources[0]!.start();
    onTestFinished(() => recorder.stop());
    await vi.waitFor(
      () => expect(recorder.status()).toMatchObject({ state: 'failed', reason: 'agent: fell off the bus' }),
      { timeout: 5000 },
    );
  });

  test('a port that is taken is refused', async () => {
    const { url } = await agentOf();
    const port = Number(new URL(url).port);
    await expect(agentOf(undefined, port)).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('EADDRINUSE'),
    });
  });
});
