// Our sampler in a process of its own. Says `ready` with what it reads, waits for a line on its standard input, and prints what became of it.
import { createInterface } from 'node:readline';
import { measure, nowNs, powerSources } from '@perwatt/native-power';
import { cpuTime } from './usage.mjs';

const { mode, names, period_ns, libraries, begin, seconds } = JSON.parse(process.argv[2]);
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const sources = () =>
  names.map((name) => {
    const found = powerSources({ root: '/', libraries }).find((source) => source.name === name);
    if (found === undefined) throw new Error(`no source is called ${name}`);
    return found;
  });
const start = (source) => source.start(period_ns === undefined ? {} : { period_ns });
const asked = () => new Promise((resolve) => createInterface({ input: process.stdin }).once('line', resolve));

const modes = {
  /** Nothing but the timer that the other modes drain by: what the process itself costs. */
  async idle() {
    const timer = setInterval(() => {}, 1000);
    say({ ready: [] });
    await asked();
    clearInterval(timer);
    say({});
  },

  /** Reads, and drains once a second, as a recording does. */
  async read() {
    const recorders = sources().map(start);
    const drain = () => {
      for (const recorder of recorders) {
        recorder.drain();
        recorder.drainChannels?.();
      }
    };
    const timer = setInterval(drain, 1000);
    say({
      ready: recorders.map(({ source, domains, period_ns }) => ({
        source,
        domains: domains.length,
        period_ns,
      })),
    });
    await asked();
    clearInterval(timer);
    drain();
    const statuses = recorders.map((recorder) => recorder.status());
    for (const recorder of recorders) recorder.stop();
    say(recorders.map(({ source }, r) => ({ source, ...statuses[r] })));
  },

  /**
   * The energy of a stated time, through `measure`. The CPU time is that of the sampler's threads: between its ends nothing else of
   * ours runs, but the engine collects its garbage at some time after a start, whether or not anything is measured.
   */
  async measure() {
    const wait = (until_ns) =>
      new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(until_ns - nowNs()) / 1e6)));
    let [from, to] = [0n, 0n];
    let cpu_ns = 0;
    await wait(BigInt(begin));
    const { domains } = await measure(
      async () => {
        from = nowNs();
        const before = cpuTime(process.pid).threads_ns;
        await wait(from + BigInt(seconds) * 1_000_000_000n);
        cpu_ns = cpuTime(process.pid).threads_ns - before;
        to = nowNs();
      },
      { sources: sources(), period_ns },
    );
    const packages = domains.filter(({ domain }) => domain.scope === 'package');
    const sum = (key) => packages.reduce((total, part) => total + part[key], 0);
    say({
      begin: String(from),
      end: String(to),
      cpu_ns,
      readings: Math.floor(Number(to - from) / period_ns),
      energy_j: sum('energy_j'),
      lo_j: sum('lo_j'),
      hi_j: sum('hi_j'),
    });
  },

  /** Readings back to back, without a timer: what one costs by itself. */
  async readings() {
    const [recorder] = sources().map((source) => source.start({ period_ns: 3.6e12 }));
    const batch = (count) => {
      const before = process.cpuUsage();
      for (let i = 0; i < count; i += 1) recorder.mark();
      const { user, system } = process.cpuUsage(before);
      recorder.drain();
      return ((user + system) * 1000) / count;
    };
    batch(2000);
    say({ cpu_ns: Array.from({ length: 9 }, () => batch(2000)) });
    recorder.stop();
  },
};

await modes[mode]();
