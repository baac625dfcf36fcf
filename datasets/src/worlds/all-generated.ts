import type { Loader } from '../dataset.js';
import { blocksworld } from './blocksworld/blocksworld.js';
import { detective } from './detective/detective.js';
import { guessNumber } from './guess-number/guess-number.js';
import { household } from './household/household.js';
import { multiHop } from './multi-hop/multi-hop.js';
import { codeInput, codeOutput, codeProgram } from './program/program-sets.js';
import { sharedPrefix } from './shared-prefix/shared-prefix.js';
import { shop } from './shop/shop.js';
import { zebra } from './zebra/zebra.js';

/** Every generated data set beside the two that need no world, in the order of tables. */
export const allGenerated: readonly Loader[] = [
  zebra,
  multiHop,
  blocksworld,
  household,
  shop,
  guessNumber,
  detective,
  codeOutput,
  codeInput,
  codeProgram,
  sharedPrefix,
];
