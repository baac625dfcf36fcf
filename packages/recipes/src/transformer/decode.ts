import { addSpan, dot, softmaxSpan } from './attention.js';
import { positionOf } from './batch.js';
import { runRows } from './forward.js';
import type { Model, ModelSize } from './model.js';
import { createReals, type Reals } from './reals.js';
import { type LayerSpace, type Workspace, workspaces } from './workspace.js';

/** One token of one sequence. */
export interface DecodeRow {
  readonly token: number;
  /** Place of the sequence. */
  readonly slot: number;
  /** How many of the sequence's tokens are given. */
  readonly given: number;
}

/** Writes on where sequences stand, with keys and values of what is behind them kept. */
export interface Decoder {
  /**
   * Takes the i-th token of each of some sequences, and returns logits, a row a sequence. A sequence has to be given its
   * tokens in order.
   */
  step(rows: readonly DecodeRow[], i: number): Reals;
}

/** Makes room for so many sequences. */
export function createDecoder(model: Model, sequences: number): Decoder {
  const { positions, width, layers } = model.size;
  const space: Workspace = workspaces(model.size, model.precision)(sequences);
  const cache = () => createReals(sequences * positions * width, model.precision);
  const [keys, values] = [Array.from({ length: layers }, cache), Array.from({ length: layers }, cache)];
  return {
    step(rows, i) {
      const { answer_at } = model.size;
      const input = {
        rows: rows.length,
        tokens: Int32Array.from(rows, ({ token }) => token),
        positions: Int32Array.from(rows, ({ given }) => positionOf(i, { given, answer_at })),
      };
      const slots = rows.map(({ slot }) => slot);
      runRows(model, space, input, (layer, l) =>
        attendCached(layer, { keys: keys[l] as Reals, values: values[l] as Reals, slots, i }, model.size),
      );
      return space.logits;
    },
  };
}

/** What is kept of the tokens behind: a key and a value each, the sequences one after the other. */
interface Cached {
  readonly keys: Reals;
  readonly values: Reals;
  readonly slots: readonly number[];
  readonly i: number;
}

/** Keeps each row's key and value, and lets its query look at all that is kept of its sequence. */
function attendCached(
  { qkv, shares, attended }: LayerSpace,
  { keys, values, slots, i }: Cached,
  { positions, width, heads }: ModelSize,
): void {
  const n = width / heads;
  const scale = 1 / Math.sqrt(n);
  const seen = i + 1;
  for (const [row, slot] of slots.entries()) {
    const at = row * 3 * width;
    const start = slot * positions * width;
    const share = row * heads * positions;
    keys.set(qkv.subarray(at + width, at + 2 * width), start + i * width);
    values.set(qkv.subarray(at + 2 * width, at + 3 * width), start + i * width);
    for (let head = 0; head < width; head += n) {
      for (let j = 0; j < seen; j++)
        shares[share + j] = scale * dot(qkv, keys, { i: at + head, j: start + j * width + head, n });
      softmaxSpan(shares, share, seen);
      const to = row * width + head;
      attended.fill(0, to, to + n);
      for (let j = 0; j < seen; j++) {
        const weight = shares[share + j] as number;
        addSpan(attended, values, { i: to, j: start + j * width + head, n, weight });
      }
    }
  }
}

/** What was written after a prompt. */
export interface Writing {
  readonly tokens: number[];
  /** Log-probability of each token when it was drawn. */
  readonly log_probs: number[];
}

/** How tokens are chosen. */
export interface Choosing {
  /** The most tokens a sequence. */
  readonly most: number;
  /** The token that ends a sequence. */
  readonly end: number;
  /** A number in [0, 1) for the next token of a sequence; null to take the likeliest. */
  readonly draw: ((sequence: number) => number) | null;
}

/** A token drawn from a row of logits, which become probabilities; the likeliest where `u` is null. */
export function chooseToken(
  logits: Reals,
  { row, vocabulary, u }: { readonly row: number; readonly vocabulary: number; readonly u: number | null },
): { readonly token: number; readonly log_prob: number } {
  const at = row * vocabulary;
  softmaxSpan(logits, at, vocabulary);
  const token = u === null ? likeliest(logits, at, vocabulary) : drawn(logits, { at, vocabulary, u });
  return { token, log_prob: Math.log(Math.max(logits[at + token] ?? 0, Number.MIN_VALUE)) };
}

function likeliest(p: Reals, at: number, vocabulary: number): number {
  let best = 0;
  for (let v = 1; v < vocabulary; v++) if ((p[at + v] as number) > (p[at + best] as number)) best = v;
  return best;
}

function drawn(
  p: Reals,
  { at, vocabulary, u }: { readonly at: number; readonly vocabulary: number; readonly u: number },
): number {
  let sum = 0;
  for (let v = 0; v < vocabulary - 1; v++) {
    sum += p[at + v] as number;
    if (u < sum) return v;
  }
  return vocabulary - 1;
}

/** Writes after all prompts at once, token by token, until each has ended. */
export function complete(
  model: Model,
  prompts: readonly (readonly number[])[],
  choosing: Choosing,
): Writing[] {
  const { most, end, draw } = choosing;
  const { vocabulary } = model.size;
  const decoder = createDecoder(model, prompts.length);
  const written = prompts.map((): Writing => ({ tokens: [], log_probs: [] }));
  const rowOf = (slot: number, i: number): DecodeRow => {
    const prompt = prompts[slot] ?? [];
    const token = prompt[i] ?? written[slot]?.tokens[i - prompt.length] ?? 0;
    return { token, slot, given: prompt.length };
  };
  let open = prompts.map((_, sequence) => sequence);
  for (let i = 0; open.length > 0; i++) {
    const logits = decoder.step(
      open.map((sequence) => rowOf(sequence, i)),
      i,
    );
    open = open.filter((sequence, row) => {
      if (i + 1 < (prompts[sequence]?.length ?? 0)) return true;
      const u = draw === null ? null : draw(sequence);
      const { token, log_prob } = chooseToken(logits, { row, vocabulary, u });
      const own = written[sequence];
      own?.tokens.push(token);
      own?.log_probs.push(log_prob);
      return token !== end && (own?.tokens.length ?? most) < most;
    });
  }
  return written;
}
