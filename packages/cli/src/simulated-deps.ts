import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Simulate } from '@perwatt/core';
import { type HarnessDeps, simulatedWorld } from '@perwatt/harness';
import { hostFacts, simulatedSource } from '@perwatt/native-power';
import { strategyById } from '@perwatt/strategies';
import { graderOf } from './grading-world.js';
import type { Io } from './io.js';
import { sysRoot } from './power-place.js';

/** Time between two readings of the simulated meters, ns: counters lose nothing in between, and simulated days are long. */
const READING_NS = 1_000_000_000;

export interface SimulatedDepsOptions {
  readonly laws: Simulate;
  readonly seed: number;
  readonly version: string;
}

/** The world of a matrix with `simulate`: real graders and strategies, and the core that books real sensors. */
export const simulatedDeps = (io: Io, { laws, seed, version }: SimulatedDepsOptions): HarnessDeps =>
  simulatedWorld(laws, {
    seed,
    version,
    boot_id: `simulated-${randomUUID()}`,
    wallTime: io.wallTime,
    hostFacts: () => ({
      hostname: hostname(),
      ...hostFacts(sysRoot(io)),
      node: process.versions.node,
    }),
    grader: graderOf,
    strategy: strategyById,
    powerSource: (parts) => simulatedSource({ ...parts, period_ns: READING_NS }),
  });
