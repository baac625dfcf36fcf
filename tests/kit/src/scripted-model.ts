import type { ClientRequest, Usage } from '@perwatt/core';

/** What a scripted model says to one request. */
export interface ScriptedAnswer {
  /** The text, a piece per token. */
  readonly tokens: readonly string[];
  readonly finish_reason: string;
  readonly usage: Usage;
}

const words = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

/**
 * A model without weights: it repeats the last words of its prompt and then counts, always the same for the same request.
 * It honours `max_tokens` and stop texts, and counts a token per word.
 */
export function scriptedAnswer({ input, sampling }: ClientRequest): ScriptedAnswer {
  const prompt =
    input.kind === 'chat' ? input.messages.map(({ content }) => content).join(' ') : input.prompt;
  const asked = prompt.split(/\s+/).filter((word) => word !== '');
  const said = [...asked.slice(-3), ...words.flatMap((tens) => words.map((ones) => `${tens}-${ones}`))];
  const all = said.map((word, i) => (i === 0 ? word : ` ${word}`));
  const within = all.slice(0, sampling.max_tokens);
  const cut = cutAtStop(within, sampling.stop ?? []);
  const tokens = cut ?? within;
  return {
    tokens,
    finish_reason: cut === null && within.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens: asked.length, completion_tokens: tokens.length },
  };
}

/** The tokens before the first stop text; null when none occurs. */
function cutAtStop(tokens: readonly string[], stops: readonly string[]): string[] | null {
  const text = tokens.join('');
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  if (ends.length === 0) return null;
  let left = Math.min(...ends);
  return tokens
    .map((token) => {
      const part = token.slice(0, left);
      left -= part.length;
      return part;
    })
    .filter((part) => part !== '');
}
