/** Why a program was stopped; caught by `runProgram`, never seen outside. */
export class StoppedProgram extends Error {
  override readonly name = 'StoppedProgram';
}

export const stop = (reason: string): StoppedProgram => new StoppedProgram(reason);

/** Counts the steps of one run. */
export interface Meter {
  /** Throws `StoppedProgram` once the limit is passed. */
  spend(steps: number): void;
  steps(): number;
}

export function meterOf(limit: number): Meter {
  let used = 0;
  return {
    spend(steps) {
      used += steps;
      if (used > limit) throw stop(`it was stopped after ${limit} steps`);
    },
    steps: () => Math.min(used, limit),
  };
}
