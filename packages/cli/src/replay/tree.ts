import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A file, or a link in the kernel's manner, below the root of a tree. */
export type TreeFile = { readonly path: string } & (
  | { readonly text: string }
  | { readonly folder: true }
  | { readonly to: string }
);

export interface ZoneText {
  readonly name: string;
  /** What `energy_uj` holds, without its newline; null for no such file. */
  readonly energy: string | null;
  /** Highest value; null where it can't be read. */
  readonly max: number | null;
}

/** A powercap zone as the kernel shows it: files in nested device folders, a flat link in the class folder. */
export function zoneFiles(zone: string, { name, energy, max }: ZoneText): TreeFile[] {
  const [control = zone, ...numbers] = zone.split(':');
  const parts = numbers.map((_, i) => [control, ...numbers.slice(0, i + 1)].join(':'));
  const folder = ['sys/devices/virtual/powercap', control, ...parts].join('/');
  return [
    { path: `${folder}/name`, text: `${name}\n` },
    ...(max === null ? [] : [{ path: `${folder}/max_energy_range_uj`, text: `${max}\n` }]),
    ...(energy === null ? [] : [{ path: `${folder}/energy_uj`, text: `${energy}\n` }]),
    { path: `sys/class/powercap/${zone}`, to: folder },
  ];
}

/** Builds a tree in a temporary folder for as long as `use` runs. */
export function withTree<T>(files: readonly TreeFile[], use: (root: string) => T): T {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-replay-'));
  try {
    for (const file of files) place(root, file);
    return use(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function place(root: string, file: TreeFile): void {
  const path = join(root, file.path);
  mkdirSync(dirname(path), { recursive: true });
  if ('to' in file) symlinkSync(relative(dirname(path), join(root, file.to)), path);
  else if ('folder' in file) mkdirSync(path, { recursive: true });
  else writeFileSync(path, file.text);
}
