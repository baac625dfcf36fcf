import { Arrivals, PerwattError } from '@perwatt/core';
import { parseDuration } from './duration.js';

/** Ways in which the calls of a replay can arrive. */
export const shapes = [
  'trace',
  'constant',
  'poisson',
  'gamma',
  'ramp',
  'server',
  'offline',
  'closed',
  'single-stream',
] as const;

/** Flags that say when calls are due. */
export interface ArrivalFlags {
  readonly shape?: (typeof shapes)[number];
  readonly speed?: number;
  readonly from?: string;
  readonly to?: string;
  readonly rate?: number;
  readonly smoothness?: number;
  readonly rampFrom?: number;
  readonly ramp?: string;
  readonly concurrency?: number;
}

type Shape = (typeof shapes)[number];

/** Flags that a shape makes something of, besides the cap. */
const used: Readonly<Record<Shape, readonly (keyof ArrivalFlags)[]>> = {
  trace: ['speed', 'from', 'to'],
  constant: ['rate'],
  poisson: ['rate'],
  gamma: ['rate', 'smoothness'],
  ramp: ['rate', 'rampFrom', 'ramp', 'smoothness'],
  server: ['rate'],
  offline: [],
  closed: ['ramp'],
  'single-stream': [],
};

const seconds = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text) / 1000);

/** When the calls are due; null for a closed loop. Throws `USAGE` for flags that do not go together. */
export function arrivalsOf(flags: ArrivalFlags, path: string): Arrivals | null {
  const shape = flags.shape ?? (flags.rate === undefined ? 'trace' : 'poisson');
  checkFlags(shape, flags);
  if (shape === 'closed' || shape === 'single-stream') return null;
  return Arrivals.parse({ kind: shape, ...settingsOf(shape, flags, path) });
}

/** What `Arrivals` takes for a shape; undefined where its default holds. */
function settingsOf(shape: Shape, flags: ArrivalFlags, path: string): Readonly<Record<string, unknown>> {
  const { speed, from, to, smoothness, rampFrom, ramp } = flags;
  switch (shape) {
    case 'trace':
      return { path, speed, from_s: seconds(from), to_s: seconds(to) };
    case 'ramp':
      return {
        from_per_s: rampFrom ?? 0,
        to_per_s: rateOf(shape, flags),
        duration_s: seconds(ramp ?? missing(shape, '--ramp')),
        smoothness,
        process: smoothness === undefined ? 'poisson' : 'gamma',
      };
    case 'gamma':
      return { rate_per_s: rateOf(shape, flags), smoothness: smoothness ?? missing(shape, '--smoothness') };
    case 'offline':
      return {};
    default:
      return { rate_per_s: rateOf(shape, flags) };
  }
}

const rateOf = (shape: Shape, { rate }: ArrivalFlags): number => rate ?? missing(shape, '--rate');

function missing(shape: Shape, flag: string): never {
  throw new PerwattError('USAGE', `--shape ${shape} needs ${flag}`);
}

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function checkFlags(shape: Shape, flags: ArrivalFlags): void {
  const all = ['speed', 'from', 'to', 'rate', 'smoothness', 'rampFrom', 'ramp'] as const;
  const wrong = all.find((name) => flags[name] !== undefined && !used[shape].includes(name));
  if (wrong !== undefined)
    throw new PerwattError('USAGE', `${flagOf(wrong)} means nothing with --shape ${shape}`);
  if (shape === 'single-stream' && (flags.concurrency ?? 1) !== 1)
    throw new PerwattError('USAGE', `--shape single-stream has one call in flight, not ${flags.concurrency}`);
}
