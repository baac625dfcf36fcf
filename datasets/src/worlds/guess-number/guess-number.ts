import { shuffled } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { GUESS_VERSION, guessOpening, honestGuesses } from './guess-world.js';

interface Level extends GeneratedLevel {
  readonly digits: number;
}

const levels: readonly Level[] = [2, 3, 4, 5].map((digits) => ({
  summary: `${digits} digits`,
  answer_tokens: 256,
  digits,
}));

const TURNS = 25;

/** Guess the number: active reasoning that a program can play. */
export const guessNumber = generatedSet<Level>({
  id: 'guess-number',
  version: 1,
  grader: 'environment',
  summary: 'generated games of guessing a number of different digits from hints, as in AR-Bench',
  levels,
  options: [{ name: 'max_steps', summary: `guesses in a game, 1 to 1000, default ${TURNS}` }],
  prepare({ digits }, options) {
    const max_steps = options.whole('max_steps', { min: 1, max: 1000 }) ?? TURNS;
    return (rng) => draw(digits, max_steps, rng);
  },
});

function draw(digits: number, max_steps: number, rng: RngFor): Drawn | null {
  const secret = shuffled(rng('secret'), [...'0123456789'])
    .slice(0, digits)
    .join('');
  const guesses = honestGuesses(secret);
  if (guesses.length > max_steps) return null;
  return {
    prompt: guessOpening(digits, max_steps),
    gold: guesses.map((guess) => `Guess: ${guess}`).join('\n'),
    subject: `${digits} digits`,
    data: { kind: 'world', world: 'guess-number', world_version: GUESS_VERSION, secret, max_steps },
    identity: secret,
  };
}
