import type { Item } from './grading.js';

/** What one action in a world led to. */
export interface WorldStep {
  /** What the actor is told. */
  readonly observation: string;
  /** The action was understood and possible; an impossible one changes nothing and still counts as a step. */
  readonly valid: boolean;
  /** The episode is over: solved, lost, or out of steps. */
  readonly done: boolean;
}

/** One episode: the state of a world while an actor works on one item. Deterministic: the same actions give the same steps. */
export interface WorldEpisode {
  /** The task and the first observation. */
  readonly opening: string;
  /** How tasks of this kind are done, for actors that are to be told; absent where nothing is written down. */
  readonly skills?: string;
  /** Actions taken so far, as they were given. */
  readonly actions: readonly string[];
  /** Steps after which an episode ends. */
  readonly max_steps: number;
  /** Takes one action, given as a line of text. Throws `PerwattError` when the episode is over. */
  act(action: string): WorldStep;
  /** Actions that are possible now, for prompts and for scripted actors; null where they can't be listed. */
  admissible(): readonly string[] | null;
  /** Whether the task is solved. Not the same as `done`. */
  won(): boolean;
  /** Reward of the episode as it stands, 0…1. */
  reward(): number;
}

/** A world that items are set in: a household, a shop, a table of blocks, a game. Bump `version` when any step could change. */
export interface World {
  readonly id: string;
  readonly version: number;
  /** A new episode of `item`. Throws `INPUT_INVALID` when its `data` does not describe this world. */
  open(item: Pick<Item, 'id' | 'data'>): WorldEpisode;
  /** A shortest or known sequence of actions that solves the item, for tests and upper bounds; null when none is known. */
  solve(item: Pick<Item, 'id' | 'data'>): readonly string[] | null;
}
