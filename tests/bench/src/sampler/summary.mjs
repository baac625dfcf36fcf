import { bootstrapMedian, medianOf } from '../stats.mjs';

/** Most of a core that the sampler may take at its default rates, and at 1 kHz; its least lead in CPU time for a number. */
const MOST_DEFAULT = 0.002;
const MOST_FAST = 0.02;
const LEAST_LEAD = 20;
/** Memory that may come and go between two quarters of a run, beside what the idle process does. */
const SLACK_BYTES = 2 * 1024 * 1024;

/** Numbers in one reading: domains of ours, zones that Zeus reads, packages that CodeCarbon reads. */
const NUMBERS = { ours: 7, zeus: 5, codecarbon: 2 };

/**
 * The result as lines of text, and whether every target is met. Of shares of a core, what counts is what is left without bare
 * wake-ups, which differ most from machine to machine, and without the made-up libraries' own work.
 */
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

function cost(title, { shares, wake, sources, ready }, most) {
  const process = interval(
    shares.map((share) => share.process),
    percent,
  );
  const threads = interval(
    shares.map((share) => share.threads),
    percent,
  );
  const bareWakes = interval(wake, percent);
  const domains = ready.reduce((sum, source) => sum + source.domains, 0);
  const per_s = ready.reduce((sum, { period_ns }) => sum + 1e9 / period_ns, 0);
  const each = sources.map(({ source, reads, read_ns }) => `${source} ${micros(read_ns / reads)}`);
  const inStandIns = standIns(sources, ready);
  const net = process.median - bareWakes.median - inStandIns;
  const besides = `bare wake-ups${inStandIns > 0 ? ' and the stand-ins' : ''}`;
  return {
    lines: [
      `${title}: ${ready.length} source(s), ${domains} domains, ${per_s.toFixed(1)} readings/s; median [95 % interval] of ${shares.length} windows`,
      `  the process, less an idle one beside it: ${process.text} of a core; its sampling threads: ${threads.text}`,
      `  as many threads that wake up as often and do nothing: ${bareWakes.text}`,
      ...(inStandIns > 0
        ? [`  inside the stand-ins for the vendors' libraries: ${percent(inStandIns)}`]
        : []),
      `  time of one reading: ${each.join(', ')}`,
      `  target: at most ${percent(most)} of a core${process.median > most ? ' (missed by the whole process)' : ''}; beyond ${besides}: ${percent(net)}`,
    ],
    met: net <= most,
  };
}

/** What reading the stand-ins for the vendors' libraries takes, of a core: they read and parse a file at every call. */
const standIns = (sources, ready) =>
  sources.reduce((sum, { source, reads, read_ns }, i) => {
    const vendor = ['nvml', 'amd-smi'].includes(source);
    return sum + (vendor ? read_ns / reads / ready[i].period_ns : 0);
  }, 0);

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
  const us = (value) => `${value.toFixed(0)} µs`;
  const { p50_us, p90_us, p99_us, max_us } = lateness;
  return {
    lines: [
      `deadlines at 1 kHz: late by p50 ${us(p50_us)}, p90 ${us(p90_us)}, p99 ${us(p99_us)}, max ${us(max_us)} (the least late of the run counts as on time); ${reads} readings, ${missed_deadlines} deadlines skipped`,
    ],
  };
}

/** The lead is that of a number: one of ours reads more domains than one of theirs. */
const leads = (theirs, ours, name) => theirs / NUMBERS[name] / (ours / NUMBERS.ours);

function bare(readings) {
  const ours = medianOf(readings.ours);
  const row = (name) =>
    `  ${name}: ${interval(readings[name], micros).text}, ${NUMBERS[name]} numbers, ${micros(medianOf(readings[name]) / NUMBERS[name])} each`;
  const checks = Object.keys(readings)
    .filter((name) => name !== 'ours')
    .map((name) => {
      const lead = interval(
        readings[name].map((ns) => leads(ns, ours, name)),
        times,
      );
      return {
        lines: [
          row(name),
          `  CPU time of a number of ${name}, over ours: ${lead.text}; target: at least ${LEAST_LEAD}×`,
        ],
        met: lead.high >= LEAST_LEAD,
      };
    });
  return [{ lines: ['readings back to back, without timers', row('ours')] }, ...checks];
}

/**
 * Samplers as they are used, with all their timers, threads and helper processes. Zeus is read by its caller, whose own
 * wake-ups are left out; CodeCarbon's and ours are theirs. So only CodeCarbon is a match for the lead.
 */
function sideBySide({ pairs, peers }) {
  return Object.keys(peers).flatMap((name) => {
    const rows = pairs.filter((pair) => pair.name === name);
    if (rows.length === 0) return [];
    const reading = (whose) =>
      interval(
        rows.map((row) => row[whose].cpu_per_reading_ns),
        micros,
      ).text;
    const lead = interval(
      rows.map(({ theirs, ours }) => leads(theirs.cpu_per_reading_ns, ours.cpu_per_reading_ns, name)),
      times,
    );
    const [ours, theirs] = ['ours', 'theirs'].map((whose) => rows.map((row) => Math.abs(row[whose].error)));
    const shown = (errors) => `median ${percent(medianOf(errors))}, greatest ${percent(Math.max(...errors))}`;
    // The counters lag behind the truth by up to a renewal, at either end: smaller errors can't be told apart.
    const finest = medianOf(rows.map((row) => (2 * row.ours.renewals_p99_ms) / (row.ours.window_s * 1e3)));
    const timed = name === 'codecarbon';
    return [
      {
        lines: [
          `${name} ${peers[name]} beside ours, ${1e9 / rows[0].period_ns} readings/s each, ${rows.length} rounds`,
          `  CPU time of a reading: ${reading('theirs')} (${NUMBERS[name]} numbers), ours ${reading('ours')} (${NUMBERS.ours} numbers)`,
          `  CPU time of a number, over ours: ${lead.text}${timed ? `; target: at least ${LEAST_LEAD}×` : ''}`,
        ],
        met: timed ? lead.high >= LEAST_LEAD : undefined,
      },
      {
        lines: [
          `  energy of the packages against the truth: off by ${shown(theirs)}; ours ${shown(ours)}`,
          `  target: at least as small, as far as the counters' renewals can tell (${percent(finest)})`,
        ],
        met: medianOf(ours) <= Math.max(medianOf(theirs), finest),
      },
    ];
  });
}
