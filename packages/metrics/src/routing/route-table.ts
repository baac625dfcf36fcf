import { bootstrapMean, bootstrapRatio } from '../bootstrap.js';
import type { Resource, UsableItem } from './routing-items.js';

/** Shares of one item that go to each model; they sum to 1. */
export type RouteShares = Readonly<Record<string, number>>;

/** A saving and the accuracy that it comes at. Neither is ever shown without the other. */
export interface RouteResult {
  readonly router: string;
  readonly resource: Resource;
  /** 1 − routed / strong; null without items or where the strong model spends nothing. */
  readonly saving: number | null;
  readonly saving_lo: number | null;
  readonly saving_hi: number | null;
  /** Mean score of the routed answers, 0…1. */
  readonly accuracy: number | null;
  readonly accuracy_lo: number | null;
  readonly accuracy_hi: number | null;
  /** Mean score where all goes to the strong model. */
  readonly strong_accuracy: number | null;
  /** `strong_accuracy` − `accuracy`; negative where routing gains. */
  readonly accuracy_lost: number | null;
  /** Share of the items that go to the strong model. */
  readonly strong_share: number | null;
  readonly items: number;
  /** Items left out because a model was not scored or metered on them, or because no route was chosen for them. */
  readonly left_out: number;
  /** Whether routes were chosen by the same repeat that they are scored on, which flatters them. */
  readonly in_sample: boolean;
}

/** An item together with where it goes. */
export interface RoutedItem {
  readonly item: UsableItem;
  readonly shares: RouteShares;
}

/** Bootstrap draws of an interval unless told otherwise. */
const DRAWS = 2000;

interface Naming {
  readonly router: string;
  readonly resource: Resource;
  readonly strong: string;
  readonly left_out: number;
  readonly in_sample: boolean;
  readonly seed: number;
  readonly draws?: number;
}

/** Weighs scores and what was spent by the shares of each route. */
export function routeResult(routed: readonly RoutedItem[], naming: Naming): RouteResult {
  const { strong } = naming;
  const rows = routed.map(({ item, shares }) => ({
    score: weigh(shares, item.score),
    spent: weigh(shares, item.spent),
    strong_score: item.score[strong] ?? 0,
    strong_spent: item.spent[strong] ?? 0,
    strong_share: shares[strong] ?? 0,
  }));
  const n = rows.length;
  const total = (key: keyof (typeof rows)[number]) => rows.reduce((sum, row) => sum + row[key], 0);
  const strongSpent = total('strong_spent');
  const draws = { seed: naming.seed, draws: naming.draws ?? DRAWS };
  const saving = bootstrapRatio(
    rows.map((row) => ({ numerator: row.strong_spent - row.spent, denominator: row.strong_spent })),
    draws,
  );
  const accuracy = bootstrapMean(
    rows.map((row) => [row.score]),
    draws,
  );
  const each = (value: number) => (n === 0 ? null : value / n);
  return {
    router: naming.router,
    resource: naming.resource,
    saving: n === 0 || strongSpent === 0 ? null : 1 - total('spent') / strongSpent,
    saving_lo: saving?.lo ?? null,
    saving_hi: saving?.hi ?? null,
    accuracy: each(total('score')),
    accuracy_lo: accuracy?.lo ?? null,
    accuracy_hi: accuracy?.hi ?? null,
    strong_accuracy: each(total('strong_score')),
    accuracy_lost: each(total('strong_score') - total('score')),
    strong_share: each(total('strong_share')),
    items: n,
    left_out: naming.left_out,
    in_sample: naming.in_sample,
  };
}

const weigh = (shares: RouteShares, values: Readonly<Record<string, number>>): number =>
  Object.entries(shares).reduce((sum, [model, share]) => sum + share * (values[model] ?? 0), 0);
