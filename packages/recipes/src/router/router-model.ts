import { routerLogit, strongestShare } from './queries.js';
import type { RouterTrainer } from './router-fit.js';

/** Names of the features that prompts are told by, version `prompt/1`. */
const promptFeatures = [
  'log_characters',
  'log_words',
  'mean_word_length',
  'digit_share',
  'upper_case_share',
  'symbol_share',
  'log_lines',
  'log_question_marks',
  'option_lines',
  'has_code',
] as const;

/** Where the toy's difficulty, domain and distractor stand in a prompt. */
const carriers = ['log_characters', 'has_code', 'log_question_marks'] as const;

/** A prompt is e^(base + slope · difficulty) characters long. */
const BASE = 9;
const SLOPE = 1;

/** A distractor is log(1 + question marks) less this. */
const MARKS = 4;

const marksOf = (distractor: number): number => Math.max(0, Math.round(Math.expm1(MARKS + distractor)));

/**
 * A prompt that shows a query's features to a reader of prompts: difficulty as its length, the domain as code in it, the
 * distractor as question marks.
 */
export function routerPrompt([difficulty, domain, distractor]: readonly [number, number, number]): string {
  const head = `${domain === 1 ? '```' : '...'}${'?'.repeat(marksOf(distractor))}`;
  const length = Math.round(Math.expm1(BASE + SLOPE * difficulty));
  return head.padEnd(Math.max(head.length, length), 'x');
}

/** A fitted router as `route_learned` reads it: for prompts of `routerPrompt`, set to a share of strong calls. */
export function routerModelOf(
  trainer: RouterTrainer,
  {
    weak,
    strong,
    strong_share,
    seed,
  }: {
    readonly weak: string;
    readonly strong: string;
    readonly strong_share: number;
    readonly seed: number;
  },
): Readonly<Record<string, unknown>> {
  const { weights, test, params, positives } = trainer;
  const scores = Float64Array.from(test, (query) => routerLogit(weights, query));
  const [intercept = 0, difficulty = 0, domain = 0, distractor = 0] = weights;
  const own = new Map<string, number>([
    [carriers[0], difficulty / SLOPE],
    [carriers[1], domain],
    [carriers[2], distractor],
  ]);
  const means = new Map<string, number>([
    [carriers[0], BASE],
    [carriers[2], MARKS],
  ]);
  return {
    format: 'perwatt-router/1',
    kind: 'logistic',
    weak,
    strong,
    feature_set: 'prompt/1',
    features: [...promptFeatures],
    mean: promptFeatures.map((name) => means.get(name) ?? 0),
    scale: promptFeatures.map(() => 1),
    weights: promptFeatures.map((name) => own.get(name) ?? 0),
    intercept,
    threshold: 1 / (1 + Math.exp(-strongestShare(scores, strong_share))),
    strong_share,
    trained: {
      items: params.queries,
      positives,
      calibration_items: test.length,
      seed,
      l2: 0,
      converged: true,
    },
  };
}
