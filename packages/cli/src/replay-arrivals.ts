import { Arrivals, PerwattError } from '@perwatt/core';
import { parseDuration } from './duration.js';

/** Ways in which the calls of a replay can arrive. */
export const shapes = [
  'trace',
  'constant',
  'poisson',
  'gamma',
  'ramp',
  'steps',
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
  readonly rampCurve?: 'linear' | 'exponential';
  readonly steps?: string;
  readonly concurrency?: number;
}

type Shape = (typeof shapes)[number];

/** Flags that a shape makes something of, besides the cap. */
const used: Readonly<Record<Shape, readonly (keyof ArrivalFlags)[]>> = {
  trace: ['speed', 'from', 'to'],
  constant: ['rate'],
  poisson: ['rate'],
  gamma: ['rate', 'smoothness'],
  ramp: ['rate', 'rampFrom', 'ramp', 'rampCurve', 'smoothness'],
  steps: ['steps', 'smoothness'],
  server: ['rate'],
  offline: [],
  closed: ['ramp'],
  'single-stream': [],
};

const seconds = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text) / 1000);

const defaultShape = ({ rate, steps }: ArrivalFlags): Shape =>
  steps === undefined ? (rate === undefined ? 'trace' : 'poisson') : 'steps';

/** When the calls are due; null for a closed loop. Throws `USAGE` for flags that do not go together. */
export function arrivalsOf(flags: ArrivalFlags, path: string): Arrivals | null {
  const shape = flags.shape ?? defaultShape(flags);
  checkFlags(shape, flags);
  if (shape === 'closed' || shape === 'single-stream') return null;
  if (shape === 'ramp' && flags.rampCurve === 'exponential' && !flags.rampFrom)
    throw new PerwattError('USAGE', '--ramp-curve exponential needs --ramp-from above 0');
  return Arrivals.parse({ kind: shape, ...settingsOf(shape, flags, path) });
}

/** What `Arrivals` takes for a shape; undefined where its default holds. */
function settingsOf(shape: Shape, flags: ArrivalFlags, path: string): Readonly<Record<string, unknown>> {
  const { speed, from, to, smoothness, rampFrom, ramp, rampCurve: curve } = flags;
  const process = smoothness === undefined ? 'poisson' : 'gamma';
  switch (shape) {
    case 'trace':
      return { path, speed, from_s: seconds(from), to_s: seconds(to) };
    case 'ramp':
      return {
        from_per_s: rampFrom ?? 0,
        to_per_s: rateOf(shape, flags),
        duration_s: seconds(ramp ?? missing(shape, '--ramp')),
        curve,
        smoothness,
        process,
      };
    case 'steps':
      return { stages: stagesOf(flags.steps ?? missing(shape, '--steps')), smoothness, process };
    case 'gamma':
      return { rate_per_s: rateOf(shape, flags), smoothness: smoothness ?? missing(shape, '--smoothness') };
    case 'offline':
      return {};
    default:
      return { rate_per_s: rateOf(shape, flags) };
  }
}

/** `2/30s,8/1min`: calls per second and how long, one stage after another. Throws `USAGE` for anything else. */
function stagesOf(text: string): { readonly rate_per_s: number; readonly duration_s: number }[] {
  return text.split(',').map((stage) => {
    const [rate = '', time = '', ...more] = stage.split('/').map((part) => part.trim());
    const rate_per_s = Number(rate);
    if (rate === '' || time === '' || more.length > 0 || !(rate_per_s >= 0) || !(rate_per_s <= 1e6))
      throw new PerwattError('USAGE', `--steps ${stage} is not rate/time`, {
        hint: 'Give calls per second and a time for each stage, for example 2/30s,8/1min; a rate of 0 is a pause.',
      });
    return { rate_per_s, duration_s: parseDuration(time) / 1000 };
  });
}

const rateOf = (shape: Shape, { rate }: ArrivalFlags): number => rate ?? missing(shape, '--rate');

function missing(shape: Shape, flag: string): never {
  throw new PerwattError('USAGE', `--shape ${shape} needs ${flag}`);
}

const flagOf = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function checkFlags(shape: Shape, flags: ArrivalFlags): void {
  const all = [
    'speed',
    'from',
    'to',
    'rate',
    'smoothness',
    'rampFrom',
    'ramp',
    'rampCurve',
    'steps',
  ] as const;
  const wrong = all.find((name) => flags[name] !== undefined && !used[shape].includes(name));
  if (wrong !== undefined)
    throw new PerwattError('USAGE', `${flagOf(wrong)} means nothing with --shape ${shape}`);
  if (shape === 'single-stream' && (flags.concurrency ?? 1) !== 1)
    throw new PerwattError('USAGE', `--shape single-stream has one call in flight, not ${flags.concurrency}`);
}
