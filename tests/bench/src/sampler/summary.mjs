import { bootstrapMedian, medianOf } from '../stats.mjs';

/** Most of a core that the sampler may take at its default rates, and at 1 kHz; its least lead in CPU time for a number. */
const MOST_DEFAULT = 0.002;
const MOST_FAST = 0.02;
const LEAST_LEAD = 20;
/** Memory that may come and go between two quarters of a run, beside what the idle process does. */
const SLACK_BYTES = 2 * 1024 * 1024;

/** Numbers in one reading: domains of ours, zones that Zeus reads, packages that CodeCarbon reads. */
const NUMBERS = { ours: 7, zeus: 5, codecarbon: 2 };

/** The result as lines of text, and whether every target is met: by the figures as they were measured, nothing taken off. */
export function summary(data) {
  const checks = [
    ...(data.default ? [cost('default rates', data.default, MOST_DEFAULT), memory(data.default)] : []),
    ...(data.fast ? [cost('1 kHz', data.fast, MOST_FAST), deadlines(data.fast)] : []),
    ...(data.readings ? bare(data.readings) : []),
    ...(data.pairs ? sideBySide(data) : []),
  ];
  return {
    passed: checks.every(({ met }) => met !== false),
    lines: checks.flatMap(({ lines, met }) =>
      met === undefined ? lines : [...lines, `  ${met ? 'met' : 'MISSED'}`],
    ),
  };
}

const interval = (values, text) => {
  const { median, low, high } = bootstrapMedian(values);
  return { median, low, high, text: `${text(median)} [${text(low)}, ${text(high)}]` };
};
const percent = (ratio) => `${(100 * ratio).toFixed(3)} %`;
const micros = (ns) => `${(ns / 1e3).toFixed(1)} µs`;
const times = (ratio) => `${ratio.toFixed(1)}×`;
const loads = (values) => `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;

function cost(title, { shares, wake, sources, ready, loads: load }, most) {
  const of = (key) =>
    interval(
      shares.map((share) => share[key]),
      percent,
    );
  const [process, threads] = [of('process'), of('threads')];
  const domains = ready.reduce((sum, source) => sum + source.domains, 0);
  const per_s = ready.reduce((sum, { period_ns }) => sum + 1e9 / period_ns, 0);
  const each = sources.map(({ source, reads, read_ns }) => `${source} ${micros(read_ns / reads)}`);
  const kept = keptShare(sources);
  return {
    lines: [
      `${title}: ${ready.length} source(s), ${domains} domains, ${per_s.toFixed(1)} readings/s; median [95 % interval] of ${shares.length} windows; load average ${loads(load)}`,
      `  the process, less an idle one beside it: ${process.text} of a core; with the ${percent(1 - kept)} of the deadlines that it skipped: ${percent(process.median / kept)}; target: at most ${percent(most)}`,
      `  for comparison, not taken off: its sampling threads ${threads.text}; a thread for each source that only wakes up as often ${interval(wake, percent).text}`,
      `  time of one reading: ${each.join(', ')}`,
    ],
    met: process.median / kept <= most,
  };
}

/** Share of the deadlines that were read at: what was skipped on a busy machine cost nothing, and is no saving. */
const keptShare = (sources) => {
  const sum = (key) => sources.reduce((total, source) => total + source[key], 0);
  return sum('reads') / (sum('reads') + sum('missed_deadlines'));
};

function memory({ memory: series }) {
  const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(2)} MiB`;
  const quarter = (k, q) =>
    medianOf(
      series
        .slice(Math.floor((q * series.length) / 4), Math.floor(((q + 1) * series.length) / 4))
        .map((pair) => pair[k]),
    );
  const [grown, idle] = [0, 1].map((k) => quarter(k, 3) - quarter(k, 1));
  return {
    lines: [
      `memory over ${series.length} s: ${mib(quarter(0, 3))} in the last quarter, ${mib(grown)} more than in the second; the idle process: ${mib(idle)} more`,
      `  target: no growth (at most ${mib(SLACK_BYTES)} between quarters)`,
    ],
    met: grown - Math.max(0, idle) <= SLACK_BYTES,
  };
}

function deadlines({ sources: [{ lateness, reads, missed_deadlines }] }) {
  const { p50_ns, p99_ns, max_ns } = lateness;
  return {
    lines: [
      `deadlines at 1 kHz: late by p50 ${micros(p50_ns)}, p99 ${micros(p99_ns)}, max ${micros(max_ns)}; ${reads} readings, ${missed_deadlines} deadlines skipped`,
    ],
  };
}

/** One complete reading of everything that each sampler reads, and a number of it. */
function bare(readings) {
  const row = (name) =>
    `  ${name}: ${interval(readings[name], micros).text}, ${NUMBERS[name]} numbers, ${micros(medianOf(readings[name]) / NUMBERS[name])} each`;
  const ours = medianOf(readings.ours);
  const checks = Object.keys(readings)
    .filter((name) => name !== 'ours')
    .map((name) => {
      const whole = interval(
        readings[name].map((ns) => ns / ours),
        times,
      );
      const number = interval(
        readings[name].map((ns) => ns / NUMBERS[name] / (ours / NUMBERS.ours)),
        times,
      );
      return {
        lines: [
          row(name),
          `  CPU time, ${name} over ours: a complete reading ${whole.text}, a number ${number.text}; target: a number at least ${LEAST_LEAD}×`,
        ],
        met: number.median >= LEAST_LEAD,
      };
    });
  return [{ lines: ['readings back to back, without timers', row('ours')] }, ...checks];
}

/** Samplers as they are used: the energy of every second, with all their timers, threads, helper processes and wake-ups. */
function sideBySide({ pairs, peers }) {
  return Object.keys(peers).flatMap((name) => {
    const rows = pairs.filter((pair) => pair.name === name);
    if (rows.length === 0) return [];
    return [atOneHertz(name, rows, peers), exactness(rows)];
  });
}

function atOneHertz(name, rows, peers) {
  const second = (whose) =>
    interval(
      rows.map((row) => row[whose].cpu_per_period_ns),
      micros,
    ).text;
  const number = (row, whose) =>
    row[whose].cpu_ns / (row[whose].readings * NUMBERS[whose === 'ours' ? 'ours' : name]);
  const whole = interval(
    rows.map(({ theirs, ours }) => theirs.cpu_per_period_ns / ours.cpu_per_period_ns),
    times,
  );
  const each = interval(
    rows.map((row) => number(row, 'theirs') / number(row, 'ours')),
    times,
  );
  const caller = rows.map(({ theirs }) => theirs.caller_ns).filter((ns) => ns !== undefined);
  return {
    lines: [
      `${name} ${peers[name]} beside ours, the energy of every second, ${rows.length} rounds; load average ${loads(rows.map(({ load }) => load))}`,
      `  CPU time of a second: ${second('theirs')} (${Math.round(rows[0].theirs.readings / rows[0].theirs.window_s)} readings of ${NUMBERS[name]} numbers), ours ${second('ours')} (1 reading of ${NUMBERS.ours})`,
      ...(caller.length > 0
        ? [
            `  for comparison, not taken off: of it, its caller's wake-ups ${micros(medianOf(caller) / rows[0].theirs.window_s)}`,
          ]
        : []),
      `  CPU time, over ours: a second ${whole.text}, a number ${each.text}; target: a number at least ${LEAST_LEAD}×`,
    ],
    met: each.median >= LEAST_LEAD,
  };
}

/** Counters lag behind the truth by up to a renewal at either end of a window: a smaller difference is none. */
function exactness(rows) {
  const shown = (whose) => {
    const errors = rows.map((row) => Math.abs(row[whose].error));
    const found = interval(errors, percent);
    return { ...found, text: `${found.text}, greatest ${percent(Math.max(...errors))}` };
  };
  const [theirs, ours] = [shown('theirs'), shown('ours')];
  const finest = medianOf(rows.map((row) => (2 * row.ours.renewals_p50_ms) / (row.ours.window_s * 1e3)));
  const late = Math.max(...rows.flatMap((row) => [row.theirs.renewals_p99_ms, row.ours.renewals_p99_ms]));
  const held = rows.filter((row) => row.ours.held).length;
  return {
    lines: [
      `  energy of the packages, off the truth by: ${theirs.text}; ours ${ours.text}; our bounds held in ${held} of ${rows.length}`,
      `  target: ours at least as small, within the counters' own resolution (two renewals a window: ${percent(finest)}; renewals up to ${late.toFixed(1)} ms apart, p99)`,
    ],
    met: ours.median <= theirs.median + finest,
  };
}
