import { embeddedTokenizer } from '@perwatt/clients';
import { messageOf, PerwattError, type TokenCounter } from '@perwatt/core';

/**
 * Who counts tokens on this side. `words`: nobody; a prompt has one common word for each token, and nothing is counted.
 * `server`: the server's own `/tokenize`. `embedded:<model>`: the tokenizer in the weight file of a model on this machine.
 */
export type TokenizerName = 'words' | 'server' | `embedded:${string}`;

/** A counter, in words that stand beside what it counted. */
export interface NamedCounter extends TokenCounter {
  readonly label: string;
  close(): Promise<void>;
}

export interface CounterOptions {
  readonly url: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the name of a tokenizer. Throws `INPUT_INVALID`. */
export function parseTokenizer(text: string): TokenizerName {
  if (text === 'words' || text === 'server') return text;
  if (/^embedded:.+/.test(text)) return text as TokenizerName;
  throw new PerwattError('INPUT_INVALID', `"${text}" is not a tokenizer`, {
    hint: 'Write words, server, or embedded: and a model that `perwatt models` lists.',
  });
}

/** Opens a counter; null for `words`. Throws `CLIENT_UNREACHABLE` where the server does not count, and as models do. */
export async function openCounter(
  name: TokenizerName,
  options: CounterOptions,
): Promise<NamedCounter | null> {
  if (name === 'words') return null;
  if (name !== 'server') {
    const model = name.slice('embedded:'.length);
    const { count, close } = await embeddedTokenizer(model, { env: options.env });
    return { label: `the tokenizer of ${model}`, count, close };
  }
  const count = serverCounter(options);
  await count('one two three');
  return { label: "the server's /tokenize", count, close: async () => {} };
}

/** Counts by `/tokenize` as vLLM and llama-server have it: the fields of both are sent, and either answer is read. */
function serverCounter({ url, model, api_key }: CounterOptions): (text: string) => Promise<number> {
  const address = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/tokenize`;
  const headers = {
    'content-type': 'application/json',
    ...(api_key === null ? {} : { authorization: `Bearer ${api_key}` }),
  };
  return async (text) => {
    const body = JSON.stringify({ model, prompt: text, content: text, add_special_tokens: false });
    const answer = await ask(address, { method: 'POST', headers, body });
    const found = countIn(answer);
    if (found !== null) return found;
    throw notThere(address, `it answered ${JSON.stringify(answer).slice(0, 80)}`);
  };
}

async function ask(address: string, init: RequestInit): Promise<unknown> {
  try {
    const response = await fetch(address, init);
    if (response.ok) return await response.json();
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  } catch (error) {
    throw notThere(address, messageOf(error));
  }
}

function countIn(answer: unknown): number | null {
  if (typeof answer !== 'object' || answer === null) return null;
  if ('count' in answer && typeof answer.count === 'number') return answer.count;
  return 'tokens' in answer && Array.isArray(answer.tokens) ? answer.tokens.length : null;
}

const notThere = (address: string, why: string) =>
  new PerwattError('CLIENT_UNREACHABLE', `${address} counts no tokens: ${why}`, {
    hint: 'vLLM and llama-server have /tokenize. Give `--tokenizer embedded:<model>`, or leave it out.',
  });
