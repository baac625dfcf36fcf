import { execFile } from 'node:child_process';
import { PerwattError } from '@perwatt/core';
import type { FeedValue } from '../feed-recorder.js';
import { type MeterOptions, type MeterSource, type MeterWorld, meterDomain, polledMeter } from './meter.js';
import { quantityOf } from './quantity.js';

/** The power a board's management controller reports, through a command that prints it. */
export interface DcmiOptions extends MeterOptions {
  /** Default: `ipmitool dcmi power reading`. FreeIPMI's `ipmi-dcmi --get-system-power-statistics` is understood too. */
  readonly command?: readonly string[];
}

const forms = [
  {
    power: /Instantaneous power reading\s*:\s*(\d+)\s*Watts/i,
    state: /Power reading state is\s*:\s*(\w+)/i,
    on: 'activated',
  },
  { power: /Current Power\s*:\s*(\d+)\s*Watts/i, state: /Power Measurement\s*:\s*([\w ]+)/i, on: 'active' },
];

/** The reading in what ipmitool or FreeIPMI prints. A controller that doesn't measure is `deactivated`, whatever number it prints. */
export function dcmiReading(text: string): FeedValue {
  for (const { power, state, on } of forms) {
    const [, found] = state.exec(text) ?? [];
    if (found === undefined) continue;
    if (found.trim().toLowerCase() !== on) return { missing: 'deactivated' };
    return quantityOf(power.exec(text)?.[1] ?? '', 'W');
  }
  return { missing: 'parse' };
}

/** A board's own power meter, by IPMI DCMI. */
export function dcmiMeter(options: DcmiOptions, { clock }: MeterWorld): MeterSource {
  const [program = 'ipmitool', ...args] = options.command ?? ['ipmitool', 'dcmi', 'power', 'reading'];
  const system = { scope: 'system' as const, quantum: 1, ...options };
  return polledMeter({
    options: system,
    domains: [
      meterDomain(system, { kind: 'gauge', note: `IPMI DCMI by ${[program, ...args].join(' ')}, in W` }),
    ],
    clock,
    read: async (signal) => [dcmiReading(await output(program, args, signal))],
  });
}

function output(program: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      program,
      [...args],
      { signal, maxBuffer: 1 << 20, env: { ...process.env, LC_ALL: 'C' } },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const said = stderr.trim().split('\n')[0] || error.message;
        reject(new PerwattError('POWER_IO', `${program}: ${said}`, { cause: error }));
      },
    );
  });
}
