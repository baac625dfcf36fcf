import { figure } from './figure.js';
import type { Bounded, TotalAccount } from './power-account.js';

/** An energy and its bounds as members `<name>_energy_j`, `<name>_lo_j`, `<name>_hi_j`. */
export const flatEnergy = (name: string, { energy_j, lo_j, hi_j }: Bounded) => ({
  [`${name}_energy_j`]: energy_j,
  [`${name}_lo_j`]: lo_j,
  [`${name}_hi_j`]: hi_j,
});

/** A total for machines. */
export const totalJson = ({ gross, net, mean_power_w }: TotalAccount) => ({
  ...flatEnergy('gross', gross),
  ...flatEnergy('net', net),
  mean_power_w,
});

/** An energy with its bounds for people; a dash when it can't be told. */
export const energyText = ({ energy_j, lo_j, hi_j }: Bounded, digits: number): string => {
  if (energy_j === null || lo_j === null || hi_j === null) return '-';
  const [mid, lo, hi] = [energy_j, lo_j, hi_j].map((value) => figure(value, digits));
  return `${mid} J (${lo}..${hi} J)`;
};
