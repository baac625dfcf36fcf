import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Recorder, sampleEvents } from '@perwatt/core';
import {
  type FakePage,
  fakeMeterPage,
  fakePtdaemon,
  prometheusVector,
  redfishMetrics,
  shellyStatus,
} from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { loaded } from '../binding.js';
import { clock } from '../clock.js';
import { dcmiMeter } from './dcmi.js';
import { httpJsonMeter } from './http-json.js';
import type { MeterSource, MeterWorld } from './meter.js';
import { prometheusMeter } from './prometheus.js';
import { ptdaemonMeter } from './ptdaemon.js';
import { rowFollower, tailMeter } from './tail.js';

const world: MeterWorld = { clock, wallNs: () => BigInt(Date.now()) * 1_000_000n };
const quick = { id: 'wall', period_ms: 10, update_ms: 10, timeout_ms: 2000 };

/** Starts a meter and gathers what it reads, by event. */
function gather<T extends Recorder>(source: { start(): T }) {
  const recorder = source.start();
  onTestFinished(() => recorder.stop());
  const events: string[] = [];
  const powers: number[] = [];
  const stamps: bigint[] = [];
  let booked_j = 0;
  const collect = () => {
    const columns = recorder.drain();
    for (const [i, event] of columns.event.entries()) {
      if (columns.domain[i] !== 0) continue;
      events.push(sampleEvents[event] ?? '');
      stamps.push(columns.at_ns[i] ?? 0n);
      if (columns.power_valid[i] === 1) powers.push(columns.power_w[i] ?? 0);
      booked_j = columns.booked_energy_j[i] ?? 0;
    }
    return { events, powers, stamps, booked_j };
  };
  return {
    recorder,
    collect,
    until: (check: (seen: ReturnType<typeof collect>) => void) =>
      vi.waitFor(() => check(collect()), { timeout: 10_000, interval: 5 }),
  };
}

async function served(page: () => FakePage) {
  const meter = await fakeMeterPage(page);
  onTestFinished(() => meter.close());
  return meter;
}

describe.skipIf(loaded.binding === null)('meters over HTTP', () => {
  test('a plug: power is integrated, and says where it comes from', async () => {
    const page = await served(() => shellyStatus(50));
    const source = httpJsonMeter(
      {
        ...quick,
        url: `${page.url}/rpc/Switch.GetStatus?id=0`,
        pointer: '/apower',
        unit: 'W',
        accuracy: 0.01,
        quantum: 0.1,
        clock_error_ms: 5,
      },
      world,
    );
    await source.check();
    const { recorder, until } = gather(source);
    expect(recorder.domains).toEqual([
      {
        id: 'wall:wall',
        source: 'wall',
        scope: 'wall',
        kind: 'gauge',
        provenance: 'external',
        in_total: true,
        update_period_ns: 15e6,
        quantum: 0.1,
        scale_error_ratio: 0.01,
        note: `/apower of ${page.url}/rpc/Switch.GetStatus, in W`,
      },
    ]);
    await until(({ events, powers, stamps, booked_j }) => {
      expect(events.filter((event) => event === 'ok').length).toBeGreaterThan(5);
      expect(events[0]).toBe('first');
      expect(new Set(powers)).toEqual(new Set([50]));
      const span_s = Number(stamps.at(-1)! - stamps[0]!) / 1e9;
      if (!events.includes('gap')) expect(booked_j).toBeCloseTo(50 * span_s, 6);
    });
    expect(page.requests[0]?.path).toBe('/rpc/Switch.GetStatus?id=0');
  });

  test('an energy count is differenced, not integrated', async () => {
    let wh = 10.5;
    const page = await served(() => shellyStatus(50, wh));
    const { until } = gather(
      httpJsonMeter(
        { ...quick, max_power_w: 1e6, url: page.url, pointer: '/aenergy/total', unit: 'Wh' },
        world,
      ),
    );
    await until(({ events }) => expect(events).toContain('same'));
    wh = 10.6;
    await until(({ booked_j }) => expect(booked_j).toBeCloseTo(360, 9));
  });

  test('Redfish: null is missing and says why; the Authorization header goes with it', async () => {
    const page = await served(() => redfishMetrics(null));
    const source = httpJsonMeter(
      {
        ...quick,
        scope: 'system',
        url: page.url,
        pointer: '/PowerWatts/Reading',
        unit: 'W',
        authorization: 'Basic abc',
      },
      world,
    );
    await expect(source.check()).rejects.toMatchObject({
      code: 'POWER_NO_SOURCE',
      message: 'meter wall gives no number: absent',
    });
    expect(page.requests[0]?.authorization).toBe('Basic abc');
    const { recorder, until } = gather(source);
    await until(({ events }) => expect(events.length).toBeGreaterThan(1));
    expect(recorder.status()).toMatchObject({ state: 'running', missing_reason: 'absent' });
  });

  test('an exporter and a query', async () => {
    const page = await served(() => 'node_power_watts{chip="a"} 7\nnode_power_watts{chip="b"} 8\n');
    const own = { ...quick, unit: 'W' as const };
    await until8(
      prometheusMeter(
        { ...own, url: `${page.url}/metrics`, metric: 'node_power_watts', labels: { chip: 'b' } },
        world,
      ),
    );
    const server = await served(() => prometheusVector('8'));
    await until8(
      prometheusMeter({ ...own, url: `${server.url}/prom/`, query: 'sum(node_power_watts)' }, world),
    );
    expect(server.requests[0]?.path).toBe('/prom/api/v1/query?query=sum%28node_power_watts%29');
    const both = prometheusMeter({ ...own, url: `${page.url}/metrics`, metric: 'node_power_watts' }, world);
    await expect(both.check()).rejects.toThrow('ambiguous: 2 series match');
  });

  async function until8(source: MeterSource) {
    await source.check();
    const { until } = gather(source);
    await until(({ powers }) => expect(powers).toContain(8));
  }

  // biome-ignore format: a table is read in columns
  test.each<[FakePage, RegExp, string]>([
    [{ status: 503 },                          /answered 503/,       'a server that is not well'],
    ['{"apower":',                             /parse/,              'half an answer'],
    ['silence',                                /no answer in time/,  'none at all'],
    [`{"apower":${' '.repeat(5 << 20)}1}`,     /more than/,          'an answer without an end'],
  ])('%#: the check fails with %s: %s', async (answer, message) => {
    const page = await served(() => answer);
    const source = httpJsonMeter({ ...quick, timeout_ms: 200, url: page.url, pointer: '/apower', unit: 'W' }, world);
    await expect(source.check()).rejects.toMatchObject({ code: 'POWER_NO_SOURCE', message: expect.stringMatching(message) });
  });

  test('a meter that goes and comes back leaves a gap and goes on', async () => {
    const first = await fakeMeterPage(() => shellyStatus(50));
    const port = Number(new URL(first.url).port);
    const { recorder, until } = gather(
      httpJsonMeter({ ...quick, url: first.url, pointer: '/apower', unit: 'W' }, world),
    );
    await until(({ events }) => expect(events).toContain('ok'));
    await first.close();
    await until(({ events }) =>
      expect(events.filter((event) => event === 'missing').length).toBeGreaterThan(3),
    );
    expect(recorder.status().missing_reason).toMatch(/ECONNREFUSED|ECONNRESET|socket hang up/);
    const again = await fakeMeterPage(() => shellyStatus(50), port);
    onTestFinished(() => again.close());
    await until(({ events }) => {
      expect(events).toContain('gap');
      expect(events.at(-1)).toBe('ok');
    });
  });

  test('a stop ends the asking', async () => {
    const page = await served(() => shellyStatus(1));
    const { recorder, until } = gather(
      httpJsonMeter({ ...quick, url: page.url, pointer: '/apower', unit: 'W' }, world),
    );
    await until(({ events }) => expect(events.length).toBeGreaterThan(0));
    recorder.stop();
    expect(recorder.status().state).toBe('stopped');
    const { length } = page.requests;
    await new Promise((resolve) => setImmediate(resolve));
    recorder.mark();
    await new Promise((resolve) => setImmediate(resolve));
    expect(page.requests.length).toBeLessThanOrEqual(length + 1);
  });
});

describe.skipIf(loaded.binding === null)('PTDaemon', () => {
  const meter = (port: number, extra = {}) =>
    ptdaemonMeter(
      { id: 'ptd', host: '127.0.0.1', port, interval_ms: 100, timeout_ms: 2000, ...extra },
      world,
    );
  // The daemon's clock is in a zone of its own, hours from ours.
  const wallMs = () => Date.now() + 5 * 3_600_000;

  test.each(['RL,*,*', 'RL', 'DC-RL'] as const)(
    'samples come by %s, on our clock whatever the zone',
    async (spelling) => {
      const daemon = await fakePtdaemon({
        wallMs,
        watts: () => 208.5,
        channels: [() => 200, () => 8.5],
        spelling,
        end: spelling === 'RL' ? '\n' : '\r\n',
      });
      onTestFinished(() => daemon.close());
      const source = meter(daemon.port, { channels: 2, accuracy: 0.001 });
      const before = clock.now();
      const { recorder, until } = gather(source);
      expect(recorder.domains.map(({ id, in_total, scope }) => [id, scope, in_total])).toEqual([
        ['ptd:wall', 'wall', true],
        ['ptd:ch1', 'wall', false],
        ['ptd:ch2', 'wall', false],
      ]);
      await until(({ events, powers, stamps, booked_j }) => {
        expect(events.filter((event) => event === 'ok').length).toBeGreaterThan(2);
        expect(new Set(powers)).toEqual(new Set([208.5]));
        expect(booked_j).toBeCloseTo((208.5 * Number(stamps.at(-1)! - stamps[0]!)) / 1e9, 6);
        expect(Math.abs(Number(stamps[0]! - before))).toBeLessThan(60e9);
      });
    },
  );

  test('fixed ranges are set, and given back at the end', async () => {
    const daemon = await fakePtdaemon({ wallMs, ranges: 'Ranges,0,5.0,1,-1.0' });
    onTestFinished(() => daemon.close());
    const { recorder, until } = gather(meter(daemon.port, { volts: 300, amps: 2, mark: 'cell' }));
    await until(({ events }) => expect(events).toContain('first'));
    expect(daemon.ranges()).toBe('Ranges,0,2,0,300');
    expect(daemon.commands).toContain('Go,100,0,cell');
    recorder.stop();
    await vi.waitFor(() => expect(daemon.ranges()).toBe('Ranges,0,5.0,1,-1.0'));
    expect(daemon.commands.slice(-3)).toEqual(['Stop', 'SR,V,Auto', 'SR,A,5.0']);
  });

  test('-1 is missing, never a power', async () => {
    const daemon = await fakePtdaemon({ wallMs, watts: () => -1 });
    onTestFinished(() => daemon.close());
    const { recorder, until } = gather(meter(daemon.port));
    await until(({ events }) => expect(events.length).toBeGreaterThan(2));
    expect(recorder.status().missing_reason).toBe('unavailable');
    expect(recorder.drain().booked_energy_j.every((energy) => energy === 0)).toBe(true);
  });

  test('a daemon that is cut off is called again, with the ranges of the first time', async () => {
    const daemon = await fakePtdaemon({ wallMs, ranges: 'Ranges,0,5.0,0,150' });
    onTestFinished(() => daemon.close());
    const { recorder, until } = gather(meter(daemon.port, { volts: 300 }));
    await until(({ events }) => expect(events).toContain('first'));
    daemon.cut();
    await until(({ events }) => {
      expect(events).toContain('missing');
      expect(['ok', 'gap']).toContain(events.at(-1));
    });
    recorder.stop();
    await vi.waitFor(() => expect(daemon.commands.at(-1)).toBe('SR,V,150'));
  });

  test('something else behind the port is refused', async () => {
    const daemon = await fakePtdaemon({ wallMs, hello: 'SSH-2.0' });
    onTestFinished(() => daemon.close());
    await expect(meter(daemon.port).check()).rejects.toMatchObject({
      code: 'POWER_NO_SOURCE',
      message: expect.stringContaining('SSH-2.0'),
    });
    await daemon.close();
    await expect(meter(daemon.port).check()).rejects.toThrow('ECONNREFUSED');
  });
});

describe('files that grow', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-tail-'));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  const format = { format: 'csv', time: 'ts', value: 'w', time_format: 'unix_s', unit: 'W' } as const;
  const fresh = (text: string) => {
    const path = join(mkdtempSync(join(folder, 'f-')), 'meter.csv');
    writeFileSync(path, text);
    return path;
  };

  test('old rows are skipped, the header is read, half a row waits for its end', async () => {
    const path = fresh('ts,w\n1,1\n2,2\n3,');
    const follower = rowFollower({ ...format, path });
    const times = async () => (await follower.read()).map(({ wall_ns }) => Number(wall_ns / 1_000_000_000n));
    expect(await times()).toEqual([]);
    appendFileSync(path, '3\n4,4\n5');
    expect(await times()).toEqual([3, 4]);
    appendFileSync(path, '1,5\nnonsense\n');
    expect(await times()).toEqual([51]);
    expect(follower.counts()).toEqual({ rows: 4, dropped: 1 });
    appendFileSync(path, '60,6');
    expect(await times()).toEqual([]);
    await follower.close();
    expect(follower.counts()).toEqual({ rows: 4, dropped: 2 });
  });

  test('a file that was cut or replaced is read from its beginning', async () => {
    const path = fresh('ts,w\n1,1\n');
    const follower = rowFollower({ ...format, path });
    onTestFinished(() => follower.close());
    await follower.read();
    writeFileSync(path, 'ts,w\n7,7\n');
    appendFileSync(path, '');
    writeFileSync(`${path}.new`, 'ts,w\n8,8\n9,9\n');
    renameSync(`${path}.new`, path);
    expect((await follower.read()).map(({ value }) => value)).toEqual([{ power_w: 8 }, { power_w: 9 }]);
    writeFileSync(path, 'ts,w\n5,5\n');
    expect((await follower.read()).map(({ value }) => value)).toEqual([{ power_w: 5 }]);
    await expect(rowFollower({ ...format, path: join(folder, 'none') }).read()).rejects.toThrow('ENOENT');
  });

  test.skipIf(loaded.binding === null)('rows land on our clock, their clock’s offset taken off', async () => {
    const path = fresh('ts,w\n');
    const source = tailMeter({ ...quick, ...format, path, clock_offset_ms: 3_600_000 }, world);
    await source.check();
    const { recorder, until } = gather(source);
    await vi.waitFor(() => expect(recorder.status().state).toBe('running'));
    const row = () => appendFileSync(path, `${Date.now() / 1000 + 3600},80\n`);
    await until(({ powers, stamps }) => {
      row();
      expect(powers).toContain(80);
      expect(Math.abs(Number(stamps[0]! - clock.now()))).toBeLessThan(60e9);
    });
    recorder.stop();
    await vi.waitFor(() => expect(recorder.counts().dropped).toBe(0));
  });

  test('a file that isn’t there fails the check', async () => {
    const source = tailMeter({ ...quick, ...format, path: join(folder, 'none.csv') }, world);
    await expect(source.check()).rejects.toMatchObject({ code: 'POWER_NO_SOURCE' });
    clean();
  });
});

describe.skipIf(loaded.binding === null || process.platform === 'win32')('IPMI DCMI', () => {
  const tool = (body: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'perwatt-dcmi-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, 'ipmitool');
    writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return dcmiMeter({ ...quick, id: 'bmc', command: [path, 'dcmi', 'power', 'reading'] }, world);
  };
  const prints = (watts: number, state: string) =>
    `printf '    Instantaneous power reading: %s Watts\\n    Power reading state is: %s\\n' ${watts} ${state}`;

  test('a controller that measures', async () => {
    const { recorder, until } = gather(tool(prints(216, 'activated')));
    expect(recorder.domains[0]).toMatchObject({ id: 'bmc:system', scope: 'system', quantum: 1 });
    await until(({ powers }) => expect(powers).toContain(216));
  });

  // biome-ignore format: a table is read in columns
  test.each([
    [prints(216, 'deactivated'),                         'deactivated',               'its number counts for nothing'],
    ['echo "Could not open device" >&2; exit 1',         'Could not open device',     'what the tool said'],
  ])('%s: the check says %s: %s', async (body, message) =>
    expect(tool(body).check()).rejects.toMatchObject({ code: 'POWER_NO_SOURCE', message: expect.stringContaining(message) }));
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
