import { replaySource } from '@perwatt/native-power';
import { byName, drawnBy } from './drawn.js';
import type { Fields } from './fields.js';
import { type Computed, ns } from './outcome.js';
import { withTree } from './tree.js';

const chip = 'sys/class/hwmon/hwmon0';

/** Voltages (mV) and currents (mA) of a board's rails, read by the real source; mean powers over the span. */
export function railsCase(input: Fields): Computed {
  const files = input.each('rails').flatMap((rail, i) => [
    { path: `${chip}/in${i + 1}_label`, text: `${rail.text('label')}\n` },
    { path: `${chip}/in${i + 1}_input`, text: `${rail.number('mv')}\n` },
    { path: `${chip}/curr${i + 1}_input`, text: `${rail.number('ma')}\n` },
  ]);
  const seconds = input.number('seconds');
  const moments = [0, ns(seconds)].map((at_ns) => ({ at_ns, writes: [] }));
  const booking = withTree([{ path: `${chip}/name`, text: `${input.text('hwmon')}\n` }, ...files], (root) =>
    replaySource('jetson-rails', { root, moments }),
  );
  const powers = drawnBy(booking).map((rail) => ({ ...rail, energy_j: rail.energy_j / seconds }));
  const counted = powers.filter(({ in_total }) => in_total);
  return {
    module_w: counted.reduce((sum, { energy_j }) => sum + energy_j, 0),
    domains: byName(counted),
    informational: byName(powers.filter(({ in_total }) => !in_total)),
  };
}
