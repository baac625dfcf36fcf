/** Bounds on what is parsed and computed. Beyond one of them an answer is compared as text only. */
export const limits = {
  completion_chars: 1_000_000,
  candidate_chars: 4096,
  tokens: 2048,
  digits_run: 256,
  digits_total: 2048,
  depth: 64,
  nodes: 512,
  arguments: 128,
  cells: 256,
  integer_bits: 4096,
  exponent: 10_000,
  factorial: 10_000,
} as const;

/** Thrown inside the checker when an answer is beyond a limit or no mathematics; never leaves it. */
export class NotMath extends Error {
  override readonly name = 'NotMath';
}

/** Fails the parse under way. */
export function notMath(why: string): never {
  throw new NotMath(why);
}

/** What `work` gives, or null when it fails with `NotMath`. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotMath) return null;
    throw error;
  }
}
