import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

export interface PowercapZone {
  /** Folder in `/sys/class/powercap`, for example `intel-rapl:0:1`. */
  readonly zone: string;
  /** What the kernel calls it: `package-0`, `dram`, `psys` … */
  readonly name: string;
  /** Starting value, µJ; text is written as it is. */
  readonly energy_uj?: number | bigint | string;
  /** Highest value, µJ; a client part's unless said. */
  readonly max_uj?: number | bigint;
}

/** A tree in the kernel's shape under a temporary folder: the files, and flat relative links to them. */
export interface PowercapTree {
  readonly root: string;
  /** Where a zone's counter lies. */
  file(zone: string): string;
  /** Sets a counter, in place, as the hardware does. */
  set(zone: string, energy_uj: number | bigint | string): void;
  remove(): void;
}

const maxOfClients = 262_143_328_850;

export function powercapTree(zones: readonly PowercapZone[]): PowercapTree {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-powercap-'));
  const links = join(root, 'sys/class/powercap');
  mkdirSync(links, { recursive: true });
  const file = (zone: string) => join(links, zone, 'energy_uj');
  for (const { zone, name, energy_uj = 0, max_uj = maxOfClients } of zones) {
    const [control = zone, ...numbers] = zone.split(':');
    const parts = numbers.map((_, i) => [control, ...numbers.slice(0, i + 1)].join(':'));
    const folder = join(root, 'sys/devices/virtual/powercap', control, ...parts);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'name'), `${name}\n`);
    writeFileSync(join(folder, 'max_energy_range_uj'), `${max_uj}\n`);
    writeFileSync(join(folder, 'energy_uj'), `${energy_uj}\n`);
    symlinkSync(relative(links, folder), join(links, zone));
  }
  return {
    root,
    file,
    set: (zone, energy_uj) => overwrite(file(zone), `${energy_uj}\n`),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Writes over what is there, so that no reader finds the file empty. */
function overwrite(file: string, text: string): void {
  const fd = openSync(file, 'r+');
  try {
    ftruncateSync(fd, writeSync(fd, text, 0));
  } finally {
    closeSync(fd);
  }
}
