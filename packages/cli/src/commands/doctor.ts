import type { Probe } from '@perwatt/core';
import { Command } from 'commander';
import type { Io } from '../io.js';

/** Looks at one part of the world and says what it found. */
export type ProbeAll = () => Promise<readonly Probe[]>;

const titles: Readonly<Record<Probe['area'], string>> = {
  power: 'Power sources',
  device: 'Devices',
  engine: 'Engines',
  models: 'Model stores',
};

/** `perwatt doctor`: everything that was tried, whether it can be used, and what would enable what can't. */
export const doctorCommand = (io: Io, probes: readonly ProbeAll[]): Command =>
  new Command('doctor')
    .description(
      'Show every power source, device, engine and model store that was tried, and what stands in the way',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', '\nExample:\n  perwatt doctor --json')
    .action(async (flags: { readonly json?: boolean }) => {
      const found = (await Promise.all(probes.map((probe) => probe()))).flat();
      if (flags.json) io.print(JSON.stringify(found, null, 2));
      else for (const line of report(found)) io.print(line);
    });

function report(found: readonly Probe[]): string[] {
  const width = Math.max(0, ...found.map(({ name }) => name.length));
  const areas = Object.entries(titles).flatMap(([area, title]) => {
    const rows = found.filter((probe) => probe.area === area);
    return rows.length === 0 ? [] : [title, ...merged(rows).flatMap((row) => lines(row, width)), ''];
  });
  const usable = found.filter((probe) => probe.usable).length;
  return [...areas, `${usable} of ${found.length} usable`];
}

interface Row {
  readonly probe: Probe;
  /** Names of others that the same stands in the way of. */
  readonly also: readonly string[];
}

/** Probes that the same stands in the way of, and that nothing would enable, share the row of the first. */
function merged(probes: readonly Probe[]): Row[] {
  const alone = ({ usable, fix }: Probe) => usable || fix !== null;
  const alike = (a: Probe) => (b: Probe) => b === a || (!alone(a) && !alone(b) && a.detail === b.detail);
  return probes.flatMap((probe) => {
    const [first, ...others] = probes.filter(alike(probe));
    return first === probe ? [{ probe, also: others.map(({ name }) => name) }] : [];
  });
}

function lines({ probe: { name, usable, detail, fix }, also }: Row, width: number): string[] {
  const indent = ' '.repeat(width + 9);
  return [
    `  ${usable ? 'yes' : 'no '}  ${name.padEnd(width)}  ${detail}`,
    ...(also.length === 0 ? [] : [`${indent}likewise: ${also.join(', ')}`]),
    ...(fix === null ? [] : [`${indent}fix: ${fix}`]),
  ];
}
