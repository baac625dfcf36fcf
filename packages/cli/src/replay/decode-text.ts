import { prometheusReading, replaySource } from '@perwatt/native-power';
import type { Fields } from './fields.js';
import type { Computed } from './outcome.js';
import { withTree } from './tree.js';

const chip = 'sys/class/hwmon/hwmon0';

/** One file of an ACPI power meter, read by the real source. */
export function acpiMeter(input: Fields): Computed {
  const { samples, missing } = withTree(
    [
      { path: `${chip}/name`, text: 'power_meter\n' },
      { path: `${chip}/${input.text('file')}`, text: `${input.text('raw')}\n` },
    ],
    (root) => replaySource('acpi-power-meter', { root, moments: [{ at_ns: 0, writes: [] }] }),
  );
  const known = samples.power_valid[0] === 1;
  return { watts: known ? (samples.power_w[0] ?? null) : null, reason: missing[0] ?? null };
}

/** Values on an exporter's page. */
export function prometheusPage(input: Fields): Computed {
  const readings = input.each('variants').map((variant) =>
    prometheusReading(`meter ${variant.text('raw')}\n`, {
      id: 'meter',
      url: 'http://127.0.0.1/metrics',
      metric: 'meter',
      unit: 'W',
    }),
  );
  const reasons = readings.map((reading) => ('missing' in reading ? reading.missing : null));
  return {
    values: readings.map((reading) => ('power_w' in reading ? reading.power_w : null)),
    reasons,
    reason: reasons.find((reason) => reason !== null) ?? null,
  };
}
