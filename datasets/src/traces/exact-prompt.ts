import { createRng, PerwattError, seedFrom, type TokenCounter, type TraceRow } from '@perwatt/core';
import { type PromptWords, promptWords } from './prompt-words.js';

/** A made-up prompt, and how long the tokenizer says it is. */
export interface ExactPrompt {
  readonly text: string;
  readonly wanted_tokens: number;
  /** Counted over the whole text, overhead included; equal to `wanted_tokens` where `exact`. */
  readonly achieved_tokens: number;
  readonly exact: boolean;
}

/** What of a row a prompt is made of. */
export type PromptRow = Pick<TraceRow, 'row' | 'input_tokens' | 'hash_ids' | 'block_tokens'>;

export interface PromptMaker {
  /** The same row, seed and tokenizer give the same text; rows that share leading hash ids share the text of these blocks. */
  readonly prompt: (row: PromptRow) => Promise<ExactPrompt>;
}

export interface PromptMakerOptions {
  readonly seed: number;
  /** Tokens that the target adds around the text, such as those of its chat template; they count as input. Default 0. */
  readonly overhead_tokens?: number;
}

const MOST_SEARCHES = 24;
const KEPT_BLOCKS = 4096;

/**
 * Makes prompts of an exact number of tokens. Text is put together from words that the tokenizer counts evenly, counted as a
 * whole, and shortened or lengthened at its end until the count fits: random token ids, decoded, would not come back as
 * many. A length that no text has is missed, and the achieved one says by how much.
 */
export async function promptMaker(counter: TokenCounter, options: PromptMakerOptions): Promise<PromptMaker> {
  const words = await promptWords(counter);
  const overhead = options.overhead_tokens ?? 0;
  const blocks = blockCache(words, options.seed);
  return {
    prompt: async (row) => {
      const wanted = row.input_tokens;
      if (wanted === null)
        throw new PerwattError('INPUT_INVALID', `row ${row.row} has no input length to make a prompt of`);
      const { pieces, more } = blocks(row, wanted);
      const goal = Math.max(0, wanted - overhead);
      const { text, tokens } = await searchEnd({ counter, goal, cost: words.cost, pieces, more });
      const achieved_tokens = tokens + overhead;
      return { text, wanted_tokens: wanted, achieved_tokens, exact: achieved_tokens === wanted };
    },
  };
}

interface Pieces {
  readonly pieces: readonly string[];
  /** One more piece behind them. */
  readonly more: () => string;
}

/** Pieces for a row: those of its blocks, or of a text of its own. */
function blockCache({ pieces, cost }: PromptWords, seed: number): (row: PromptRow, tokens: number) => Pieces {
  const kept = new Map<number, readonly string[]>();
  const source = (...purpose: readonly (string | number)[]) => {
    const rng = createRng(seedFrom(seed, 'prompt', ...purpose));
    return () => pieces[Math.floor(rng() * pieces.length)] ?? '';
  };
  const drawn = (next: () => string, tokens: number) =>
    Array.from({ length: Math.max(0, Math.round(tokens / cost)) }, next);
  const block = (id: number, tokens: number) => {
    const known = kept.get(id);
    if (known !== undefined) return known;
    const made = drawn(source('block', id), tokens);
    kept.set(id, made);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_BLOCKS) break;
      kept.delete(oldest);
    }
    return made;
  };
  return ({ row, hash_ids = [], block_tokens }, tokens) => {
    if (block_tokens === undefined || hash_ids.length === 0) {
      const next = source('row', row);
      return { pieces: drawn(next, tokens), more: next };
    }
    const all = hash_ids.flatMap((id) => block(id, block_tokens));
    const more = source('end', hash_ids.at(-1) ?? 0, tokens);
    return { pieces: all.slice(0, Math.round(tokens / cost)), more };
  };
}

interface Search extends Pieces {
  readonly counter: TokenCounter;
  readonly goal: number;
  readonly cost: number;
}

interface Found {
  readonly text: string;
  readonly tokens: number;
}

/** Looks for the number of pieces with the wanted count; where two neighbours lie on either side of it, short ends fill up. */
async function searchEnd({ counter, goal, cost, pieces, more }: Search): Promise<Found> {
  const sequence = [...pieces];
  const at = async (length: number): Promise<Found> => {
    while (sequence.length < length) sequence.push(more());
    const text = sequence.slice(0, length).join('');
    return { text, tokens: text === '' ? 0 : await counter.count(text) };
  };
  let below = { length: 0, found: { text: '', tokens: 0 } };
  let above = Number.POSITIVE_INFINITY;
  let length = Math.round(goal / cost);
  for (let tries = 0; tries < MOST_SEARCHES && above - below.length > 1; tries++) {
    const found = await at(length);
    if (found.tokens === goal) return found;
    if (found.tokens < goal) below = { length, found };
    else above = length;
    const step = Math.round((goal - found.tokens) / cost) || Math.sign(goal - found.tokens);
    length = between(length + step, below.length, above);
  }
  return fillUp(below.found, goal, counter);
}

/** The guess, where it lies between what is known to be too short and too long, else their middle. */
const between = (guess: number, below: number, above: number): number =>
  guess > below && guess < above
    ? guess
    : Number.isFinite(above)
      ? Math.floor((below + above) / 2)
      : below + 1;

const ends = [' a', '.', ' I', '!', ' x', '\n', 'a', '0', ' -', 'é', '_', ' Q', '%'] as const;

/** Adds short ends while they bring the count nearer, never beyond the goal. */
async function fillUp(from: Found, goal: number, counter: TokenCounter): Promise<Found> {
  let best = from;
  for (let tries = 0; tries < MOST_SEARCHES && best.tokens < goal; tries++) {
    const before = best.tokens;
    for (const end of ends) {
      const text = best.text + end;
      const tokens = await counter.count(text);
      if (tokens > best.tokens && tokens <= goal) {
        best = { text, tokens };
        break;
      }
    }
    if (best.tokens === before) break;
  }
  return best;
}
