import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '@perwatt/core';
import type { Commands } from '@perwatt/harness';
import { hostFacts } from '@perwatt/native-power';
import type { DeviceFacts } from '@perwatt/records';

/** Where devices are looked for. */
export interface DevicePlace {
  readonly root: string;
  readonly commands: Pick<Commands, 'run'>;
}

/** The CPU of a host and its GPUs: NVIDIA's as `nvidia-smi` tells them, AMD's from the kernel's files. */
export async function hostDevices({ root, commands }: DevicePlace): Promise<readonly DeviceFacts[]> {
  const { cpu, memory_bytes, kernel } = hostFacts(root);
  const own: DeviceFacts = {
    kind: 'cpu',
    name: cpu ?? 'a CPU without a name',
    memory_bytes,
    power_limit_w: null,
    driver: kernel,
  };
  return [own, ...(await nvidiaDevices(commands)), ...amdDevices(root)];
}

const query = [
  'nvidia-smi',
  '--query-gpu=name,memory.total,power.limit,driver_version',
  '--format=csv,noheader,nounits',
];

/** None where the program is not there or can't reach its driver. */
async function nvidiaDevices(commands: Pick<Commands, 'run'>): Promise<DeviceFacts[]> {
  const { exit_code, stdout } = await commands.run(query, { timeout_ms: 20_000 });
  if (exit_code !== 0) return [];
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', memory_mib, power_limit_w, driver = ''] = line.split(',').map((part) => part.trim());
      const memory = numberOf(memory_mib);
      return {
        kind: 'gpu',
        name,
        memory_bytes: memory === null ? null : memory * 2 ** 20,
        power_limit_w: numberOf(power_limit_w),
        driver: driver === '' ? null : driver,
      };
    });
}

/** Null for `[N/A]` and the like. */
const numberOf = (text: string | null | undefined): number | null =>
  text != null && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;

const AMD = '0x1002';

function amdDevices(root: string): DeviceFacts[] {
  const folder = join(root, 'sys/class/drm');
  return names(folder)
    .filter((name) => /^card\d+$/.test(name))
    .map((name) => join(folder, name, 'device'))
    .filter((device) => text(join(device, 'vendor')) === AMD)
    .map((device) => {
      const limits = names(join(device, 'hwmon')).map((own) =>
        numberOf(text(join(device, 'hwmon', own, 'power1_cap'))),
      );
      const limit_uw = limits.find((limit) => limit !== null) ?? null;
      return {
        kind: 'gpu',
        name: text(join(device, 'product_name')) ?? `AMD ${text(join(device, 'device')) ?? 'without a name'}`,
        memory_bytes: numberOf(text(join(device, 'mem_info_vram_total'))),
        power_limit_w: limit_uw === null ? null : limit_uw / 1e6,
        driver: text(join(root, 'sys/module/amdgpu/version')),
      };
    });
}

function names(folder: string): string[] {
  return orNull(() => readdirSync(folder).toSorted()) ?? [];
}

const text = (path: string): string | null => orNull(() => readFileSync(path, 'utf8').trim()) || null;

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return null;
  }
}
