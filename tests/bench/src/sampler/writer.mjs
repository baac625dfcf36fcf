// The made-up hardware: renews counters every millisecond, and what is slower ten times a second, until it is told to end.
// Prints how far apart its renewals came.
import { openSync, readFileSync, writeSync } from 'node:fs';
import { counterText } from './tree.mjs';

const PERIOD_NS = 1_000_000n;
const SLOW_NS = 100_000_000n;

const { t0, until, fast, slow } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const [t0_ns, until_ns] = [BigInt(t0), BigInt(until)];
const opened = (counters) => counters.map((counter) => ({ ...counter, fd: openSync(counter.file, 'r+') }));
const [fastFiles, slowFiles] = [opened(fast), opened(slow)];
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const gaps_ms = [];

const renew = (files, at_ns) => {
  for (const file of files) writeSync(file.fd, counterText(file, { t0_ns, at_ns }), 0);
};

let [next, nextSlow, before] = [process.hrtime.bigint(), 0n, process.hrtime.bigint()];
for (let now = before; now < until_ns; now = process.hrtime.bigint()) {
  if (now < next) {
    Atomics.wait(sleeper, 0, 0, Number(next - now) / 1e6);
    continue;
  }
  renew(fastFiles, now);
  gaps_ms.push(Number(now - before) / 1e6);
  before = now;
  next += PERIOD_NS * ((now - next) / PERIOD_NS + 1n);
  if (now >= nextSlow) {
    renew(slowFiles, now);
    nextSlow = now + SLOW_NS;
  }
}
gaps_ms.sort((a, b) => a - b);
const at = (share) => gaps_ms[Math.min(gaps_ms.length - 1, Math.floor(share * gaps_ms.length))] ?? null;
console.log(JSON.stringify({ renewals: gaps_ms.length, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(1) }));
