import { opt, req } from './column.js';

/** One row per training step: what it took, and when. A step that a crash undid and a resume made again has two rows. */
export const train_steps = {
  run_id: req('name', '', 'Training run the step belongs to.'),
  training: req('name', '', 'Training within the run: a recipe with one choice of parameters.'),
  recipe: req('name', '', 'Recipe that was trained.'),
  seed: req('uint32', '', 'Seed of the training.'),
  sitting: req('uint16', '', 'Session of work on the run, from 0; a resume opens the next one.'),
  step: req('uint32', '', 'Step within its seed, from 1.'),
  tokens: req('uint32', '', 'What the trained policies produced in rollouts, tokens.'),
  env_actions: req('uint32', '', 'Actions that the trained policies took in an environment.'),
  privileged_actions: req('uint32', '', 'Actions of a teacher, and of replays to where it took over.'),
  calls: req('uint32', '', 'Rollouts: attempts, clones and teacher branches.'),
  verification_tokens: req(
    'uint32',
    'tokens',
    'What was spent on telling whether outputs are right, tokens.',
  ),
  updates: req('uint32', '', 'Updates that were kept.'),
  rejected_updates: req('uint32', '', 'Updates that were taken back.'),
  reward: req('float64', '', 'Mean reward of the rollouts.'),
  start_ns: req('int64', 'ns', 'When the step began.'),
  end_ns: req('int64', 'ns', 'When it ended.'),
  cpu_ns: opt('float64', 'ns', 'CPU time of its thread; null where the system does not tell.'),
} as const;

/** One row per evaluation of a policy on items that training never sees. Its energy is no part of the training's. */
export const train_evals = {
  run_id: req('name', '', 'Training run the evaluation belongs to.'),
  training: req('name', '', 'Training within the run.'),
  recipe: req('name', '', 'Recipe that was trained.'),
  seed: req('uint32', '', 'Seed of the training.'),
  sitting: req('uint16', '', 'Session of work on the run.'),
  step: req('uint32', '', 'Steps done before it; 0 for the policy before training.'),
  accuracy: req('float64', '', 'Mean score of the items, 0…1.'),
  items: req('uint32', '', 'Items evaluated.'),
  scores: req('list_float64', '', 'Score by item, 0…1; the same items in the same order every time.'),
  tokens: req('uint32', '', 'Tokens or actions of the evaluation.'),
  calls: req('uint32', '', 'Calls of the evaluation.'),
  measures: req('text', '', 'Further figures of the recipe, as a JSON object.'),
  start_ns: req('int64', 'ns', 'When it began.'),
  end_ns: req('int64', 'ns', 'When it ended.'),
  cpu_ns: opt('float64', 'ns', 'CPU time of its thread; null where the system does not tell.'),
} as const;
