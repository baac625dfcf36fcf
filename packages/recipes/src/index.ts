export {
  CHECKPOINT_FORMAT,
  type Checkpoint,
  type CheckpointOf,
  parseCheckpoint,
  restoreTrainer,
  saveCheckpoint,
} from './checkpoint.js';
export { createRandom, type Random } from './numeric/random.js';
export { type PolicyEndpoint, policyAddress, policyClient, policySha256 } from './policy-client.js';
export {
  defineRecipe,
  type EvalRecord,
  type PolicyAnswer,
  type PolicyPiece,
  type PolicyService,
  type PolicyWriting,
  type Recipe,
  type RecipeClaim,
  type RecipeItem,
  type RecipeParameter,
  type RecipeParams,
  type RecipePhase,
  type RecipeSpec,
  type StepRecord,
  type Trainer,
  type TrainerState,
} from './recipe.js';
export { recipeIndex, recipePage } from './recipe-page.js';
export { recipeById, recipes } from './recipes.js';
export { drawQuery, type RouterQuery, routerLogit } from './router/queries.js';
export { routerPrompt } from './router/router-model.js';
export { phaseEnds, type SeedTraining, type TrainEvent, trainSeed } from './train-seed.js';
