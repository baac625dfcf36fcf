import { PerwattError, type WorldEpisode, type WorldStep } from '@perwatt/core';

/** What an action led to: the next state, and what the actor is told. */
export interface Turn<S> {
  readonly state: S;
  readonly observation: string;
  readonly valid: boolean;
}

/** How a world goes on. States are values: nothing is shared between episodes, and no state is changed in place. */
export interface Rules<S> {
  /** `action` is the action in what was written, `written` all of it. */
  take(state: S, action: string, written: string): Turn<S>;
  admissible(state: S): readonly string[] | null;
  won(state: S): boolean;
  /** The episode is over although it isn't won; never, unless told. */
  lost?(state: S): boolean;
  /** 0…1; 1 when won and 0 before, unless told. */
  reward?(state: S): number;
}

export interface EpisodeStart<S> {
  readonly state: S;
  readonly opening: string;
  readonly max_steps: number;
  readonly skills?: string;
}

/** An episode by its rules: it ends when it is won or lost, or after `max_steps` actions. */
export function episodeOf<S>(
  rules: Rules<S>,
  { state: first, opening, max_steps, skills }: EpisodeStart<S>,
): WorldEpisode {
  let state = first;
  const actions: string[] = [];
  const ended = () => rules.won(state) || rules.lost?.(state) === true || actions.length >= max_steps;
  return {
    opening,
    ...(skills !== undefined && { skills }),
    actions,
    max_steps,
    act(action): WorldStep {
      if (ended())
        throw new PerwattError(
          'INPUT_INVALID',
          `the episode is over after ${actions.length} actions; "${action.slice(0, 80)}" comes too late`,
        );
      const turn = rules.take(state, actionText(action), action);
      state = turn.state;
      actions.push(action);
      return { observation: turn.observation, valid: turn.valid, done: ended() };
    },
    admissible: () => (ended() ? [] : rules.admissible(state)),
    won: () => rules.won(state),
    reward: () => rules.reward?.(state) ?? (rules.won(state) ? 1 : 0),
  };
}

const MAX_ACTION = 2000;

/**
 * The action in what an actor wrote: its last line that isn't blank, without `Action:` or `>` before it, marks of a list or of
 * code around it, and blanks and full stops at its end.
 */
export function actionText(written: string): string {
  const lines = written.slice(-MAX_ACTION).split('\n');
  const line = lines.findLast((each) => each.replaceAll(/[\s`*]/g, '') !== '') ?? '';
  return line
    .replace(/^[\s`*]*(?:(?:[-•]|\d{1,3}[.)])\s+)?[`*]*(?:action\s*[:=])?[\s`*]*(?:>\s*)?[`*]*/i, '')
    .replace(/[\s`*.]+$/, '');
}

/** An action as commands are compared: lower case, single blanks. */
export const foldAction = (action: string): string => action.toLowerCase().replaceAll(/\s+/g, ' ').trim();
