import type { World } from '@perwatt/core';
import { episodeOf, type Turn } from '../episode.js';
import { type DataReader, worldData } from '../world-data.js';

export const GUESS_VERSION = 1;
export const MOST_DIGITS = 6;

const skills = [
  'Guess only numbers that agree with every hint so far: for each earlier guess the number would have got the same hint.',
  'Change several digits at a time while little is known, and fewer once most of them are found.',
  'When no digit of a guess is in the number, none of them is ever needed again.',
]
  .map((line) => `- ${line}`)
  .join('\n');

/** Digits in their place, and digits that stand elsewhere. */
export interface Hint {
  readonly placed: number;
  readonly elsewhere: number;
}

/** The rules, as an actor is told them. */
export const guessOpening = (digits: number, turns: number): string =>
  `I think of a number of ${digits} different digits from 0 to 9; the first may be 0. You have ${turns} guesses to find it. After each I tell you how many digits stand where they do in my number, and how many are in it but stand elsewhere. Write each guess as "Guess: " and the ${digits} digits.`;

/** What a guess is told about a secret of different digits; a digit that a guess repeats counts once. */
export function hintOf(secret: string, guess: string): Hint {
  let [placed, shared] = [0, 0];
  for (let i = 0; i < guess.length; i++) {
    const digit = guess.charAt(i);
    if (digit === secret.charAt(i)) placed += 1;
    if (guess.indexOf(digit) === i && secret.includes(digit)) shared += 1;
  }
  return { placed, elsewhere: shared - placed };
}

/** Numbers of different digits, in order. */
function numbersOf(digits: number): string[] {
  let numbers = [''];
  for (let i = 0; i < digits; i++)
    numbers = numbers.flatMap((number) =>
      [...'0123456789'].filter((d) => !number.includes(d)).map((d) => number + d),
    );
  return numbers;
}

/** Guesses of a player who knows only the hints: each time the first number that agrees with all of them. */
export function honestGuesses(secret: string): string[] {
  const guesses: string[] = [];
  let left = numbersOf(secret.length);
  for (let [guess] = left; guess !== undefined; [guess] = left) {
    guesses.push(guess);
    if (guess === secret) return guesses;
    const last = guess;
    const hint = hintOf(secret, last);
    left = left.filter((number) => number !== last && isSame(hintOf(number, last), hint));
  }
  return [];
}

const isSame = (a: Hint, b: Hint) => a.placed === b.placed && a.elsewhere === b.elsewhere;

/** Guess the number, as in AR-Bench; an episode ends at a hit. */
export const guessWorld: World = {
  id: 'guess-number',
  version: GUESS_VERSION,
  open(item) {
    const { secret, turns } = gameOf(worldData(item, 'guess-number', GUESS_VERSION));
    return episodeOf<string | null>(
      {
        take(last, action): Turn<string | null> {
          const guess = guessIn(action, secret.length);
          if (guess === null) {
            const form = `Guess: ${'0123456789'.slice(1, secret.length + 1)}`;
            return {
              state: last,
              observation: `That holds no guess. Write it like this: ${form}`,
              valid: false,
            };
          }
          return { state: guess, observation: hintWords(hintOf(secret, guess), secret.length), valid: true };
        },
        admissible: () => null,
        won: (last) => last === secret,
      },
      { state: null, opening: guessOpening(secret.length, turns), max_steps: turns, skills },
    );
  },
  solve(item) {
    const { secret } = gameOf(worldData(item, 'guess-number', GUESS_VERSION));
    return honestGuesses(secret).map((guess) => `Guess: ${guess}`);
  },
};

function gameOf(data: DataReader): { readonly secret: string; readonly turns: number } {
  const secret = data.text('secret');
  if (!/^(?!.*(\d).*\1)\d+$/.test(secret) || secret.length > MOST_DIGITS)
    throw data.fail(`its secret is "${secret.slice(0, 40)}", not up to ${MOST_DIGITS} different digits`);
  return { secret, turns: data.whole('max_steps', { min: 1, max: 1000 }) };
}

/** The last run of exactly so many digits; null when there is none. */
const guessIn = (action: string, digits: number): string | null =>
  action.match(/\d+/g)?.findLast((run) => run.length === digits) ?? null;

const hintWords = ({ placed, elsewhere }: Hint, digits: number): string =>
  placed === digits
    ? 'That is my number.'
    : `Digits that stand where they do in my number: ${placed}. Digits that are in it but stand elsewhere: ${elsewhere}.`;
