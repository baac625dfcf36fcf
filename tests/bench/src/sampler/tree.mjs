// A made-up host: RAPL zones, hwmon chips, a battery, scripts of the vendors' stand-ins. Laid out as the kernel does it.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { energyOf } from './load.mjs';

/** What the kernel shows of a counter of 32 bits of 2^-14 J: µJ, cut off. */
export const MAX_UJ = 262_143_328_850;
const UNIT_UJ = 1e6 / 2 ** 14;
const LAP_UJ = MAX_UJ + 61;

/** Two sockets with cores and memory, and the platform around them. Each draws the load at a scale and a shift, or several. */
const SOCKETS = [
  { scale: 1, shift_s: 0 },
  { scale: 0.8, shift_s: 1.7 },
];
const share = (socket, scale) => [{ ...socket, scale: socket.scale * scale }];
const ZONES = [
  { zone: 'intel-rapl:0', name: 'package-0', loads: share(SOCKETS[0], 1) },
  { zone: 'intel-rapl:0:0', name: 'core', loads: share(SOCKETS[0], 0.7) },
  { zone: 'intel-rapl:0:1', name: 'dram', loads: share(SOCKETS[0], 0.12) },
  { zone: 'intel-rapl:1', name: 'package-1', loads: share(SOCKETS[1], 1) },
  { zone: 'intel-rapl:1:0', name: 'core', loads: share(SOCKETS[1], 0.7) },
  { zone: 'intel-rapl:1:1', name: 'dram', loads: share(SOCKETS[1], 0.12) },
  { zone: 'intel-rapl:2', name: 'psys', loads: SOCKETS.flatMap((socket) => share(socket, 1.4)) },
];

/** What every tool of the comparison counts: the packages. */
export const PACKAGES = ZONES.filter(({ name }) => name.startsWith('package'));

/**
 * Counters of a load that began at `t0_ns`. With `wraps_ns`, the packages lap at those moments; the others count from
 * somewhere.
 */
export function powercapZones(classDir, { t0_ns, wraps_ns = [] }) {
  let packages = 0;
  return ZONES.map((zone, i) => {
    const wrap = zone.name.startsWith('package') ? wraps_ns[packages++] : undefined;
    const start_uj =
      wrap === undefined
        ? (i + 1) * 7_000_000_000
        : LAP_UJ - energyOf(zone.loads, { t0_ns, at_ns: wrap }) * 1e6;
    const file = join(classDir, 'powercap', zone.zone, 'energy_uj');
    return { ...zone, file, width: 15, unit_uj: UNIT_UJ, lap_uj: LAP_UJ, start_uj };
  });
}

/** The text of a counter: always as many digits, so that one write replaces all of it. */
export function counterText({ width, unit_uj, lap_uj, start_uj, loads }, moment) {
  const uj = (start_uj + energyOf(loads, moment) * 1e6) % lap_uj;
  return `${String(Math.floor(Math.floor(uj / unit_uj) * unit_uj)).padStart(width, '0')}\n`;
}

/** Files and links of the powercap class, at its first moment. */
export function buildPowercap(classDir, zones) {
  const links = join(classDir, 'powercap');
  const devices = join(classDir, 'devices/virtual/powercap');
  const control = join(devices, 'intel-rapl');
  write(join(control, 'enabled'), '1\n');
  mkdirSync(links, { recursive: true });
  link(control, join(links, 'intel-rapl'));
  link(links, join(control, 'subsystem'));
  for (const zone of zones) {
    const [, ...numbers] = zone.zone.split(':');
    const folders = numbers.map((_, i) => ['intel-rapl', ...numbers.slice(0, i + 1)].join(':'));
    const folder = join(control, ...folders);
    write(join(folder, 'name'), `${zone.name}\n`);
    write(join(folder, 'max_energy_range_uj'), `${MAX_UJ}\n`);
    write(join(folder, 'energy_uj'), counterText(zone, { t0_ns: 0n, at_ns: 0n }));
    link(links, join(folder, 'subsystem'));
    link(folder, join(links, zone.zone));
  }
}

/** hwmon chips and a battery; the counters among them, for the writer. */
export function buildOthers(classDir) {
  const hwmon = (number, files) => {
    for (const [file, text] of Object.entries(files))
      write(join(classDir, 'hwmon', `hwmon${number}`, file), `${text}\n`);
  };
  hwmon(0, {
    name: 'amd_energy',
    energy1_label: 'Esocket0',
    energy1_input: '0',
    energy2_label: 'Esocket1',
    energy2_input: '0',
  });
  hwmon(1, { name: 'xe', energy1_input: '0', energy2_input: '0', power1_max: '300000000' });
  hwmon(2, { name: 'amdgpu', power1_average: '41000000', power1_cap_max: '300000000' });
  write(join(classDir, 'hwmon/hwmon2/device/power/runtime_status'), 'active\n');
  hwmon(3, {
    name: 'ina3221',
    update_interval: '100',
    ...Object.fromEntries(
      ['VDD_IN', 'VDD_CPU_GPU_CV', 'VDD_SOC'].flatMap((label, i) => [
        [`in${i + 1}_label`, label],
        [`in${i + 1}_enable`, '1'],
        [`in${i + 1}_input`, '5000'],
        [`curr${i + 1}_input`, `${900 / (i + 1)}`],
      ]),
    ),
  });
  hwmon(4, { name: 'power_meter', power1_average: '180000000', power1_average_interval: '1000' });
  const battery = { type: 'Battery', status: 'Discharging', power_now: '15000000' };
  for (const [file, text] of Object.entries(battery))
    write(join(classDir, 'power_supply/BAT0', file), `${text}\n`);
  const counters = [
    'hwmon0/energy1_input',
    'hwmon0/energy2_input',
    'hwmon1/energy1_input',
    'hwmon1/energy2_input',
  ];
  return counters.map((file, i) => ({
    file: join(classDir, 'hwmon', file),
    width: 18,
    unit_uj: 15.2587890625,
    lap_uj: 1e18,
    start_uj: (i + 1) * 3_000_000_000,
    loads: [{ scale: 0.9 / (i + 1), shift_s: i }],
  }));
}

/** What the stand-ins for the vendors' libraries say: one GPU each, with a counter that grows at a steady power. Read once. */
export const vendorScripts = {
  nvml: `fixed
0, 0, index, 0, 0, 0, 0
0, 0, uuid, 0, 0, 0, GPU-A
0, 0, 188, 0, 0, 1, 350000
0, 0, 83, 0, 0, 3, 1000000000+201000
0, 0, 186, 0, 0, 1, 201000
`,
  amdsmi: `fixed
0, 0, socket, 0, 0, 0, 0
0, 0, bdf, 0, 0, 0, 10496
0, 0, energy, 0, 0, 0, 1000000000+13238272
0, 0, power, 0, 0, 0, 202
`,
};

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const link = (target, at) => symlinkSync(relative(dirname(at), target), at);
