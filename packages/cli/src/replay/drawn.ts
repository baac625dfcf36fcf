import type { SourceBooking } from '@perwatt/native-power';

/** One domain with its energy over the fixture's span. */
export interface Drawn {
  readonly id: string;
  readonly name: string;
  readonly scope: string;
  readonly in_total: boolean;
  readonly energy_j: number;
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

/** By name; by id where two domains share a name. */
export function byName(drawn: readonly Drawn[]): Readonly<Record<string, number>> {
  const shared = (name: string) => drawn.filter((domain) => domain.name === name).length > 1;
  return Object.fromEntries(drawn.map(({ id, name, energy_j }) => [shared(name) ? id : name, energy_j]));
}
