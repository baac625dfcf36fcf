import { createRng, PerwattError, seedFrom } from '@perwatt/core';
import * as z from 'zod';
import { fitLogistic, sigmoid } from './logistic.js';
import { thresholdFor } from './routing-curve.js';
import { RIGHT, type RouteOptions, type RoutingItem, usableItems } from './routing-items.js';

const finite = z.number();

/** A trained router as stored: everything that a strategy needs to route a prompt. */
export const RouterModel = z
  .strictObject({
    format: z.literal('perwatt-router/1'),
    kind: z.literal('logistic'),
    weak: z.string().min(1).describe('Model for items whose score lies below the threshold'),
    strong: z.string().min(1),
    feature_set: z
      .string()
      .nullable()
      .describe('Version of the features, such as `prompt/1`; null for features of the caller'),
    features: z.array(z.string().min(1)).min(1),
    mean: z.array(finite),
    scale: z.array(z.number().positive()).describe('Features are taken less their mean, over their scale'),
    weights: z.array(finite),
    intercept: finite,
    threshold: z.number().min(0).max(1).describe('The strong model is asked from this score on'),
    strong_share: z.number().gt(0).max(1).describe('Share that the threshold was set for'),
    trained: z.strictObject({
      items: z.int().min(0),
      positives: z.int().min(0),
      calibration_items: z.int().min(0),
      seed: z.int(),
      l2: z.number().min(0),
      converged: z.boolean(),
    }),
  })
  .superRefine(({ features, mean, scale, weights }, context) => {
    for (const [path, list] of Object.entries({ mean, scale, weights }))
      if (list.length !== features.length)
        context.addIssue({
          code: 'custom',
          path: [path],
          message: `has ${list.length} values for ${features.length} features`,
        });
  });

export type RouterModel = z.infer<typeof RouterModel>;

/** Reads a stored router. Throws `INPUT_INVALID`, naming file and fields. */
export function parseRouterModel(text: string, file: string): RouterModel {
  const result = RouterModel.safeParse(jsonOf(text, file));
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the file'}: ${message}`,
  );
  throw new PerwattError('INPUT_INVALID', `router file ${file}: ${problems.join('; ')}`);
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PerwattError('INPUT_INVALID', `router file ${file} is no JSON`, { cause });
  }
}

/** What a router learns from. */
export interface RouterExample {
  readonly item_id: string;
  readonly features: readonly number[];
  /** Whether the strong model was right where the weak one was wrong. */
  readonly needs_strong: boolean;
}

/** Examples of all items that both models were scored on and that have features. */
export function routerExamples(
  items: readonly RoutingItem[],
  options: RouteOptions & { readonly weak: string },
  featuresOf: (item_id: string) => readonly number[] | null,
): RouterExample[] {
  const pair = { ...options, models: [options.weak, options.strong] };
  return usableItems(items, pair).flatMap(({ item_id, score }) => {
    const features = featuresOf(item_id);
    const right = (model: string) => (score[model] ?? 0) >= RIGHT;
    return features === null
      ? []
      : [{ item_id, features, needs_strong: right(options.strong) && !right(options.weak) }];
  });
}

/** Splits items into two parts by a seed; items of one id always fall on one side, whatever their order. */
export function splitItems<I extends { readonly item_id: string }>(
  items: readonly I[],
  { seed, share }: { readonly seed: number; readonly share: number },
): { readonly first: I[]; readonly second: I[] } {
  const isFirst = ({ item_id }: I) => createRng(seedFrom(seed, 'router-split', item_id))() < share;
  return { first: items.filter(isFirst), second: items.filter((item) => !isFirst(item)) };
}

interface FitOptions {
  readonly weak: string;
  readonly strong: string;
  readonly features: readonly string[];
  readonly feature_set?: string | null;
  /** Share of the items that the strong model shall get, (0, 1]. */
  readonly strong_share: number;
  readonly seed: number;
  /** Share of the examples that the threshold is set on. Default 0.3; at least one falls to it. */
  readonly calibration_share?: number;
  readonly l2?: number;
}

/**
 * Trains a logistic router on standardised features and sets its threshold on examples held back from training. Throws
 * `INPUT_INVALID` where there is nothing to learn: no examples, one kind of label, or features that are no numbers.
 */
export function fitRouter(examples: readonly RouterExample[], options: FitOptions): RouterModel {
  const { seed, l2 = 1 } = options;
  const { first: training, second: calibration } = splitItems(inOrder(examples), {
    seed,
    share: 1 - (options.calibration_share ?? 0.3),
  });
  const scaling = standardise(training.map(({ features }) => features));
  const fit = fitLogistic(
    training.map(({ features }) => scaled(features, scaling)),
    training.map(({ needs_strong }) => needs_strong),
    { l2 },
  );
  if (fit === null || fit.weights.length !== options.features.length) throw unlearnable(training, options);
  const base = {
    format: 'perwatt-router/1' as const,
    kind: 'logistic' as const,
    weak: options.weak,
    strong: options.strong,
    feature_set: options.feature_set ?? null,
    features: [...options.features],
    ...scaling,
    weights: [...fit.weights],
    intercept: fit.intercept,
    strong_share: options.strong_share,
    trained: {
      items: training.length,
      positives: training.filter(({ needs_strong }) => needs_strong).length,
      calibration_items: calibration.length,
      seed,
      l2,
      converged: fit.converged,
    },
  };
  const scores = calibration.map(({ features }) => routerScore(base, features));
  const threshold = thresholdFor(scores, options.strong_share);
  if (threshold === null)
    throw new PerwattError(
      'INPUT_INVALID',
      `no threshold from ${scores.length} held-back examples for a strong share of ${options.strong_share}`,
    );
  return { ...base, threshold };
}

const inOrder = (examples: readonly RouterExample[]): RouterExample[] =>
  [...examples].sort((a, b) => (a.item_id < b.item_id ? -1 : 1));

function unlearnable(training: readonly RouterExample[], { features }: FitOptions): PerwattError {
  const positives = training.filter(({ needs_strong }) => needs_strong).length;
  return new PerwattError(
    'INPUT_INVALID',
    `a router can't be trained on ${training.length} examples of ${features.length} features, ${positives} of which need the strong model`,
    { hint: 'Give examples of both kinds, each with a finite number for every feature.' },
  );
}

type Scored = Pick<RouterModel, 'mean' | 'scale' | 'weights' | 'intercept'>;

/** Chance, 0…1, that the strong model is needed. NaN for features of the wrong number. */
export function routerScore(model: Scored, features: readonly number[]): number {
  if (features.length !== model.weights.length) return Number.NaN;
  const values = scaled(features, model);
  return sigmoid(model.weights.reduce((sum, weight, i) => sum + weight * (values[i] ?? 0), model.intercept));
}

type Scaling = Pick<RouterModel, 'mean' | 'scale'>;

const scaled = (features: readonly number[], { mean, scale }: Scaling): number[] =>
  features.map((value, i) => (value - (mean[i] ?? 0)) / (scale[i] ?? 1));

/** Mean and standard deviation of each feature; 1 for a feature that never changes. */
function standardise(rows: readonly (readonly number[])[]): Scaling {
  const width = rows[0]?.length ?? 0;
  const columns = Array.from({ length: width }, (_, j) => rows.map((row) => row[j] ?? 0));
  const mean = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / column.length);
  const scale = columns.map((column, j) => {
    const square = column.reduce((sum, value) => sum + (value - (mean[j] ?? 0)) ** 2, 0) / column.length;
    return square > 0 ? Math.sqrt(square) : 1;
  });
  return { mean, scale };
}
