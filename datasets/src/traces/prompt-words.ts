import type { TokenCounter } from '@perwatt/core';

/** Short, common words: most tokenizers have one token for each of them behind a blank. */
const words =
  'time year people way day man thing woman life child world school state family student group country problem hand part place case week company system program question work government number night point home water room mother area money story fact month lot right study book eye job word business issue side kind head house service friend father power hour game line end member law car city community name president team minute idea body information back parent face others level office door health person art war history party result change morning reason research girl guy moment air teacher force education foot boy age policy music food light heart white black green small large long little old great high different important early young next few public bad same able good new first last own other big again never always often still also then here there where when why how what who under over after before between through during without about around against toward open close read write speak listen walk run play move live stand hold bring begin show hear turn start call need feel become leave put mean keep let help talk seem follow stop create allow add spend grow offer remember love consider appear buy wait serve die send expect build stay fall cut reach remain suggest raise pass sell require report decide pull'.split(
    ' ',
  );

/** Pieces of text to make prompts of, and how many tokens each adds. */
export interface PromptWords {
  readonly pieces: readonly string[];
  /** Tokens that one more piece adds; a mean where no two pieces agree. */
  readonly cost: number;
}

const REPEATS = 8;
const FEWEST = 16;

/**
 * The words that a tokenizer counts evenly: eight more of one add eight times the same whole number of tokens. Of these, those
 * with the lowest number that at least sixteen words share.
 */
export async function promptWords(counter: TokenCounter): Promise<PromptWords> {
  const byCost = new Map<number, string[]>();
  let total = 0;
  for (const word of words) {
    const piece = ` ${word}`;
    const cost = ((await counter.count(piece.repeat(REPEATS + 1))) - (await counter.count(piece))) / REPEATS;
    total += cost;
    if (Number.isInteger(cost) && cost > 0) byCost.set(cost, [...(byCost.get(cost) ?? []), piece]);
  }
  const even = [...byCost].sort(([a], [b]) => a - b).find(([, pieces]) => pieces.length >= FEWEST);
  if (even !== undefined) return { cost: even[0], pieces: even[1] };
  return { cost: Math.max(total / words.length, 0.1), pieces: words.map((word) => ` ${word}`) };
}
