import type { RecorderStatus } from './power.js';

/** A flag of a recorder in plain words. */
export interface PowerFlag {
  /** What kind of thing it is: `power_stale`, `power_cross_check` … */
  readonly code: string;
  /** The domain it is about; null when it is about the whole source. */
  readonly domain: string | null;
  /** What is the matter, without saying of which source. */
  readonly text: string;
  /** What would mend it; null when nothing would. */
  readonly fix: string | null;
}

interface Meaning extends Omit<PowerFlag, 'domain' | 'text'> {
  /** @param of the domain, or what stands after the colon */
  readonly text: (of: string) => string;
}

const wholeSource: Readonly<Record<string, Meaning>> = {
  'psys<package': {
    code: 'power_psys_low',
    text: () => 'the platform counter fell below the packages inside it and is no longer believed',
    fix: 'Leave the platform counter out, or compare it with a wall meter.',
  },
  suspended: {
    code: 'power_suspended',
    text: () => 'the machine slept while power was read',
    fix: 'Keep it awake and measure again.',
  },
  clock_step: {
    code: 'power_clock_step',
    text: () => 'the wall clock was set while power was read; stamps of other clocks may be off',
    fix: 'Let the clock settle (NTP) before you measure.',
  },
};

const byDomain: Readonly<Record<string, Meaning>> = {
  stale: {
    code: 'power_stale',
    text: (domain) => `the counter of ${domain} stood still for so long that it can't have been counting`,
    fix: 'Read the device by another source, or reload its driver.',
  },
  'stale->gauge': {
    code: 'power_stale_gauge',
    text: (domain) =>
      `the counter of ${domain} stood still at times; energy over such times is the power beside it, integrated`,
    fix: 'Read the device by another source, or reload its driver.',
  },
  'cross-check': {
    code: 'power_cross_check',
    text: (domain) => `the counter of ${domain} is more than 10 % off the power shown beside it`,
    fix: 'Compare both with an external meter: `perwatt power calibrate`.',
  },
  averaged_1s: {
    code: 'power_averaged',
    text: (domain) => `the power of ${domain} is a mean of the last second: short windows are blurred`,
    fix: 'Measure for longer, or read an energy counter where the device has one.',
  },
  dropped: {
    code: 'power_dropped',
    text: (count) => `${count} readings were dropped before anyone took them`,
    fix: 'Read less often (`power.period_ms`), or free the processor.',
  },
  failed: {
    code: 'power_failed',
    text: (reason) => `it stopped reading: ${reason}`,
    fix: 'Run `perwatt doctor --power`.',
  },
};

const aboutCounts: ReadonlySet<string> = new Set(['dropped', 'failed']);

/** What a flag of `flagsOf` means. One that isn't known here says itself, so that none is lost. */
export function explainFlag(flag: string): PowerFlag {
  const whole = wholeSource[flag];
  if (whole !== undefined) return { ...whole, domain: null, text: whole.text('') };
  const cut = flag.indexOf(':');
  const [name, rest] = cut < 0 ? [flag, ''] : [flag.slice(0, cut), flag.slice(cut + 1)];
  const meaning = byDomain[name];
  if (meaning === undefined || rest === '')
    return { code: 'power_flag', domain: rest === '' ? null : rest, text: `it reports "${flag}"`, fix: null };
  return { ...meaning, domain: aboutCounts.has(name) ? null : rest, text: meaning.text(rest) };
}

/** Every flag of a recorder: its own, and what its state and its losses amount to. */
export function flagsOf(status: RecorderStatus): string[] {
  const failed = status.state === 'failed' ? [`failed:${status.reason ?? 'no reason given'}`] : [];
  const dropped = (status.dropped ?? 0) > 0 ? [`dropped:${status.dropped}`] : [];
  return [...(status.flags ?? []), ...dropped, ...failed];
}
