import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PowerSource } from '@perwatt/core';
import {
  fakeMeterPage,
  fakePtdaemon,
  powerSourceContract,
  shellyStatus,
  steadyPowerSource,
  testDomain,
} from '@perwatt/test-kit';
import { describe } from 'vitest';
import { openAgent } from './agent/agent-source.js';
import { serveAgent } from './agent/serve-agent.js';
import { loaded } from './binding.js';
import { clock } from './clock.js';
import { type FeedDomain, type FeedRecorder, feedRecorder } from './feed-recorder.js';
import { httpJsonMeter } from './meters/http-json.js';
import type { MeterWorld } from './meters/meter.js';
import { prometheusMeter } from './meters/prometheus.js';
import { ptdaemonMeter } from './meters/ptdaemon.js';
import { tailMeter } from './meters/tail.js';

const world: MeterWorld = { clock, wallNs: () => BigInt(Date.now()) * 1_000_000n };
const quick = { id: 'wall', period_ms: 10, update_ms: 10, timeout_ms: 2000 };

/** A source whose recorders are pushed to: at the start, and whenever `advance` is called. */
function fedSource(): { source: PowerSource; advance: () => void } {
  const shared = { source: 'feed', provenance: 'external', scope: 'wall', update_period_ns: 1e9 } as const;
  const domains: FeedDomain[] = [
    { ...testDomain({ id: 'a', ...shared }), kind: 'counter', max_power_w: 1e6 },
    { ...testDomain({ id: 'b', ...shared }), kind: 'gauge', max_power_w: 1e6 },
  ];
  const recorders: FeedRecorder[] = [];
  let uj = 5_000_000n;
  const push = (recorder: FeedRecorder) => {
    const before = clock.now();
    recorder.push({ before, after: clock.now(), values: [{ energy_uj: uj }, { power_w: 10 }] });
  };
  return {
    source: {
      name: 'feed',
      provenance: 'external',
      default_period_ns: 1e9,
      start({ period_ns = 1e9 } = {}) {
        const recorder: FeedRecorder = feedRecorder({ source: 'feed', domains, period_ns, clock });
        recorders.push(recorder);
        push(recorder);
        return recorder;
      },
    },
    advance() {
      uj += 100n;
      for (const recorder of recorders) push(recorder);
    },
  };
}

describe.skipIf(loaded.binding === null)('with the addon', () => {
  powerSourceContract('a recorder that others read for', () => ({ ...fedSource(), external: true }));

  powerSourceContract('a meter that answers JSON', async () => {
    const page = await fakeMeterPage(() => shellyStatus(50));
    return {
      source: httpJsonMeter({ ...quick, url: page.url, pointer: '/apower', unit: 'W' }, world),
      advance: () => {},
      dispose: () => page.close(),
      external: true,
    };
  });

  powerSourceContract('a metric of Prometheus', async () => {
    const page = await fakeMeterPage(() => '# TYPE node_power gauge\nnode_power 61.5\n');
    return {
      source: prometheusMeter({ ...quick, url: page.url, metric: 'node_power', unit: 'W' }, world),
      advance: () => {},
      dispose: () => page.close(),
      external: true,
    };
  });

  powerSourceContract('a power analyser', async () => {
    const daemon = await fakePtdaemon({ wallMs: () => Date.now(), channels: [() => 200, () => 8.5] });
    const { port } = daemon;
    const place = { id: 'ptd', host: '127.0.0.1', port, interval_ms: 100, timeout_ms: 2000 };
    return {
      source: ptdaemonMeter({ ...place, channels: 2 }, world),
      advance: () => {},
      dispose: () => daemon.close(),
      external: true,
      single: true,
    };
  });

  powerSourceContract('a file that grows', () => {
    const folder = mkdtempSync(join(tmpdir(), 'perwatt-tail-'));
    const path = join(folder, 'power.csv');
    writeFileSync(path, 'ts,watts\n');
    const row = () => appendFileSync(path, `${Date.now()},12.5\n`);
    const timer = setInterval(row, 5);
    return {
      source: tailMeter(
        { ...quick, path, format: 'csv', time: 'ts', time_format: 'unix_ms', value: 'watts', unit: 'W' },
        world,
      ),
      advance: () => {},
      dispose() {
        clearInterval(timer);
        rmSync(folder, { recursive: true, force: true });
      },
      external: true,
    };
  });
});

powerSourceContract('a source of another host, through an agent', async () => {
  const domains = ['a', 'b'].map((id) => testDomain({ id, source: 'steady' }));
  const steady = steadyPowerSource({ clock, domains, watts: () => 7 });
  const host = { host: '127.0.0.1', port: 0, token: 'a token', hostname: 'far', bootId: null, facts: {} };
  const agent = await serveAgent({ ...host, sources: [steady], clock });
  const { sources } = await openAgent({ id: 'far', url: agent.url, token: 'a token' }, clock);
  const [source] = sources;
  if (source === undefined) throw new Error('the agent has no source');
  return { source, advance: () => {}, dispose: () => agent.close(), external: true };
});

if (loaded.binding === null) process.stderr.write(`tests with the addon skipped: ${loaded.problem}\n`);
