import { didYouMean, type Grader, PerwattError } from '@perwatt/core';
import { choice } from './choice.js';
import { code } from './code.js';
import { emF1 } from './em-f1.js';
import { exact } from './exact.js';
import { judge } from './judge.js';
import { literal } from './literal.js';
import { math } from './math.js';
import { numeric } from './numeric.js';
import { plan } from './plan.js';
import { puzzleCells } from './puzzle-cells.js';
import { verifier } from './verifier.js';

const all: readonly Grader[] = [
  choice,
  code,
  emF1,
  exact,
  judge,
  literal,
  math,
  numeric,
  plan,
  puzzleCells,
  verifier,
];

/** Every grader there is, by name. */
export const graders = (): readonly Grader[] => all;

/** The grader of a name. Throws `GRADER_UNKNOWN` with the nearest name. */
export function graderById(id: string): Grader {
  const grader = all.find((g) => g.id === id);
  if (grader !== undefined) return grader;
  const names = all.map((g) => g.id);
  throw new PerwattError('GRADER_UNKNOWN', `unknown grader "${id}"${didYouMean(id, names)}`);
}
