import { didYouMean, issueText, issueWords, PerwattError } from '@perwatt/core';
import type * as z from 'zod';

/** Values of a recipe's parameters, defaults filled in. */
export type RecipeParams = Readonly<Record<string, number | string | boolean>>;

/** All that changes while a recipe trains, by name: what a checkpoint holds. */
export type TrainerState = Readonly<Record<string, Float64Array | Float32Array | Uint32Array>>;

/** What one training step took, and what came of it. Counts are of this step alone. */
export interface StepRecord {
  /** From 1. */
  readonly step: number;
  /** Tokens that the trained policies produced in rollouts. */
  readonly tokens: number;
  /** Actions that the trained policies took in an environment. */
  readonly env_actions: number;
  /** Actions of a teacher or of a replay to where it takes over. */
  readonly privileged_actions: number;
  /** Rollouts: attempts, clones and teacher branches. */
  readonly calls: number;
  /** Tokens or actions spent on telling whether an output is right. */
  readonly verification_tokens: number;
  /** Updates that were kept, and those that were taken back. */
  readonly updates: number;
  readonly rejected_updates: number;
  /** Mean reward of the rollouts. */
  readonly reward: number;
}

/** An evaluation on items that training never sees; the same items, in the same order, every time. */
export interface EvalRecord {
  /** Training steps done before it. */
  readonly step: number;
  /** 0…1 by item. */
  readonly scores: Float64Array;
  /** Tokens or environment actions of the evaluation. */
  readonly tokens: number;
  readonly calls: number;
  /** Further figures of the recipe, by name. */
  readonly measures: Readonly<Record<string, number>>;
}

/** A recipe at work for one seed. */
export interface Trainer {
  readonly state: TrainerState;
  /** Steps done. */
  readonly step: number;
  /** Makes the next step. */
  train(): StepRecord;
  evaluate(): EvalRecord;
}

/** What a recipe says of itself: shown, and never more than its tests back. */
export interface RecipeClaim {
  readonly text: string;
  /** `supported`: its tests assert it. `not_supported`: this recipe can't show it, or shows the contrary. */
  readonly status: 'supported' | 'not_supported';
  /** Where it claims less than was set out, or by another rule: what was set out, what was seen, and why. */
  readonly note?: string;
}

/** A question to a trained policy, in words. */
export interface RecipeItem {
  readonly id: string;
  readonly prompt: string;
  readonly target: string;
}

/** What a policy answered. */
export interface PolicyAnswer {
  readonly text: string;
  /** What a vote compares; null where nothing was answered. */
  readonly answer: string | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** What one token adds to an answer. */
export interface PolicyPiece {
  /** May be empty. */
  readonly text: string;
  /** Whether the policy ends its answer with it. */
  readonly ends: boolean;
}

/** An answer while it is written. */
export interface PolicyWriting {
  readonly prompt_tokens: number;
  /** A piece a token, drawn when it is asked for. */
  readonly pieces: Iterable<PolicyPiece>;
}

/** Steps of a training that learn in a way of their own. */
export interface RecipePhase {
  readonly name: string;
  readonly steps: number;
}

/** A training procedure on a small real policy. */
export interface Recipe {
  readonly id: string;
  /** Goes up whenever the same seed could give other numbers. */
  readonly version: number;
  readonly title: string;
  readonly summary: string;
  /** Whether a seed takes minutes rather than seconds; such a recipe is trained only where it is named. */
  readonly slow?: boolean;
  /** The unit of the x axis that the recipe is about. */
  readonly effort: 'tokens' | 'env_actions';
  readonly claims: readonly RecipeClaim[];
  readonly parameters: readonly RecipeParameter[];
  /** Fills in defaults. Throws `INPUT_INVALID` for an unknown parameter or a wrong value. */
  parse(input: Readonly<Record<string, unknown>>): RecipeParams;
  /** Training steps in all, and steps between two evaluations. */
  length(params: RecipeParams): { readonly steps: number; readonly eval_every: number };
  /** Phases in order, which make up all steps; absent for a training of one. Each ends with an evaluation and a checkpoint that is kept. */
  readonly phases?: (params: RecipeParams) => readonly RecipePhase[];
  /** A trainer before its first step. The same parameters and seed give the same numbers. */
  start(params: RecipeParams, seed: number): Trainer;
  /** What a trained policy gives as a file of another format, with the file's name before `-<training>.json`; absent for most. */
  readonly model?: { readonly name: string; of(trainer: Trainer, seed: number): unknown };
  /** Items as text, and how a trainer's policy answers one; absent where the policy answers nothing. */
  readonly serve?: PolicyService;
}

/** How a trained policy is asked. */
export interface PolicyService {
  /** Whether attempts may vote: their answers differ, and none is known to be the right one beforehand. */
  readonly votes: boolean;
  /** Items that votes are counted on; 300 unless it says otherwise. */
  readonly vote_items?: number;
  items(seed: number, count: number): readonly RecipeItem[];
  /** Answers one prompt. Null for one that is no item of this recipe. */
  answer(trainer: Trainer, prompt: string, seed: number): PolicyAnswer | null;
  /** The same answer token by token; absent where a policy has none that could be read while it is written. */
  write?(trainer: Trainer, prompt: string, seed: number): PolicyWriting | null;
}

/** One parameter, for people. */
export interface RecipeParameter {
  readonly name: string;
  readonly default: number | string | boolean;
  readonly summary: string;
}

/** A recipe as its file defines it: with parameters of its own type. */
export interface RecipeSpec<S extends z.ZodObject, T extends Trainer>
  extends Pick<Recipe, 'id' | 'version' | 'title' | 'summary' | 'slow' | 'effort' | 'claims'> {
  readonly params: S;
  readonly length: (params: z.infer<S>) => { readonly steps: number; readonly eval_every: number };
  readonly phases?: (params: z.infer<S>) => readonly RecipePhase[];
  readonly start: (params: z.infer<S>, seed: number) => T;
  readonly model?: { readonly name: string; readonly of: (trainer: T, seed: number) => unknown };
  readonly serve?: Pick<PolicyService, 'votes' | 'vote_items'> & {
    readonly items: PolicyService['items'];
    readonly answer: (trainer: T, prompt: string, seed: number) => PolicyAnswer | null;
    readonly write?: (trainer: T, prompt: string, seed: number) => PolicyWriting | null;
  };
}

/** Makes a recipe of its definition: parameters are checked, rewards that are no numbers stop it. */
export function defineRecipe<S extends z.ZodObject, T extends Trainer>(spec: RecipeSpec<S, T>): Recipe {
  const { params, length, phases, start, serve, model, ...facts } = spec;
  const parse = (input: Readonly<Record<string, unknown>>) => parseParams(spec, input);
  const own = new WeakMap<Trainer, T>();
  return {
    ...facts,
    parameters: parametersOf(params),
    parse,
    length: (values) => length(params.parse(values) as z.infer<S>),
    ...(phases && { phases: (values: RecipeParams) => phases(params.parse(values) as z.infer<S>) }),
    start(values, seed) {
      const trainer = start(params.parse(values) as z.infer<S>, seed);
      const checked = checkedTrainer(spec.id, trainer);
      own.set(checked, trainer);
      return checked;
    },
    ...(model && {
      model: {
        name: model.name,
        of(trainer: Trainer, seed: number) {
          const inner = own.get(trainer);
          return inner === undefined ? null : model.of(inner, seed);
        },
      },
    }),
    ...(serve && { serve: serviceOf(serve, own) }),
  };
}

/** A policy's service to trainers as they are handed out. */
function serviceOf<T extends Trainer>(
  { votes, vote_items, items, answer, write }: NonNullable<RecipeSpec<z.ZodObject, T>['serve']>,
  own: WeakMap<Trainer, T>,
): PolicyService {
  const inner = <R>(trainer: Trainer, of: (inner: T) => R): R | null => {
    const found = own.get(trainer);
    return found === undefined ? null : of(found);
  };
  return {
    votes,
    ...(vote_items !== undefined && { vote_items }),
    items,
    answer: (trainer, prompt, seed) => inner(trainer, (found) => answer(found, prompt, seed)),
    ...(write && {
      write: (trainer: Trainer, prompt: string, seed: number) =>
        inner(trainer, (found) => write(found, prompt, seed)),
    }),
  };
}

function parseParams<S extends z.ZodObject, T extends Trainer>(
  { id, params }: RecipeSpec<S, T>,
  input: Readonly<Record<string, unknown>>,
): RecipeParams {
  const names = Object.keys(params.shape);
  const unknown = Object.keys(input).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new PerwattError(
      'INPUT_INVALID',
      `recipe ${id} has no parameter "${unknown}"${didYouMean(unknown, names)}`,
      {
        hint: `Name one of: ${names.join(', ')}.`,
      },
    );
  const result = params.safeParse(input, { error: issueWords, reportInput: true });
  if (result.success) return result.data as RecipeParams;
  const problems = result.error.issues.map((issue) => issueText(issue.path.join('.'), issue));
  throw new PerwattError('INPUT_INVALID', `recipe ${id}: ${problems.join('; ')}`);
}

function parametersOf(params: z.ZodObject): RecipeParameter[] {
  const defaults = params.parse({}) as RecipeParams;
  return Object.entries(params.shape).map(([name, schema]) => ({
    name,
    default: defaults[name] ?? '',
    summary: (schema as z.ZodType).description ?? '',
  }));
}

function checkedTrainer(id: string, trainer: Trainer): Trainer {
  return {
    state: trainer.state,
    get step() {
      return trainer.step;
    },
    train() {
      const record = trainer.train();
      if (!Number.isFinite(record.reward))
        throw new PerwattError(
          'INPUT_INVALID',
          `recipe ${id}: the mean reward of step ${record.step} is ${record.reward}`,
          {
            hint: 'Choose smaller steps or other parameters; training stops at a reward that is no number.',
          },
        );
      return record;
    },
    evaluate: () => trainer.evaluate(),
  };
}
