import type { Probe } from '@perwatt/core';
import { Command } from 'commander';
import { figure } from '../figure.js';
import type { Io } from '../io.js';
import { type SourceTrial, type TriedDomain, trialWorld, tryPowerSources } from '../power-trials.js';

/** Looks at one part of the world and says what it found. */
export type ProbeAll = () => Promise<readonly Probe[]>;

const titles: Readonly<Record<Probe['area'], string>> = {
  power: 'Power sources',
  device: 'Devices',
  engine: 'Engines',
  models: 'Model stores',
};

/** Tries power sources by reading them. */
export type TryPower = () => readonly SourceTrial[];

/** `perwatt doctor`: everything that was tried, whether it can be used, and what would enable what can't. */
export const doctorCommand = (
  io: Io,
  probes: readonly ProbeAll[],
  tryPower: TryPower = () => tryPowerSources(trialWorld(io)),
): Command =>
  new Command('doctor')
    .description(
      'Show every power source, device, engine and model store that was tried, and what stands in the way',
    )
    .option('--json', 'print the findings as JSON')
    .option('--power', 'power sources only: read each once, and give a verdict')
    .addHelpText(
      'after',
      `
Environment: PERWATT_SYSFS_ROOT (root of the tree that is read; default /), PERWATT_NVML_LIB, PERWATT_AMDSMI_LIB,
PERWATT_LEVEL_ZERO_LIB (vendors' libraries in unusual places).

Examples:
  perwatt doctor
  perwatt doctor --json
  perwatt doctor --power`,
    )
    .action(async (flags: { readonly json?: boolean; readonly power?: boolean }) => {
      if (flags.power) return printTrials(io, tryPower(), flags);
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

function printTrials(io: Io, trials: readonly SourceTrial[], { json }: { readonly json?: boolean }): void {
  if (json) {
    io.print(JSON.stringify(trials, null, 2));
    return;
  }
  for (const line of trials.flatMap(trialLines)) io.print(line);
  const used = trials.filter(({ verdict }) => verdict === 'used').map(({ name }) => name);
  io.print(
    used.length === 0 ? 'nothing can be measured' : `used unless others are named: ${used.join(', ')}`,
  );
}

const verdicts: Readonly<Record<SourceTrial['verdict'], string>> = {
  used: 'usable, and used',
  usable: 'usable when named',
  unusable: 'not usable',
};

function trialLines({ name, verdict, detail, fix, domains, flags }: SourceTrial): string[] {
  return [
    `${name}: ${verdicts[verdict]}`,
    `  ${detail}`,
    ...(fix === null ? [] : [`  fix: ${fix}`]),
    ...domains.map((domain) => `  ${domainLine(domain)}`),
    ...flags.map(({ text }) => `  flag: ${text}`),
  ];
}

function domainLine({ id, scope, provenance, in_total, update_period_ns, ...more }: TriedDomain): string {
  const { scale_error_ratio, problem } = more;
  const parts = [
    `${id}: ${scope}`,
    provenance,
    in_total ? 'in the total' : 'beside the total',
    `renewed every ${figure(update_period_ns / 1e6, 3)} ms`,
    ...(scale_error_ratio === null ? [] : [`± ${figure(scale_error_ratio * 100, 3)} %`]),
    ...(problem === null ? [] : [`gives no number: ${problem}`]),
  ];
  return parts.join(', ');
}
