import { didYouMean, PerwattError } from '@perwatt/core';
import { multiagentFt, singleFt, star } from './multiagent/multiagent-ft.js';
import { grpo, ovcsd, unverifiedDistill } from './ovcsd/ovcsd.js';
import type { Recipe } from './recipe.js';
import { routerFit } from './router/router-fit.js';
import { sat } from './sat/sat.js';
import { absoluteZero } from './self-play/absolute-zero.js';
import { selfcest } from './selfcest/selfcest.js';
import { tinyTransformer } from './transformer/tiny-transformer.js';
import { dsmVerifier } from './verifier/dsm-verifier.js';

/** Every recipe, baselines after the recipe that they are compared with. */
export const recipes: readonly Recipe[] = [
  selfcest,
  sat,
  ovcsd,
  grpo,
  unverifiedDistill,
  multiagentFt,
  singleFt,
  star,
  dsmVerifier,
  absoluteZero,
  routerFit,
  tinyTransformer,
];

/** The recipe of an id. Throws `RECIPE_UNKNOWN` with what is near. */
export function recipeById(id: string): Recipe {
  const found = recipes.find((recipe) => recipe.id === id);
  if (found !== undefined) return found;
  const known = recipes.map((recipe) => recipe.id);
  throw new PerwattError('RECIPE_UNKNOWN', `there is no recipe "${id}"${didYouMean(id, known)}`);
}
