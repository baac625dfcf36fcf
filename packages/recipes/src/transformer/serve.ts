import { createRandom } from '../numeric/random.js';
import type { PolicyAnswer, PolicyPiece, PolicyWriting, RecipeItem } from '../recipe.js';
import {
  answerOf,
  chainText,
  END,
  MODULUS,
  MOST_WRITTEN,
  parseChain,
  promptTokens,
  TRAINED,
  tokenText,
  writtenAnswer,
} from './chains.js';
import { chooseToken, createDecoder } from './decode.js';
import { heldOutChains } from './held-out.js';
import type { Model } from './model.js';

const intro = `Work out modulo ${MODULUS}, from left to right:`;

/** Held-out chains of a seed as text. */
export const chainItems = (seed: number, count: number): readonly RecipeItem[] =>
  heldOutChains(seed, { count, lengths: TRAINED, purpose: 'items' }).map((chain, i) => ({
    id: `chain-${i + 1}`,
    prompt: `${intro} ${chainText(chain)}`,
    target: String(answerOf(chain)),
  }));

/** Tokens of a prompt's chain; null where it has none. */
function tokensOf(prompt: string): readonly number[] | null {
  const text = prompt.split(intro)[1]?.split('\n')[0];
  const chain = text === undefined ? null : parseChain(text);
  return chain === null ? null : promptTokens(chain);
}

/** Writes after a prompt, token by token, each drawn only when it is asked for. */
function* writeTokens(model: Model, prompt: readonly number[], seed: number): Generator<number> {
  const decoder = createDecoder(model, 1);
  const random = createRandom(seed, 'tiny-transformer');
  const { vocabulary } = model.size;
  const row = { slot: 0, given: prompt.length };
  const [last = 0] = prompt.slice(-1);
  for (const [i, token] of prompt.slice(0, -1).entries()) decoder.step([{ token, ...row }], i);
  let token = last;
  for (let i = 0; i < MOST_WRITTEN && token !== END; i++) {
    const logits = decoder.step([{ token, ...row }], prompt.length - 1 + i);
    token = chooseToken(logits, { row: 0, vocabulary, u: random.next() }).token;
    yield token;
  }
}

/** Tokens in words, with blanks between them. */
function* pieces(tokens: Iterable<number>): Generator<PolicyPiece> {
  let first = true;
  for (const token of tokens) {
    const text = tokenText(token);
    yield { text: first || text === '' ? text : ` ${text}`, ends: token === END };
    first = false;
  }
}

/** Lets a model write on from a prompt's chain, while somebody reads. */
export function writeChain(
  { model }: { readonly model: Model },
  prompt: string,
  seed: number,
): PolicyWriting | null {
  const tokens = tokensOf(prompt);
  return tokens === null
    ? null
    : { prompt_tokens: tokens.length, pieces: pieces(writeTokens(model, tokens, seed)) };
}

/** Lets a model answer a prompt's chain. */
export function answerChain(
  { model }: { readonly model: Model },
  prompt: string,
  seed: number,
): PolicyAnswer | null {
  const tokens = tokensOf(prompt);
  if (tokens === null) return null;
  const written = [...writeTokens(model, tokens, seed)];
  const answer = writtenAnswer(written);
  return {
    text: [...pieces(written)].map(({ text }) => text).join(''),
    answer: answer === null ? null : String(answer),
    prompt_tokens: tokens.length,
    completion_tokens: written.length,
  };
}
