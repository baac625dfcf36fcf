import type { SourceOptions } from '@perwatt/native-power';
import type { Io } from './io.js';

/** Root of the tree that power sources read; `PERWATT_SYSFS_ROOT` replaces the host's own. */
export const sysRoot = ({ env }: Pick<Io, 'env'>): string => env['PERWATT_SYSFS_ROOT'] ?? '/';

/**
 * Where power sources look: the tree, and the libraries that GPUs are read through. `PERWATT_NVML_LIB`,
 * `PERWATT_AMDSMI_LIB` and `PERWATT_LEVEL_ZERO_LIB` replace the places where drivers put them.
 */
export function powerPlace({ env }: Pick<Io, 'env'>): Required<SourceOptions> {
  const [nvml, amdsmi] = [env['PERWATT_NVML_LIB'], env['PERWATT_AMDSMI_LIB']];
  const level_zero = env['PERWATT_LEVEL_ZERO_LIB'];
  const libraries = { ...(nvml && { nvml }), ...(amdsmi && { amdsmi }), ...(level_zero && { level_zero }) };
  return { root: sysRoot({ env }), libraries };
}
