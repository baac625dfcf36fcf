import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import {
  type Factors,
  factorsOfRegion,
  type RegionFactors,
  shippedFactors,
  withOwnFactors,
} from '@perwatt/metrics';
import { openRun } from '@perwatt/records';
import { Command } from 'commander';
import { type CellFootprint, cellFootprint, footprintTable } from '../cell-footprint.js';
import { computeResults } from '../compute-results.js';
import type { Io } from '../io.js';

interface FootprintFlags {
  readonly region: string;
  readonly factors?: string;
  readonly json?: boolean;
}

const examples = `
Carbon is energy × PUE × grid intensity, water is energy × (WUE + PUE × water of the grid), cost is energy × PUE × tariff.
Nothing of it is stored in the run: other factors give other figures of the same joules. Nothing embodied is in it, and
only what was metered.

A file of your own (YAML or JSON) replaces the shipped figures it has:
  factors_version: 1
  id: our-lab
  date: 2026-11-30
  pue: { lo: 1.08, hi: 1.12, source: meter }
  sources: { meter: { citation: our own meter, year: 2026, trust: own } }

Examples:
  perwatt footprint runs/20261129-101500Z-quickstart --region france
  perwatt footprint runs/20261129-101500Z-quickstart --region eu --factors lab.yaml --json`;

/** `perwatt footprint`: what a run's energy comes to in carbon, water and cost of electricity, as ranges. */
export const footprintCommand = (io: Io): Command =>
  new Command('footprint')
    .description("Carbon, water and cost of a run's energy, as ranges from dated factors")
    .argument('<run>', 'run folder')
    .option('--region <name>', 'region of the electricity', 'world')
    .option('--factors <file>', 'your own factors')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(async (path: string, flags: FootprintFlags) => {
      const region = factorsOfRegion(allFactors(flags.factors, io.cwd), flags.region);
      const { run_id, cells } = await computeResults(openRun(resolve(io.cwd, path)));
      const footprints = cells.map((cell) => cellFootprint(cell, region));
      if (flags.json === true) io.print(JSON.stringify({ run_id, factors: region, cells: footprints }));
      else for (const line of report(footprints, region)) io.print(line);
    });

function allFactors(file: string | undefined, cwd: string): Factors {
  if (file === undefined) return shippedFactors();
  try {
    return withOwnFactors(shippedFactors(), { text: readFileSync(resolve(cwd, file), 'utf8'), file });
  } catch (error) {
    if (error instanceof PerwattError) throw error;
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot read ${file}: ${systemCode(error) ?? messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

const report = (cells: readonly CellFootprint[], region: RegionFactors): string[] => [
  `per 1,000 queries, electricity of ${region.name}, gross energy of what was metered`,
  ...footprintTable(cells),
  `factors: ${region.versions.join(', ')}`,
  ...region.sources.map((source) => `  ${source}`),
];
