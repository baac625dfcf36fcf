import { holdsPackages } from '@perwatt/metrics';
import { replayGpus, replaySource, type SourceBooking } from '@perwatt/native-power';
import type { Fields } from './fields.js';
import { type Computed, ns, unsupported } from './outcome.js';
import { withTree, zoneFiles } from './tree.js';

/** One domain with its energy over the fixture's span. */
interface Drawn {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly in_total: boolean;
  readonly energy_j: number;
}

/** Reads the real source on a tree that holds the start values, then the end values. */
export function topologyCase(input: Fields): Computed {
  if (input.has('zones')) return powercapCase(input);
  if (input.has('gpus')) return gpusCase(input);
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

/** Energy of every domain at the end of the last sample. */
export function drawnBy({ domains, samples }: SourceBooking): Drawn[] {
  const last = new Map<number, number>();
  samples.domain.forEach((domain, i) => {
    last.set(domain, samples.booked_energy_j[i] ?? 0);
  });
  return domains.map(({ id, scope, in_total }, d) => {
    return { id, name: id.split(':').at(-1) ?? id, scope, in_total, energy_j: last.get(d) ?? 0 };
  });
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

/** By name; by id where two domains share a name. */
function byName(drawn: readonly Drawn[]): Readonly<Record<string, number>> {
  const shared = (name: string) => drawn.filter((domain) => domain.name === name).length > 1;
  return Object.fromEntries(drawn.map(({ id, name, energy_j }) => [shared(name) ? id : name, energy_j]));
}

/** `duplicate interface: intel-rapl has …` → `duplicate-interface`. */
const wordOf = (reason: string): string => reason.split(':')[0]?.replaceAll(' ', '-') ?? reason;
