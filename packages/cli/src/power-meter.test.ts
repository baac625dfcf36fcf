import type { Domain } from '@perwatt/core';
import { testDomain } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { totalAccount } from './power-account.js';
import { type DomainTotal, sumTotals } from './power-meter.js';

const drew = (domain: Domain, energy_j: number | null): DomainTotal => ({
  domain,
  energy_j,
  energy_lo_j: energy_j,
  energy_hi_j: energy_j,
  mean_power_w: energy_j,
  reason: energy_j === null ? 'nothing was read' : null,
  samples: 2,
  missing: 0,
});

const cpu = testDomain({ id: 'cpu', provenance: 'counter' });
const dram = testDomain({ id: 'dram', scope: 'dram', provenance: 'counter' });
const card = testDomain({ id: 'card', scope: 'gpu', kind: 'gauge', provenance: 'integrated' });
const plug = testDomain({ id: 'plug', scope: 'wall', provenance: 'counter' });
const core = testDomain({ id: 'core', in_total: false, provenance: 'counter' });

// biome-ignore format: a table is read in columns
test.each<[parts: DomainTotal[], energy_j: number | null, why: string]>([
  [[drew(cpu, 4), drew(dram, 2)],              6,    'parts beside each other add up'],
  [[drew(cpu, 4), drew(core, 3)],              4,    'what lies inside another does not'],
  [[drew(cpu, 4), drew(card, 5)],              4,    'counters and integrated power are not summed'],
  [[drew(cpu, 4), drew(plug, 9)],              9,    'a wall meter takes the place of what hangs behind it'],
  [[drew(cpu, 4), drew(dram, null)],           null, 'an unknown part makes the sum unknown, not smaller'],
  [[drew(cpu, 4), drew(card, null)],           4,    'a part of another provenance is no part'],
  [[drew(core, 3)],                            null, 'nothing to sum'],
])('totals, row %#', (parts, energy_j) => {
  expect(sumTotals(parts).energy_j).toBe(energy_j);
  const accounts = parts.map(({ domain, energy_j: own, mean_power_w, reason }) => {
    const bounded = { energy_j: own, lo_j: own, hi_j: own };
    const rest = { coverage_ratio: 1, samples: 2, baseline_power_w: null, peak_power_w: null };
    return { domain, gross: bounded, net: bounded, mean_power_w, reason, ...rest };
  });
  expect(totalAccount(accounts).gross.energy_j).toBe(energy_j);
});
