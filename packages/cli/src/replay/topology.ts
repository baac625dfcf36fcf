import { holdsPackages } from '@perwatt/metrics';
import { replayGpus, replaySource, type SourceBooking } from '@perwatt/native-power';
import { byName, type Drawn, drawnBy } from './drawn.js';
import type { Fields } from './fields.js';
import { type Computed, ns, unsupported } from './outcome.js';
import { railsCase } from './rails.js';
import { withTree, zoneFiles } from './tree.js';

/** Reads the real source on a tree that holds the start values, then the end values. */
export function topologyCase(input: Fields): Computed {
  if (input.has('zones')) return powercapCase(input);
  if (input.has('gpus')) return gpusCase(input);
  if (input.has('rails')) return railsCase(input);
  return unsupported(`a topology of ${input.names.filter((name) => name !== 'seconds').join(', ')}`);
}

function powercapCase(input: Fields): Computed {
  const zones = input.each('zones').map((zone) => ({
    zone: zone.text('path'),
    name: zone.text('name'),
    start: zone.number('start_uj'),
    end: zone.number('end_uj'),
    max: zone.numberOrNull('max_uj'),
  }));
  const files = zones.flatMap(({ zone, name, start, max }) =>
    zoneFiles(zone, { name, energy: `${start}`, max }),
  );
  const booking = withTree(files, (root) =>
    replaySource('rapl-powercap', {
      root,
      moments: [
        { at_ns: 0, writes: [] },
        {
          at_ns: ns(input.number('seconds')),
          writes: zones.map(({ zone, end }) => ({
            path: `sys/class/powercap/${zone}/energy_uj`,
            text: `${end}\n`,
          })),
        },
      ],
    }),
  );
  return ofComponents(drawnBy(booking), booking.excluded);
}

/** Counts what NVIDIA's library shows: GPUs, or instances of them. */
function gpusCase(input: Fields): Computed {
  const shown = input.each('gpus').map((gpu) => ({
    uuid: gpu.text('uuid'),
    ...(gpu.has('parent') && { parent: gpu.text('parent') }),
    start_mj: BigInt(gpu.number('start_mj')),
    end_mj: BigInt(gpu.number('end_mj')),
  }));
  const { gpus, excluded } = replayGpus(shown, ns(input.number('seconds')));
  return {
    gpu: gpus.reduce((sum, { energy_j }) => sum + energy_j, 0),
    excluded: Object.fromEntries(excluded.map(({ zone, reason }) => [zone, reason])),
  };
}

function ofComponents(drawn: readonly Drawn[], excluded: SourceBooking['excluded']): Computed {
  const [cpu, dram] = [sumOf(drawn, 'package'), sumOf(drawn, 'dram')];
  const around = drawn.find(({ scope }) => scope === 'system');
  const believed = around === undefined || holdsPackages(around.energy_j, cpu ?? 0);
  const counted = drawn.filter(({ in_total }) => in_total);
  const inside = drawn.filter(({ in_total, scope }) => !in_total && scope !== 'system');
  return {
    cpu,
    dram,
    sum: cpu === null && dram === null ? null : (cpu ?? 0) + (dram ?? 0),
    system: around !== undefined && believed ? around.energy_j : null,
    domains: byName(counted),
    informational: byName(inside),
    excluded: Object.fromEntries(excluded.map(({ zone, reason }) => [zone, wordOf(reason)])),
    flags: believed ? [] : ['psys<package'],
  };
}

function sumOf(drawn: readonly Drawn[], scope: string): number | null {
  const own = drawn.filter((domain) => domain.in_total && domain.scope === scope);
  return own.length === 0 ? null : own.reduce((sum, { energy_j }) => sum + energy_j, 0);
}

/** `duplicate interface: intel-rapl has …` → `duplicate-interface`. */
const wordOf = (reason: string): string => reason.split(':')[0]?.replaceAll(' ', '-') ?? reason;
