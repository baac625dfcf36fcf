/** What a route costs. */
export const resources = ['energy_j', 'flop', 'cost_usd'] as const;

export type Resource = (typeof resources)[number];

/** What one model made of one item in one repeat. */
export interface RouteOutcome {
  /** Score, 0…1; null where it was not scored. */
  readonly score: number | null;
  readonly energy_j: number | null;
  readonly flop: number | null;
  readonly cost_usd: number | null;
}

/** One item, with what every model made of it. */
export interface RoutingItem {
  readonly item_id: string;
  readonly outcomes: Readonly<Record<string, RouteOutcome>>;
}

/** The models that a router chooses among. */
export interface RouteOptions {
  readonly models: readonly string[];
  /** The strong model: where all goes when nothing is routed, and what savings are measured against. */
  readonly strong: string;
  /** What is to be saved. */
  readonly resource: Resource;
}

/** One item with all that routing needs, for each model of the set. */
export interface UsableItem {
  readonly item_id: string;
  readonly score: Readonly<Record<string, number>>;
  readonly spent: Readonly<Record<string, number>>;
}

/** Score from which an answer counts as right when routes are chosen. */
export const RIGHT = 1;

/** The items that every model of the set was scored and metered on. The others cannot be compared and are left out. */
export function usableItems(items: readonly RoutingItem[], options: RouteOptions): UsableItem[] {
  return items.flatMap((item) => {
    const entries = options.models.map((model) => {
      const outcome = item.outcomes[model];
      return [model, outcome?.score ?? null, outcome?.[options.resource] ?? null] as const;
    });
    const known = entries.every(
      ([, score, spent]) => isNumber(score) && isNumber(spent) && (spent ?? -1) >= 0,
    );
    if (!known) return [];
    return [
      {
        item_id: item.item_id,
        score: Object.fromEntries(entries.map(([model, score]) => [model, score ?? 0])),
        spent: Object.fromEntries(entries.map(([model, , spent]) => [model, spent ?? 0])),
      },
    ];
  });
}

const isNumber = (value: number | null): boolean => value !== null && Number.isFinite(value);
