import { type DatasetEntry, didYouMean, type LoadEntry, type MatrixFile, type Simulate } from '@perwatt/core';

interface Problem {
  readonly path: PropertyKey[];
  readonly text: string;
}

type Section = 'models' | 'accelerators' | 'datasets';

/** A name that needs a law, and where it stands. */
interface Wanted {
  readonly name: string;
  readonly path: PropertyKey[];
}

const lawName = ({ id, kind }: DatasetEntry): string => kind ?? id;

/** The names of a matrix that its laws are found by. */
function wantedLaws({ axes, models = [] }: MatrixFile): Readonly<Record<Section, readonly Wanted[]>> {
  const places = (names: readonly string[], from: readonly PropertyKey[]): Wanted[] =>
    names.map((name, index) => ({ name, path: [...from, index] }));
  return {
    models: [
      ...places(
        axes.model.map(({ id }) => id),
        ['axes', 'model'],
      ),
      ...places(
        models.map(({ id }) => id),
        ['models'],
      ),
    ],
    accelerators: places(
      axes.accelerator.map(({ id }) => id),
      ['axes', 'accelerator'],
    ),
    datasets: places(axes.dataset.map(lawName), ['axes', 'dataset']),
  };
}

function* missing(laws: Simulate, wanted: ReturnType<typeof wantedLaws>): Generator<Problem> {
  for (const section of ['models', 'accelerators', 'datasets'] as const) {
    const known = Object.keys(laws[section]);
    const names = wanted[section].map(({ name }) => name);
    for (const { name, path } of wanted[section]) {
      if (!known.includes(name))
        yield { path, text: `simulate.${section} has no "${name}"${didYouMean(name, known)}` };
    }
    for (const name of known) {
      if (!names.includes(name))
        yield {
          path: ['simulate', section, name],
          text: `simulate.${section}.${name} is the law of nothing on an axis${didYouMean(name, names)}`,
        };
    }
  }
}

const overlaps = ({ concurrency, arrivals }: LoadEntry): boolean => concurrency > 1 || arrivals !== undefined;

/** What a simulated call leaves out: the times of tokens after the first. */
function* sharedByTokens({ axes, energy }: MatrixFile): Generator<Problem> {
  if (energy?.attribution !== 'token_share' || !axes.load.some(overlaps)) return;
  yield {
    path: ['energy', 'attribution'],
    text: 'energy.attribution: simulated calls tell when their first token came and no other; share by time where they overlap',
  };
}

/** Keys of a model that something real would be asked by. */
const real = ['path', 'endpoint', 'engine'] as const;

function* realModels({ axes, models = [] }: MatrixFile): Generator<Problem> {
  const placed = [
    ...axes.model.map((model, index) => ({
      model,
      path: ['axes', 'model', index],
      at: `axes.model[${index}]`,
    })),
    ...models.map((model, index) => ({ model, path: ['models', index], at: `models[${index}]` })),
  ];
  for (const { model, path, at } of placed) {
    for (const key of real) {
      if (model[key] !== undefined)
        yield { path: [...path, key], text: `${at}.${key}: a matrix with \`simulate\` asks nothing real` };
    }
  }
}

/**
 * What keeps a matrix with `simulate` from being one: names on axes without a law, laws of names that are nowhere, models that are
 * real, and energy shared by tokens that have no times. Nothing for a matrix without.
 */
export function lawChecks(matrix: MatrixFile): Problem[] {
  const { simulate } = matrix;
  if (simulate === undefined) return [];
  return [...missing(simulate, wantedLaws(matrix)), ...sharedByTokens(matrix), ...realModels(matrix)];
}
