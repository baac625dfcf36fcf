import type { Arrivals } from './load.js';

/**
 * Loads that MLPerf's LoadGen knows by these names. `single_stream`: one query at a time, the next when one ends. `server`:
 * Poisson arrivals at `rate_per_s`. `offline`: everything is due at the start.
 */
export const loadPresets = ['single_stream', 'server', 'offline'] as const;
/** One of `loadPresets`. */
export type LoadPreset = (typeof loadPresets)[number];

/** The keys of a load that a preset has to do with. */
export interface PresetFields {
  readonly id?: string | undefined;
  readonly preset?: LoadPreset | undefined;
  /** Of the preset `server`. */
  readonly rate_per_s?: number | undefined;
  readonly concurrency: number;
  readonly ramp_s?: number | undefined;
  readonly arrivals?: Arrivals | undefined;
  readonly cap?: number | undefined;
}

/** What a preset stands for, and the keys that mean nothing beside it. */
const presets: Readonly<
  Record<
    LoadPreset,
    {
      readonly of: (load: PresetFields) => { readonly id?: string; readonly arrivals?: Arrivals };
      readonly idle: readonly ('arrivals' | 'rate_per_s' | 'ramp_s' | 'cap')[];
    }
  >
> = {
  single_stream: {
    of: ({ id = 'single_stream' }) => ({ id }),
    idle: ['arrivals', 'rate_per_s', 'ramp_s', 'cap'],
  },
  server: {
    of: ({ rate_per_s = 0 }) => ({ arrivals: { kind: 'server', rate_per_s } }),
    idle: ['arrivals', 'ramp_s'],
  },
  offline: { of: () => ({ arrivals: { kind: 'offline' } }), idle: ['arrivals', 'rate_per_s', 'ramp_s'] },
};

/** What a load's preset stands for; nothing without one. */
export const presetLoad = (load: PresetFields): { readonly id?: string; readonly arrivals?: Arrivals } =>
  load.preset === undefined ? {} : presets[load.preset].of(load);

/** What is wrong with the keys beside a preset, or without one. */
export function presetProblems({
  preset,
  ...load
}: PresetFields): { key: keyof PresetFields; message: string }[] {
  if (preset === undefined)
    return load.rate_per_s === undefined
      ? []
      : [
          {
            key: 'rate_per_s',
            message: 'stands beside `preset: server` only; elsewhere it is part of `arrivals`',
          },
        ];
  const idle = presets[preset].idle.filter((key) => load[key] !== undefined);
  const problems = idle.map((key) => ({ key, message: `means nothing beside \`preset: ${preset}\`` }));
  if (preset === 'server' && load.rate_per_s === undefined)
    return [
      ...problems,
      { key: 'preset', message: '`server` needs `rate_per_s`: { preset: server, rate_per_s: 4 }' },
    ];
  return preset === 'single_stream' && load.concurrency !== 1
    ? [...problems, { key: 'concurrency', message: 'of `preset: single_stream` is 1' }]
    : problems;
}
