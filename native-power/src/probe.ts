import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Probe, systemCode } from '@perwatt/core';
import { buildFix, type Loaded, loaded } from './binding.js';
import type { SourceOptions } from './sources.js';

/** Every power source that was tried on the tree under `root`, and what would enable the ones that can't be read. */
export function probePower(
  { root = '/', libraries = {} }: SourceOptions = {},
  { binding, problem }: Loaded = loaded,
): Probe[] {
  if (binding === null) {
    return [{ name: 'native-power', area: 'power', usable: false, detail: `${problem}`, fix: buildFix }];
  }
  return binding.probeSources(root, libraries).map(({ unused, ...probe }) => {
    const detail = unused === null ? probe.detail : `${probe.detail}; used only when named: ${unused}`;
    return { ...probe, detail, area: 'power' as const };
  });
}

/** Accelerators and sensor chips that the tree under `root` shows; whether their power can be read is for the sources to say. */
export function probeDevices({ root = '/' }: SourceOptions = {}): Probe[] {
  return [
    found(
      'nvidia',
      nodes(join(root, 'dev'), /^nvidia\d+$/),
      'no /dev/nvidia* (driver not loaded, or no NVIDIA GPU)',
    ),
    found(
      'dri',
      nodes(join(root, 'dev/dri'), /^renderD\d+$/),
      'no /dev/dri/renderD* (no GPU with an open driver)',
    ),
    found('accel', nodes(join(root, 'dev/accel'), /^accel\d+$/), 'no /dev/accel/* (no neural processor)'),
    found('hwmon', chips(join(root, 'sys/class/hwmon')), 'no power or energy sensor under /sys/class/hwmon'),
  ];
}

const found = (name: string, devices: readonly string[], otherwise: string): Probe => ({
  name,
  area: 'device',
  usable: devices.length > 0,
  detail: devices.length > 0 ? `${devices.join(', ')} (seen)` : otherwise,
  fix: null,
});

const nodes = (folder: string, pattern: RegExp): string[] =>
  list(folder)
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));

/** Sensor chips with a power or an energy of their own: `hwmon3 amdgpu (power1_average)`. */
const chips = (folder: string): string[] =>
  list(folder).flatMap((chip) => {
    const values = list(join(folder, chip)).filter((name) =>
      /^(power|energy)\d+_(input|average)$/.test(name),
    );
    const label = join(folder, chip, 'name');
    const name = existsSync(label) ? ` ${readFileSync(label, 'utf8').trim()}` : '';
    return values.length === 0 ? [] : [`${chip}${name} (${values.join(', ')})`];
  });

function list(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
