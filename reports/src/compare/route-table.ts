import { PerwattError, seedFrom } from '@perwatt/core';
import {
  accurateRouting,
  type Coverage,
  type CurveMetrics,
  coverage,
  curveMetrics,
  fitRouter,
  oracleRouting,
  PROMPT_FEATURES,
  promptFeatureNames,
  promptFeatures,
  type RankedItem,
  type Resource,
  type RouteOptions,
  type RouteResult,
  type RouterModel,
  type RoutingData,
  type RoutingItem,
  randomRouting,
  routerExamples,
  routerScore,
  routingCurve,
  savingWithin,
  singleRouting,
  splitItems,
  thresholdFor,
  thresholdRouting,
  usableItems,
} from '@perwatt/metrics';
import type { RouteGroup } from './route-data.js';

/** Routers that can be asked for. */
export const routerKinds = ['oracle', 'accurate', 'random', 'threshold', 'learned'] as const;
/** One of `routerKinds`. */
export type RouterKind = (typeof routerKinds)[number];

export interface RouteQuestion {
  readonly resource: Resource;
  readonly routers: readonly RouterKind[];
  /** Accuracy of the accurate router, 0…1. */
  readonly accuracy: number;
  /** Share of items for the strong model of random, threshold and learned routers. */
  readonly strong_share: number;
  /** Default: the model that is right most often, the dearer on ties. */
  readonly strong?: string;
  /** Default: the cheapest of the others. */
  readonly weak?: string;
  readonly seed: number;
}

/** A learned router with what it amounts to on items that it did not learn from. */
export interface LearnedRouter {
  readonly model: RouterModel;
  readonly curve: CurveMetrics;
  /** The most it saves at one point of accuracy less than the strong model. */
  readonly within_one_point: { readonly saving: number; readonly quality: number } | null;
  readonly training_items: number;
  readonly held_out_items: number;
}

/** What routing would save in one group of cells. */
export interface RouteTable {
  readonly group: string;
  readonly models: readonly string[];
  readonly strong: string;
  readonly weak: string;
  readonly resource: Resource;
  readonly chosen_repeat: number;
  /** Null where there is one repeat only, which flatters. */
  readonly scored_repeat: number | null;
  readonly coverage: Coverage;
  readonly rows: readonly RouteResult[];
  readonly learned: LearnedRouter | null;
  readonly notes: readonly string[];
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

interface Ends {
  readonly strong: string;
  readonly weak: string;
}

/** Strong and weak model of a set. Throws `INPUT_INVALID` for names that aren't in it, or where nothing is usable. */
function endsOf(group: RouteGroup, items: readonly RoutingItem[], question: RouteQuestion): Ends {
  const { models } = group;
  for (const name of [question.strong, question.weak]) {
    if (name !== undefined && !models.includes(name))
      throw new PerwattError('INPUT_INVALID', `no model "${name}", only ${models.join(', ')}`);
  }
  const usable = usableItems(items, { models, strong: models[0] ?? '', resource: question.resource });
  if (usable.length === 0) {
    const why =
      group.gaps.length > 0 ? group.gaps.join('; ') : 'no item was scored and metered for all of them';
    throw new PerwattError(
      'INPUT_INVALID',
      `no item has ${question.resource} of ${models.join(', ')}: ${why}`,
      {
        hint: 'Choose another `--resource`, name fewer `--models`, or give prices or catalogue entries of your own.',
      },
    );
  }
  const score = (model: string) => meanOf(usable.map((item) => item.score[model] ?? 0));
  const spent = (model: string) => meanOf(usable.map((item) => item.spent[model] ?? 0));
  const strong =
    question.strong ?? [...models].sort((a, b) => score(b) - score(a) || spent(b) - spent(a))[0] ?? '';
  const weak =
    question.weak ?? models.filter((model) => model !== strong).sort((a, b) => spent(a) - spent(b))[0] ?? '';
  if (weak === strong) throw new PerwattError('INPUT_INVALID', `"${strong}" cannot be both strong and weak`);
  return { strong, weak };
}

interface Setup {
  readonly group: RouteGroup;
  readonly question: RouteQuestion;
  readonly options: RouteOptions;
  readonly ends: Ends;
  readonly data: RoutingData;
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;

/** A router that sends long prompts to the strong model. */
function byLength({ group, question, options, ends, data }: Setup): RouteResult[] {
  const scores = new Map([...group.prompts].map(([id, prompt]) => [id, Math.log1p(prompt.length)]));
  const threshold = thresholdFor([...scores.values()], question.strong_share);
  if (threshold === null) return [];
  const name = `threshold on prompt length, ${percent(question.strong_share)} strong`;
  return [thresholdRouting(data, options, { name, weak: ends.weak, scores, threshold })];
}

const plain: Readonly<Record<Exclude<RouterKind, 'learned'>, (setup: Setup) => RouteResult[]>> = {
  oracle: ({ data, options }) => [oracleRouting(data, options)],
  accurate: ({ data, options, question: { accuracy } }) =>
    (['to_strong', 'to_cheapest', 'to_others'] as const).map((misroute) =>
      accurateRouting(data, options, { accuracy, misroute }),
    ),
  random: ({ data, options, ends, question: { strong_share } }) => [
    randomRouting(data, options, { weak: ends.weak, strong_share }),
  ],
  threshold: byLength,
};

/** Items that both models were scored and metered on, as a ranking sees them. */
function ranked(
  items: readonly RoutingItem[],
  setup: Setup,
  scores: ReadonlyMap<string, number>,
): RankedItem[] {
  const { strong, weak } = setup.ends;
  return usableItems(items, { ...setup.options, models: [weak, strong] }).flatMap(
    ({ item_id, score, spent }) => {
      const own = scores.get(item_id);
      if (own === undefined) return [];
      return [
        {
          score: own,
          weak_score: score[weak] ?? 0,
          strong_score: score[strong] ?? 0,
          weak_spent: spent[weak] ?? 0,
          strong_spent: spent[strong] ?? 0,
        },
      ];
    },
  );
}

/** Learns on half of the items and is scored on the other half. Throws `INPUT_INVALID` where there is nothing to learn. */
function learn(setup: Setup): { row: RouteResult; learned: LearnedRouter } {
  const { group, question, options, ends, data } = setup;
  const { first, second } = splitItems(data.chosen, {
    seed: seedFrom(question.seed, 'held-out'),
    share: 0.5,
  });
  const featuresOf = (id: string): number[] | null => {
    const prompt = group.prompts.get(id);
    return prompt === undefined ? null : promptFeatures(prompt);
  };
  const examples = routerExamples(first, { ...options, weak: ends.weak }, featuresOf);
  const model = fitRouter(examples, {
    ...ends,
    features: promptFeatureNames,
    feature_set: PROMPT_FEATURES,
    strong_share: question.strong_share,
    seed: question.seed,
  });
  const scores = new Map<string, number>();
  for (const { item_id } of second) {
    const features = featuresOf(item_id);
    if (features !== null) scores.set(item_id, routerScore(model, features));
  }
  const held = new Set(second.map(({ item_id }) => item_id));
  const scored = (data.scored ?? data.chosen).filter(({ item_id }) => held.has(item_id));
  const pair = { ...options, models: [ends.weak, ends.strong] };
  const row = thresholdRouting({ ...data, chosen: second, scored }, pair, {
    name: `learned from prompts, ${percent(question.strong_share)} strong`,
    weak: ends.weak,
    scores,
    threshold: model.threshold,
  });
  const points = routingCurve(ranked(scored, setup, scores));
  const learned = {
    model,
    curve: curveMetrics(points),
    within_one_point: savingWithin(points, 0.01),
    training_items: examples.length,
    held_out_items: scored.length,
  };
  return { row, learned };
}

function learnIfPossible(setup: Setup): { row: RouteResult; learned: LearnedRouter } | string {
  try {
    return learn(setup);
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'INPUT_INVALID')
      return `no learned router: ${error.message}`;
    throw error;
  }
}

function notesOf(
  { group, question, data }: Setup,
  rows: readonly RouteResult[],
  learned: string | null,
): string[] {
  const shared = group.energy_methods.filter((method) => method !== 'isolated' && method !== 'none');
  const left = Math.max(
    0,
    ...rows.filter(({ router }) => !router.startsWith('learned')).map(({ left_out }) => left_out),
  );
  return [
    data.scored === undefined
      ? 'chosen and scored on the same repeat: optimistic; two repeats tell more'
      : null,
    question.resource === 'energy_j'
      ? shared.length > 0
        ? `energy of a query is allocated (${shared.join(', ')}), not measured by itself`
        : 'energy of a query is measured by itself'
      : null,
    question.resource === 'cost_usd' ? 'cost by the price file: the middle of what providers ask' : null,
    left > 0 ? `${left} items left out: not scored or not metered for every model` : null,
    learned,
  ].filter((note) => note !== null);
}

/**
 * Savings of routers within one group, each with the accuracy it comes at: routes are chosen by the first repeat and
 * scored on the second where there is one. Throws `INPUT_INVALID` for unknown models and where the resource isn't known.
 */
export function routeTable(group: RouteGroup, question: RouteQuestion): RouteTable {
  const [chosen_repeat = 0, scored_repeat = null] = group.repeats;
  const chosen = group.items.get(chosen_repeat) ?? [];
  const scored = scored_repeat === null ? undefined : group.items.get(scored_repeat);
  if (question.resource === 'energy_j' && group.boundaries.length > 1)
    throw new PerwattError(
      'INPUT_INVALID',
      `models of different boundary: ${group.boundaries.join(' and ')}`,
      {
        hint: 'Name `--models` that were metered alike, or choose another `--resource`.',
      },
    );
  const ends = endsOf(group, chosen, question);
  const options = { models: group.models, strong: ends.strong, resource: question.resource };
  const data: RoutingData = { chosen, seed: question.seed, ...(scored === undefined ? {} : { scored }) };
  const setup: Setup = { group, question, options, ends, data };
  const singles = group.models.map((model) => singleRouting(data, options, model));
  const asked = question.routers.flatMap((kind) => (kind === 'learned' ? [] : plain[kind](setup)));
  const trained = question.routers.includes('learned') ? learnIfPossible(setup) : null;
  const learned = trained === null || typeof trained === 'string' ? null : trained;
  const rows = [...singles, ...asked, ...(learned === null ? [] : [learned.row])];
  return {
    group: [group.accelerator, group.strategy, group.load].join(' / '),
    models: group.models,
    ...ends,
    resource: question.resource,
    chosen_repeat,
    scored_repeat,
    coverage: coverage(group.coverage, group.models),
    rows,
    learned: learned?.learned ?? null,
    notes: notesOf(setup, rows, typeof trained === 'string' ? trained : null),
  };
}
