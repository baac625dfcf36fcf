import { below, type Random } from '../numeric/random.js';
import { actionAt, ascend, normalise, type SoftmaxTable } from '../numeric/softmax.js';

/** What an actor may emit: one merge of its operands, its answer, a token without use, or a broken end. */
export const WORK = 0;
export const ANSWER = 1;
export const RAMBLE = 2;
export const MALFORM = 3;
/** Number of those tokens. */
export const TOKENS = 4;
/** Most tokens of one actor. */
export const CAP = 64;

/** Logits of both roles: a row by situation, and one row that all situations share. */
export interface ActorPolicy {
  readonly rows: SoftmaxTable;
  readonly bias: SoftmaxTable;
}

/** The two kinds of actors. */
export const ROOT = 0;
export const CLONE = 1;

const bucketOf = (tokens: number): number => (tokens < 6 ? 0 : tokens < 12 ? 1 : tokens < 24 ? 2 : 3);

interface Situation {
  readonly role: number;
  readonly left: number;
  readonly tokens: number;
  readonly progress: number;
}

/** Row of a situation. */
export const rowOf = ({ role, left, tokens, progress }: Situation): number =>
  ((role * 4 + Math.min(left, 3)) * 4 + bucketOf(tokens)) * 2 + progress;

/** Rows of `rowOf`. */
export const ACTOR_ROWS = 64;

/** Logits before training: an actor mostly works while there is something left, and mostly answers then. */
export function setStart({ rows }: ActorPolicy, ramble: number): void {
  for (let row = 0; row < ACTOR_ROWS; row++) {
    const left = (row >> 3) & 3;
    const bucket = (row >> 1) & 3;
    const r = bucket === 2 ? ramble + 0.7 : ramble;
    rows.logits.set(left > 0 ? [1.8, -0.6, r, -2] : [0, 1.6, r, -2], row * TOKENS);
  }
}

/** What one actor did: its tokens with the rows they were chosen in, and how it ended. */
export interface Episode {
  /** Merges that it had to make. */
  readonly merges: number;
  readonly rows: Uint8Array;
  readonly actions: Uint8Array;
  readonly probabilities: Float64Array;
  tokens: number;
  /** An answer was given. */
  answered: boolean;
  /** An answer was given, nothing was left to merge, and no merge went wrong. */
  right: boolean;
}

/** An empty record, to be filled by `act`. */
const createEpisode = (merges: number): Episode => ({
  merges,
  rows: new Uint8Array(CAP),
  actions: new Uint8Array(CAP),
  probabilities: new Float64Array(CAP * TOKENS),
  tokens: 0,
  answered: false,
  right: false,
});

/** Chance that a merge goes wrong in a context of so many tokens: the premise that long contexts hurt. */
export const spoilRate = (context: number): number => Math.min(0.5, 0.004 + 0.0045 * context);

/** The task of one actor: merges to make, in a context of so many tokens. */
export interface ActorTask {
  readonly role: number;
  readonly merges: number;
  readonly context: number;
}

/** Writes the probabilities of a situation into `out`. */
export function actorProbabilities({ rows, bias }: ActorPolicy, row: number, out: Float64Array): void {
  for (let a = 0; a < TOKENS; a++) out[a] = (rows.logits[row * TOKENS + a] ?? 0) + (bias.logits[a] ?? 0);
  normalise(out);
}

/** Lets an actor work until it ends or reaches the cap. */
export function act(policy: ActorPolicy, task: ActorTask, random: Random): Episode {
  const episode = createEpisode(task.merges);
  const p = new Float64Array(TOKENS);
  let [left, progress, spoiled, ended] = [task.merges, 0, false, false];
  while (!ended && episode.tokens < CAP) {
    const t = episode.tokens;
    const row = rowOf({ role: task.role, left, tokens: t, progress });
    actorProbabilities(policy, row, p);
    const action = actionAt(p, random.next());
    episode.rows[t] = row;
    episode.actions[t] = action;
    episode.probabilities.set(p, t * TOKENS);
    if (action === WORK && left > 0) {
      spoiled = random.next() < spoilRate(task.context + t + 1) || spoiled;
      left -= 1;
      progress = 1;
    }
    episode.answered = action === ANSWER;
    ended = action === ANSWER || action === MALFORM;
    episode.tokens = t + 1;
  }
  episode.right = episode.answered && left === 0 && !spoiled;
  return episode;
}

/** Adds weight times the gradient of the log-probability of all that an actor emitted. */
export function addEpisode(
  gradient: ActorPolicy,
  { rows, actions, probabilities, tokens }: Episode,
  weight: number,
): void {
  if (weight === 0) return;
  for (let t = 0; t < tokens; t++) {
    const choice = {
      action: actions[t] ?? 0,
      p: probabilities.subarray(t * TOKENS, (t + 1) * TOKENS),
    };
    ascend(gradient.rows, { row: rows[t] ?? 0, ...choice }, weight);
    ascend(gradient.bias, { row: 0, ...choice }, weight);
  }
}

/** A wrong value: half of the time one of three systematic ones (1 to 3), else one of six others (4 to 9). */
export const wrongValue = (random: Random): number =>
  random.next() < 0.5 ? 1 + below(random, 3) : 4 + below(random, 6);
