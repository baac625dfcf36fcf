/** Tokens kept to render the next ones after; more than any character is spread over. */
const CONTEXT_TOKENS = 8;
/** Bytes that form no character are let go after this many tokens. */
const MAX_HELD_TOKENS = 16;

/** Turns tokens into text piece by piece; the pieces put together are the text of all tokens. */
export interface Detokenizer {
  /** The text that `token` completes; '' while a character is incomplete, or for a token without text. */
  push(token: number): string;
  /** What was still held back: the replacement character for bytes that never became one. */
  end(): string;
}

/**
 * An incremental detokenizer over one that works on whole lists. It renders each token behind the last few before it, so
 * that blanks before words and characters spread over tokens come out as in the whole text.
 *
 * @param context last tokens of the prompt, which decide whether the first word has a blank before it
 */
export function createDetokenizer(
  detokenize: (tokens: readonly number[]) => string,
  context: readonly number[],
): Detokenizer {
  let window = context.slice(-CONTEXT_TOKENS);
  let told = detokenize(window);
  let held = 0;

  const tell = (text: string): string => {
    const piece = text.slice(commonPrefix(told, text));
    told = text;
    return piece;
  };

  return {
    push(token) {
      window.push(token);
      held += 1;
      const text = detokenize(window);
      // A character that has begun renders as one replacement character until its last byte is there.
      if (text.endsWith('\ufffd') && held < MAX_HELD_TOKENS) return tell(text.slice(0, -1));
      held = 0;
      const piece = tell(text);
      if (window.length >= 2 * CONTEXT_TOKENS) {
        window = window.slice(-CONTEXT_TOKENS);
        told = detokenize(window);
      }
      return piece;
    },
    end: () => (held === 0 ? '' : tell(detokenize(window))),
  };
}

function commonPrefix(a: string, b: string): number {
  if (b.startsWith(a)) return a.length;
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
