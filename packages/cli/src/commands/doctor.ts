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
    return rows.length === 0 ? [] : [title, ...rows.flatMap((probe) => lines(probe, width)), ''];
  });
  const usable = found.filter((probe) => probe.usable).length;
  return [...areas, `${usable} of ${found.length} usable`];
}

function lines({ name, usable, detail, fix }: Probe, width: number): string[] {
  const head = `  ${usable ? 'yes' : 'no '}  ${name.padEnd(width)}  ${detail}`;
  return fix === null ? [head] : [head, `${' '.repeat(width + 9)}fix: ${fix}`];
}
