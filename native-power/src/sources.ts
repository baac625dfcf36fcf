import { PerwattError, type PowerSource } from '@perwatt/core';
import { type Binding, buildFix, type Loaded, loaded } from './binding.js';
import { nativeSource } from './native-source.js';

/** Where sources look. */
export interface SourceOptions {
  /** Root of the tree that sources read; the host's own `/` unless a test or a container brings another. */
  readonly root?: string;
  /** Where vendors' libraries are; what is left out is looked for where its driver puts it. */
  readonly libraries?: VendorLibraries;
}

/** Paths of libraries that GPUs are read through, for tests and for drivers in unusual places. */
export interface VendorLibraries {
  /** NVIDIA's `libnvidia-ml`. */
  readonly nvml?: string;
  /** AMD's `libamd_smi`. */
  readonly amdsmi?: string;
  /** Level Zero's loader, `libze_loader`, for Intel GPUs. */
  readonly level_zero?: string;
}

/** Where sources look, and which are wanted. */
export interface BestSourceOptions extends SourceOptions {
  /** Names of the sources to use. Without it: the most trustworthy one that can be read. */
  readonly names?: readonly string[];
}

/** Every source this build knows, the most trustworthy first, whether or not it can be read here. Empty without the addon. */
export function powerSources(
  { root = '/', libraries = {} }: SourceOptions = {},
  { binding }: Loaded = loaded,
): PowerSource[] {
  if (binding === null) return [];
  return binding.sourceInfos().map((info) => nativeSource(binding, info, { root, libraries }));
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
  if (options.names !== undefined) return chosen(all, options.names, binding);
  const probes = binding.probeSources(options.root ?? '/', options.libraries);
  const used = new Set(
    probes.filter((probe) => probe.usable && probe.unused === null).map(({ name }) => name),
  );
  const best = all.filter(({ name }) => used.has(name));
  if (best.length === 0) {
    const details = [...new Set(probes.map(({ detail }) => detail))];
    const attempts = details
      .map((detail) => `${namesOf(probes.filter((probe) => probe.detail === detail))}: ${detail}`)
      .join('; ');
    throw new PerwattError('POWER_NO_SOURCE', `no power source can be read (${attempts})`);
  }
  return best;
}

const namesOf = (named: readonly { readonly name: string }[]) => named.map(({ name }) => name).join(', ');

function chosen(all: readonly PowerSource[], names: readonly string[], { clash }: Binding): PowerSource[] {
  const sources = names.map((name) => {
    const found = all.find((source) => source.name === name);
    if (found !== undefined) return found;
    const known = namesOf(all);
    throw new PerwattError('INPUT_INVALID', `no power source is called "${name}"`, {
      hint: `Name one of: ${known}.`,
    });
  });
  const same = clash([...names]);
  if (same !== null) {
    throw new PerwattError('INPUT_INVALID', `${same[0]} and ${same[1]} show the same energy`, {
      hint: 'Name one of them, or its joules would be counted twice.',
    });
  }
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
