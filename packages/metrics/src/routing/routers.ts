import { type RoutedItem, type RouteResult, type RouteShares, routeResult } from './route-table.js';
import { RIGHT, type RouteOptions, type RoutingItem, type UsableItem, usableItems } from './routing-items.js';

/** The two repeats that routing needs. */
export interface RoutingData {
  /** Repeat that routes are chosen by. */
  readonly chosen: readonly RoutingItem[];
  /** Another repeat, which they are scored on. Default: the same, which is marked `in_sample`. */
  readonly scored?: readonly RoutingItem[];
  readonly seed?: number;
  readonly draws?: number;
}

/** Where misrouted items go: to the strong model, to the cheapest, or to any model but the right choice. */
export type Misroute = 'to_strong' | 'to_cheapest' | 'to_others';

/** A router that makes the oracle's choice with a given probability. */
export interface AccurateRouter {
  /** 0…1. */
  readonly accuracy: number;
  readonly misroute: Misroute;
}

/** The cheapest model that answers the item right, else the strong one. Ties go to the first model of the set. */
export function oracleChoice(item: UsableItem, { models, strong }: RouteOptions): string {
  const right = models.filter((model) => (item.score[model] ?? 0) >= RIGHT);
  return right.length === 0 ? strong : cheapest(item, right);
}

const cheapest = (item: UsableItem, models: readonly string[]): string =>
  models.reduce((best, model) => ((item.spent[model] ?? 0) < (item.spent[best] ?? 0) ? model : best));

/**
 * Routing that knows which models are right: the bound of what routing can save at no loss of accuracy. Chosen on one
 * repeat and scored on another, since an oracle that sees its own luck promises too much.
 */
export const oracleRouting = (data: RoutingData, options: RouteOptions): RouteResult =>
  routed('oracle', data, options, (item) => ({ [oracleChoice(item, options)]: 1 }));

/**
 * A router of given accuracy, in expectation. With every misroute to the strong model its saving is accuracy × oracle on
 * the repeat it was chosen by: the linear model, whose assumption is that an error costs resources and never an answer.
 * Other directions save otherwise and lose answers; read the accuracy beside.
 */
export function accurateRouting(
  data: RoutingData,
  options: RouteOptions,
  router: AccurateRouter,
): RouteResult {
  const name = `${Number((100 * router.accuracy).toPrecision(4))} % router, misroutes ${router.misroute.replace('_', ' ')}`;
  return routed(name, data, options, (item) => mixed(item, options, router));
}

function mixed(item: UsableItem, options: RouteOptions, { accuracy, misroute }: AccurateRouter): RouteShares {
  const choice = oracleChoice(item, options);
  const others = options.models.filter((model) => model !== choice);
  const wrong =
    misroute === 'to_strong'
      ? [options.strong]
      : misroute === 'to_cheapest'
        ? [cheapest(item, options.models)]
        : others.length > 0
          ? others
          : [choice];
  const shares: Record<string, number> = { [choice]: accuracy };
  for (const model of wrong) shares[model] = (shares[model] ?? 0) + (1 - accuracy) / wrong.length;
  return shares;
}

/** All items to one model: the baselines of a table of routers. */
export const singleRouting = (data: RoutingData, options: RouteOptions, model: string): RouteResult =>
  routed(`all to ${model}`, data, options, () => ({ [model]: 1 }));

/** Each item to the strong model with probability `strong_share`, else to `weak`; in expectation. */
export const randomRouting = (
  data: RoutingData,
  options: RouteOptions,
  { weak, strong_share }: { readonly weak: string; readonly strong_share: number },
): RouteResult =>
  routed(`random, ${Number((100 * strong_share).toPrecision(4))} % strong`, data, options, () => ({
    [weak]: 1 - strong_share,
    [options.strong]: strong_share,
  }));

/**
 * The strong model for items whose score reaches the threshold, `weak` for the others. Items without a score count as
 * left out.
 */
export const thresholdRouting = (
  data: RoutingData,
  options: RouteOptions,
  router: {
    readonly name: string;
    readonly weak: string;
    /** Chance that the strong model is needed, by item. */
    readonly scores: ReadonlyMap<string, number>;
    readonly threshold: number;
  },
): RouteResult =>
  routed(router.name, data, options, ({ item_id }) => {
    const score = router.scores.get(item_id);
    if (score === undefined || Number.isNaN(score)) return null;
    return { [score >= router.threshold ? options.strong : router.weak]: 1 };
  });

function routed(
  router: string,
  data: RoutingData,
  options: RouteOptions,
  choose: (item: UsableItem) => RouteShares | null,
): RouteResult {
  const choices = new Map(
    usableItems(data.chosen, options).map((item) => [item.item_id, choose(item)] as const),
  );
  const source = data.scored ?? data.chosen;
  const rows: RoutedItem[] = usableItems(source, options).flatMap((item) => {
    const shares = choices.get(item.item_id);
    return shares === undefined || shares === null ? [] : [{ item, shares }];
  });
  return routeResult(rows, {
    router,
    resource: options.resource,
    strong: options.strong,
    left_out: source.length - rows.length,
    in_sample: data.scored === undefined,
    seed: data.seed ?? 0,
    ...(data.draws === undefined ? {} : { draws: data.draws }),
  });
}
