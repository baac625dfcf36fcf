import type { Random } from '../numeric/random.js';
import {
  actionAt,
  createTable,
  entropy,
  klDivergence,
  probabilities,
  type SoftmaxTable,
} from '../numeric/softmax.js';
import { plurality } from '../numeric/votes.js';
import { type Attempt, attempt, type Solving, TYPES, WAYS } from './world.js';

/** What a critic may do with its answer once it has seen the others'. */
export const KEEP = 0;
export const ADOPT = 1;
const MOVES = 3;

/** A team: generators that solve, critics that look at each other's answers. */
export interface Team {
  readonly generators: readonly SoftmaxTable[];
  readonly critics: readonly SoftmaxTable[];
}

const BUCKETS = 6;

/** A critic before training: mostly keeps its answer. */
export function createCritic(): SoftmaxTable {
  const table = createTable(BUCKETS, MOVES);
  for (let row = 0; row < BUCKETS; row++) table.logits.set([0.6, 0.2, 0.2].map(Math.log), row * MOVES);
  return table;
}

/** Row of a critic: how many of the others stand behind their plurality, and whether it says what the critic said. */
function bucketOf(votes: number, others: number, agrees: boolean): number {
  const support = votes <= 1 ? 0 : votes > others / 2 ? 2 : 1;
  return support * 2 + (agrees ? 1 : 0);
}

/** What one member did in a debate. */
export interface MemberPart {
  readonly first: Attempt;
  readonly bucket: number;
  readonly move: number;
  /** Answer of round 2. */
  readonly last: number;
}

/** A debate of two rounds over one item. */
export interface Debate {
  readonly type: number;
  readonly parts: readonly MemberPart[];
  readonly consensus: number;
  /** Plurality of round 1. */
  readonly majority: number;
}

/** Lets a team solve an item of a type: all on their own, then each after a look at the others. */
export function debate(team: Team, type: number, solving: Solving): Debate {
  const { random } = solving;
  const p = new Float64Array(WAYS);
  const firsts = team.generators.map((generator) => {
    probabilities(generator, type, p);
    return attempt(type, p, solving);
  });
  const parts = firsts.map((first, i): MemberPart => {
    const others = firsts.filter((_, j) => j !== i).map(({ answer }) => answer);
    const view = plurality(others, random) ?? { answer: first.answer, votes: 0 };
    const bucket = bucketOf(view.votes, others.length, view.answer === first.answer);
    const move = moveOf(team.critics[i], bucket, random);
    if (move === KEEP) return { first, bucket, move, last: first.answer };
    if (move === ADOPT) return { first, bucket, move, last: view.answer };
    const generator = team.generators[i];
    if (generator !== undefined) probabilities(generator, type, p);
    return { first, bucket, move, last: attempt(type, p, solving).answer };
  });
  const consensus = plurality(
    parts.map(({ last }) => last),
    random,
  );
  const majority = plurality(
    firsts.map(({ answer }) => answer),
    random,
  );
  return { type, parts, consensus: consensus?.answer ?? 0, majority: majority?.answer ?? 0 };
}

function moveOf(critic: SoftmaxTable | undefined, bucket: number, random: Random): number {
  if (critic === undefined) return KEEP;
  const q = new Float64Array(MOVES);
  probabilities(critic, bucket, q);
  return actionAt(q, random.next());
}

/** How alike a team's generators are. */
export interface Diversity {
  /** Entropy of the members' mean, mean over types, nats. */
  readonly mixture_entropy: number;
  /** KL between members, mean over ordered pairs and types, nats. */
  readonly cross_kl: number;
}

/** Diversity of a team's ways to solve. */
export function diversityOf({ generators }: Team): Diversity {
  let [mixed, cross, pairs] = [0, 0, 0];
  for (let type = 0; type < TYPES; type++) {
    const all = generators.map((generator) => {
      const p = new Float64Array(WAYS);
      probabilities(generator, type, p);
      return p;
    });
    mixed += entropy(meanOf(all)) / TYPES;
    all.forEach((p, i) => {
      all.forEach((q, j) => {
        if (i === j) return;
        cross += klDivergence(p, q);
        pairs += 1;
      });
    });
  }
  return { mixture_entropy: mixed, cross_kl: pairs === 0 ? 0 : cross / pairs };
}

const meanOf = (all: readonly Float64Array[]): Float64Array =>
  Float64Array.from({ length: WAYS }, (_, way) =>
    all.reduce((sum, p) => sum + (p[way] ?? 0) / all.length, 0),
  );
