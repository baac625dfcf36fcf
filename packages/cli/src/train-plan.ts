import { basename } from 'node:path';
import { type MatrixFile, PerwattError } from '@perwatt/core';
import { type Recipe, recipeById } from '@perwatt/recipes';
import type { TrainingFacts } from '@perwatt/records';

/** What is asked to be trained. */
export interface TrainingAsk {
  readonly recipe: string;
  /** Its name in the run; default: the recipe's id. */
  readonly id?: string | undefined;
  readonly seeds: number;
  readonly set: Readonly<Record<string, unknown>>;
}

/** One training of a run, checked. Throws `RECIPE_UNKNOWN`, and `INPUT_INVALID` for parameters that it doesn't have. */
export function trainingFacts({ recipe: id, id: name, seeds, set }: TrainingAsk): TrainingFacts {
  const recipe = recipeById(id);
  const params = recipe.parse(set);
  return {
    name: name ?? recipe.id,
    ...aboutRecipe(recipe),
    params,
    seeds: Array.from({ length: seeds }, (_, seed) => seed),
    ...recipe.length(params),
    ...(recipe.phases && { phases: recipe.phases(params) }),
  };
}

const aboutRecipe = ({ id, version, title, effort, claims }: Recipe) => ({
  recipe: id,
  version,
  title,
  effort,
  claims,
});

/** The trainings of a matrix. Throws `MATRIX_INVALID` when it has none or two of one name. */
export function trainingsOf({ train, name }: MatrixFile): TrainingFacts[] {
  if (train === undefined)
    throw new PerwattError('MATRIX_INVALID', `matrix ${name} has no \`train\` section`, {
      hint: 'Add one, or name a recipe that `perwatt train list` shows.',
    });
  const trainings = train.map(trainingFacts);
  const names = trainings.map((own) => own.name);
  const twice = names.find((own, i) => names.indexOf(own) !== i);
  if (twice === undefined) return trainings;
  throw new PerwattError('MATRIX_INVALID', `matrix ${name} trains "${twice}" twice`, {
    hint: 'Give each training an `id` of its own.',
  });
}

/** `key=value` texts as parameters: numbers where they are numbers, else words. */
export function parseSets(texts: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    texts.map((text) => {
      const cut = text.indexOf('=');
      if (cut < 1) throw new PerwattError('USAGE', `--set ${text} is not key=value`);
      const value = text.slice(cut + 1);
      const number = value.trim() === '' ? Number.NaN : Number(value);
      return [text.slice(0, cut), value === 'NaN' || !Number.isNaN(number) ? number : value];
    }),
  );
}

/** Whether an argument names a file rather than a recipe. */
export const isMatrixPath = (text: string): boolean => /\.ya?ml$/i.test(basename(text));
