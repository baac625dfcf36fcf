import { PerwattError, type Rng } from '@perwatt/core';

/** One level of shared prefixes: below each node of the level above, so many prefixes of so many tokens. */
export interface PrefixLevel {
  readonly children: number;
  readonly tokens: number;
}

/** Generated prefix reuse: one level is a set of groups, several are a tree. */
export interface PrefixTree {
  readonly levels: readonly PrefixLevel[];
  readonly block_tokens: number;
}

/** Reads `4x512` or `4x512,8x256` (children x tokens, level by level). Throws `INPUT_INVALID`. */
export function prefixTree(text: string, blockTokens: number): PrefixTree {
  const levels = text.split(',').map((part) => {
    const match = /^([1-9][0-9]{0,5})x([1-9][0-9]{0,6})$/.exec(part.trim());
    if (match === null)
      throw invalid(`"${part}" is no level of prefixes`, 'Write CHILDRENxTOKENS, such as 4x512.');
    return { children: Number(match[1]), tokens: Number(match[2]) };
  });
  const odd = levels.find(({ tokens }) => tokens % blockTokens !== 0);
  if (odd !== undefined)
    throw invalid(
      `a prefix of ${odd.tokens} tokens is no whole number of blocks of ${blockTokens}`,
      'Choose a multiple of the block size, or another block size.',
    );
  const leaves = levels.reduce((n, { children }) => n * children, 1);
  if (leaves > MOST_LEAVES) throw invalid(`${leaves} different prefixes are too many`, 'Use fewer children.');
  return { levels, block_tokens: blockTokens };
}

const MOST_LEAVES = 10_000_000;

const invalid = (message: string, hint: string) => new PerwattError('INPUT_INVALID', message, { hint });

/**
 * Hash ids for inputs, one after another: each walks from the root to a leaf at random, shares the whole blocks of the nodes
 * on its way, as far as its length goes, and fills up with blocks of its own.
 */
export function prefixHasher(
  { levels, block_tokens }: PrefixTree,
  rng: Rng,
): (inputTokens: number) => number[] {
  const perNode = levels.map(({ tokens }) => tokens / block_tokens);
  const starts: number[] = [];
  let nodes = 1;
  let blocks = 0;
  for (const [i, { children }] of levels.entries()) {
    nodes *= children;
    starts.push(blocks);
    blocks += nodes * (perNode[i] ?? 0);
  }
  let own = blocks;
  return (inputTokens) => {
    const ids: number[] = [];
    let node = 0;
    for (const [i, { children }] of levels.entries()) {
      node = node * children + Math.floor(rng() * children);
      const per = perNode[i] ?? 0;
      for (let block = 0; block < per; block++) ids.push((starts[i] ?? 0) + node * per + block);
    }
    const shared = ids.slice(0, Math.floor(inputTokens / block_tokens));
    const needed = Math.ceil(inputTokens / block_tokens);
    while (shared.length < needed) shared.push(own++);
    return shared;
  };
}
