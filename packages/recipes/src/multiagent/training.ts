import type { Random } from '../numeric/random.js';
import { ascend, probabilities, type SoftmaxTable } from '../numeric/softmax.js';
import type { Debate, MemberPart, Team } from './debate.js';
import { WAYS } from './world.js';

/** One supervised step towards a choice of a row. */
export function imitate(
  table: SoftmaxTable,
  row: number,
  { action, lr }: { readonly action: number; readonly lr: number },
) {
  const p = new Float64Array(table.actions);
  probabilities(table, row, p);
  ascend(table, { row, action, p }, lr);
}

/** Whose answers a label is taken from. */
export type Label = 'debate' | 'majority';

const labelOf = (own: Debate, label: Label): number => (label === 'debate' ? own.consensus : own.majority);

/** Steps of supervised training. */
export interface ImitationRates {
  readonly generator_lr: number;
  readonly critic_lr: number;
  readonly epochs: number;
}

/**
 * Trains every member on its own answers that agree with the label: generators on those of round 1, critics on their moves
 * that end in it; of moves from agreement to agreement only half. Returns the updates made.
 */
export function trainMembers(
  team: Team,
  debates: readonly Debate[],
  {
    rates,
    label,
    random,
  }: { readonly rates: ImitationRates; readonly label: Label; readonly random: Random },
): number {
  let updates = 0;
  for (let epoch = 0; epoch < rates.epochs; epoch++)
    for (const own of debates)
      own.parts.forEach((part, i) => {
        const [generator, critic] = [team.generators[i], team.critics[i]];
        const consensus = labelOf(own, label);
        if (generator !== undefined && part.first.answer === consensus) {
          imitate(generator, own.type, { action: part.first.way, lr: rates.generator_lr });
          updates += 1;
        }
        if (critic !== undefined && rates.critic_lr > 0 && isLesson(part, consensus, random)) {
          imitate(critic, part.bucket, { action: part.move, lr: rates.critic_lr });
          updates += 1;
        }
      });
  return updates;
}

const isLesson = ({ first, last }: MemberPart, consensus: number, random: Random): boolean =>
  last === consensus && (first.answer !== consensus || random.next() < 0.5);

/** Probabilities of ways given that the answer comes out right: p(way) · accuracy(way), to one. A hint does this. */
export function hinted(p: Float64Array, accuracy: Float64Array): Float64Array {
  const out = new Float64Array(WAYS);
  let sum = 0;
  for (let way = 0; way < WAYS; way++) {
    out[way] = (p[way] ?? 0) * (accuracy[way] ?? 0);
    sum += out[way] ?? 0;
  }
  return sum === 0 ? p : out.map((value) => value / sum);
}
