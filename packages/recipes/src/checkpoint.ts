import { PerwattError } from '@perwatt/core';
import * as z from 'zod';
import type { Recipe, RecipeParams, Trainer, TrainerState } from './recipe.js';

/** Format of checkpoint files. */
export const CHECKPOINT_FORMAT = 'perwatt-checkpoint/1';

const Stored = z.strictObject({
  type: z.enum(['f64', 'f32', 'u32']),
  length: z.int().min(0),
  base64: z.string(),
});

const CheckpointFile = z.strictObject({
  format: z.literal(CHECKPOINT_FORMAT),
  recipe: z.string(),
  version: z.int(),
  params: z.record(z.string(), z.union([z.number(), z.string(), z.boolean()])),
  seed: z.int().min(0),
  step: z.int().min(0),
  state: z.record(z.string(), Stored),
});

/** A trainer at rest: all that it takes to go on exactly as it would have, or to ask its policy. */
export type Checkpoint = z.infer<typeof CheckpointFile>;

/** What a checkpoint is of. */
export interface CheckpointOf {
  readonly recipe: Recipe;
  readonly params: RecipeParams;
  readonly seed: number;
}

const bytesOf = (array: TrainerState[string]) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

const typeOf = (array: TrainerState[string]): z.infer<typeof Stored>['type'] => {
  if (array instanceof Float64Array) return 'f64';
  return array instanceof Float32Array ? 'f32' : 'u32';
};

/** Copies a trainer's state. Numbers are kept bit by bit, little-endian. */
export function saveCheckpoint(trainer: Trainer, { recipe, params, seed }: CheckpointOf): Checkpoint {
  const state = Object.entries(trainer.state).map(([name, array]): [string, z.infer<typeof Stored>] => [
    name,
    {
      type: typeOf(array),
      length: array.length,
      base64: bytesOf(array),
    },
  ]);
  return {
    format: CHECKPOINT_FORMAT,
    recipe: recipe.id,
    version: recipe.version,
    params: { ...params },
    seed,
    step: trainer.step,
    state: Object.fromEntries(state),
  };
}

/**
 * A trainer as it stood when the checkpoint was made. Throws `CHECKPOINT_INVALID` for one of another recipe or version,
 * or whose state does not fit.
 */
export function restoreTrainer(recipe: Recipe, checkpoint: Checkpoint): Trainer {
  if (checkpoint.recipe !== recipe.id)
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `the checkpoint is of recipe ${checkpoint.recipe}, not ${recipe.id}`,
    );
  if (checkpoint.version !== recipe.version)
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `the checkpoint is of version ${checkpoint.version} of recipe ${recipe.id}, this is version ${recipe.version}`,
    );
  const trainer = recipe.start(recipe.parse(checkpoint.params), checkpoint.seed);
  const [own, theirs] = [Object.keys(trainer.state), Object.keys(checkpoint.state)];
  const odd = [
    ...own.filter((name) => !theirs.includes(name)),
    ...theirs.filter((name) => !own.includes(name)),
  ];
  if (odd.length > 0)
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `the checkpoint of ${recipe.id} does not fit: "${odd[0]}" differs`,
    );
  for (const [name, array] of Object.entries(trainer.state))
    fill(array, { name, stored: checkpoint.state[name] });
  return trainer;
}

interface Filling {
  readonly name: string;
  readonly stored: z.infer<typeof Stored> | undefined;
}

function fill(array: TrainerState[string], { name, stored }: Filling): void {
  const type = typeOf(array);
  const bytes = Buffer.from(stored?.base64 ?? '', 'base64');
  if (stored?.type !== type || stored.length !== array.length || bytes.length !== array.byteLength)
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `the checkpoint does not fit: "${name}" should hold ${array.length} numbers`,
    );
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes);
  if (array.some((value) => Number.isNaN(value)))
    throw new PerwattError(
      'CHECKPOINT_INVALID',
      `the checkpoint holds a value in "${name}" that is no number`,
    );
}

/** Reads a checkpoint's text. Throws `CHECKPOINT_INVALID`, naming the file and what is wrong. */
export function parseCheckpoint(text: string, file: string): Checkpoint {
  const result = CheckpointFile.safeParse(jsonOf(text, file));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') || 'the whole';
  throw new PerwattError(
    'CHECKPOINT_INVALID',
    `checkpoint ${file}: ${place}: ${issue?.message ?? 'not valid'}`,
  );
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PerwattError('CHECKPOINT_INVALID', `checkpoint ${file} is no JSON`, { cause });
  }
}
