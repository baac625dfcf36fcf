/** Common words that most tokenizers keep in one piece, blank included. */
const words =
  'the of and to in is that it was for on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after called just where most know get through back much before go good new write our used me man too any day same right look think also around another came come work three word must because does part even place well such here take why things help put years different away again off went old number great tell men say small every found still between name should home big give air line set own under read last never us left end along while might next sound below saw something thought both few those always looked show large often together asked house world going want school important until form food keep children feet land side without boy once animals life enough took sometimes four head above kind began almost live page got earth need far hand high year mother light parts country father let night following picture being study second eyes soon times story boys since white days ever paper hard near sentence better best across during today others however sure means knew try told young miles sun ways thing whole hear example heard several change answer room sea against top turned learn point city play toward five using himself usually'.split(
    ' ',
  );

const TEXT_WORDS = 1 << 14;

/** Words one behind the other, each behind a blank, and where each begins. */
const base = (() => {
  const starts = new Uint32Array(TEXT_WORDS + 1);
  let text = '';
  let state = 1;
  for (let i = 0; i < TEXT_WORDS; i++) {
    starts[i] = text.length;
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += ` ${words[(state >>> 8) % words.length]}`;
  }
  starts[TEXT_WORDS] = text.length;
  return { text, starts };
})();

/** What a made-up prompt is made of. */
export interface PromptShape {
  /** Tells the prompt from all others. */
  readonly row: number;
  /** Tokens wanted, counting one for each word. */
  readonly tokens: number;
  /** Blocks of `block_tokens` that the prompt begins with: the same id, the same text. */
  readonly hash_ids?: ArrayLike<number> | null;
  readonly block_tokens?: number;
}

/**
 * A prompt of about so many tokens: one common English word for each, which most tokenizers agree with to a few percent.
 * Prompts of different rows differ from their first words on, except for the blocks they share.
 */
export function syntheticPrompt({ row, tokens, hash_ids, block_tokens = 0 }: PromptShape): string {
  let text = '';
  let left = tokens;
  const ids = block_tokens > 0 ? (hash_ids ?? []) : [];
  for (let i = 0; i < ids.length && left > 0; i++) {
    const size = Math.min(block_tokens, left);
    text += passage(ids[i] ?? 0, size);
    left -= size;
  }
  return (text + passage(row, left)).trimStart();
}

/** `count` words that begin with the digits of `key` in words, so that two keys differ at once. */
function passage(key: number, count: number): string {
  let text = '';
  let rest = Math.floor(key);
  let written = 0;
  do {
    if (written === count) return text;
    text += ` ${words[rest % words.length]}`;
    rest = Math.floor(rest / words.length);
    written += 1;
  } while (rest > 0);
  let from = (key * 7919) % TEXT_WORDS;
  while (written < count) {
    const size = Math.min(count - written, TEXT_WORDS - from);
    text += base.text.slice(base.starts[from], base.starts[from + size]);
    written += size;
    from = 0;
  }
  return text;
}
