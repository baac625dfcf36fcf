import { seedFrom } from '@perwatt/core';
import { below, createRandom, type Random } from '../numeric/random.js';
import { actionAt } from '../numeric/softmax.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import { ACTIONS, HORIZON, jointOf, placeOf, STATES, type TeamGame, type TeamProbabilities } from './game.js';
import { memberProbabilities } from './member.js';
import type { SatTrainer } from './sat.js';

interface Played {
  readonly start: number;
  readonly random: Random;
}

/** Mean reward a step of one episode, 0…1: what a team loses counts as 0. */
export function playedValue(game: TeamGame, p: TeamProbabilities, { start, random }: Played): number {
  let state = start;
  let total = 0;
  for (let t = 0; t < HORIZON; t++) {
    const [a = 0, b = 0, c = 0] = p.map((own) =>
      actionAt(own.subarray(state * ACTIONS, (state + 1) * ACTIONS), random.next()),
    );
    const place = placeOf(state, jointOf(a, b, c));
    total += game.reward[place] ?? 0;
    state = game.successor[place] ?? 0;
  }
  return Math.max(0, total / HORIZON);
}

const intro = 'Play the team game from state';

/** Start states as text; a team does well that earns at least 0.8 a step. */
export function gameItems(seed: number, count: number): readonly RecipeItem[] {
  return Array.from({ length: count }, (_, i) => {
    const state = below(createRandom(seedFrom(seed, 'items', i), 'sat'), STATES);
    return {
      id: `game-${i + 1}`,
      prompt: `${intro} ${state}, round ${i + 1}. Say "coordinated" or "missed".`,
      target: 'coordinated',
    };
  });
}

/** Reward a step from which a played episode counts as coordinated. */
const COORDINATED = 0.8;

/** Lets the team play a prompt's episode. */
export function answerGame(trainer: SatTrainer, prompt: string, seed: number): PolicyAnswer | null {
  const start = Number(prompt.match(/^Play the team game from state (\d+)/m)?.[1] ?? Number.NaN);
  if (!(start >= 0 && start < STATES)) return null;
  const p = trainer.team.map(memberProbabilities);
  const value = playedValue(trainer.game, p, { start, random: createRandom(seed, 'sat') });
  const text = value >= COORDINATED ? 'coordinated' : 'missed';
  return {
    text,
    answer: text,
    prompt_tokens: 1,
    completion_tokens: HORIZON * p.length,
  };
}
