import type { Io } from './io.js';
import type { SeedProgress } from './train-session.js';

/** Shows how seeds fare: one line redrawn in place on a terminal, a line at each finished seed elsewhere. */
export interface TrainDisplay {
  tell(progress: SeedProgress): void;
  stop(): void;
}

const REDRAW_MS = 500;

const accuracyText = (accuracy: number | null): string =>
  accuracy === null ? '' : `, accuracy ${(100 * accuracy).toFixed(1)} %`;

const textOf = ({ training, seed, step, steps, accuracy }: SeedProgress): string =>
  `${training} seed ${seed}: step ${step} of ${steps}${accuracyText(accuracy)}`;

/** Starts a display. Quiet ones show nothing. */
export function startTrainDisplay(io: Io, quiet: boolean): TrainDisplay {
  if (quiet) return { tell() {}, stop() {} };
  const { columns } = io;
  const told = new Map<string, SeedProgress>();
  const ended = new Set<string>();
  const draw = () => {
    const open = [...told.values()].filter(({ step, steps }) => step < steps);
    const line = open.map(textOf).join(' · ');
    if (columns !== null) io.draw(`\r\u001b[2K${line.slice(0, columns - 1)}`);
  };
  const timer = columns === null ? null : setInterval(draw, REDRAW_MS);
  return {
    tell(progress) {
      const key = `${progress.training} ${progress.seed}`;
      told.set(key, progress);
      if (progress.evaluated !== progress.steps || ended.has(key)) return;
      ended.add(key);
      if (columns !== null) io.draw('\r\u001b[2K');
      io.printError(textOf(progress));
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      if (columns !== null) io.draw('\r\u001b[2K');
    },
  };
}
