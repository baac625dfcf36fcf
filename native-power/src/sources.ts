import { PerwattError, type PowerSource } from '@perwatt/core';
import { buildFix, type Loaded, loaded } from './binding.js';
import { nativeSource } from './native-source.js';

/** Where sources look. */
export interface SourceOptions {
  /** Root of the tree that sources read; the host's own `/` unless a test or a container brings another. */
  readonly root?: string;
}

/** Where sources look, and which are wanted. */
export interface BestSourceOptions extends SourceOptions {
  /** Names of the sources to use. Without it: the most trustworthy one that can be read. */
  readonly names?: readonly string[];
}

/** Every source this build knows, the most trustworthy first, whether or not it can be read here. Empty without the addon. */
export function powerSources(
  { root = '/' }: SourceOptions = {},
  { binding }: Loaded = loaded,
): PowerSource[] {
  if (binding === null) return [];
  return binding.sourceInfos().map((info) => nativeSource(binding, info, root));
}

/**
 * The sources to measure with: measured ones where there are any, else the labelled estimator.
 * Throws `POWER_NO_SOURCE` when none can be read, naming every attempt, and `INPUT_INVALID` for an unknown name or when
 * measured and estimated ones are asked for together.
 */
export function bestSources(options: BestSourceOptions = {}, addon: Loaded = loaded): PowerSource[] {
  const { binding, problem } = addon;
  if (binding === null) {
    throw new PerwattError('POWER_NO_SOURCE', problem, {
      hint: `Build it with \`${buildFix}\`, or leave power out with \`--power none\`.`,
    });
  }
  const all = powerSources(options, addon);
  if (options.names !== undefined) return chosen(all, options.names);
  const probes = binding.probeSources(options.root ?? '/');
  const usable = all.filter(({ name }) => probes.some((probe) => probe.name === name && probe.usable));
  const measured = usable.filter(({ provenance }) => provenance !== 'estimated');
  const best = measured.length > 0 ? measured : usable.slice(0, 1);
  if (best.length === 0) {
    const attempts = probes.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
    throw new PerwattError('POWER_NO_SOURCE', `no power source can be read (${attempts})`);
  }
  return best;
}

function chosen(all: readonly PowerSource[], names: readonly string[]): PowerSource[] {
  const sources = names.map((name) => {
    const found = all.find((source) => source.name === name);
    if (found !== undefined) return found;
    const known = all.map((source) => source.name).join(', ');
    throw new PerwattError('INPUT_INVALID', `no power source is called "${name}"`, {
      hint: `Name one of: ${known}.`,
    });
  });
  const tiers = new Set(sources.map(({ provenance }) => provenance === 'estimated'));
  if (tiers.size > 1) {
    throw new PerwattError(
      'INPUT_INVALID',
      `measured and estimated sources cannot be mixed: ${names.join(', ')}`,
      { hint: 'Choose either measured sources or the estimator.' },
    );
  }
  return sources;
}
