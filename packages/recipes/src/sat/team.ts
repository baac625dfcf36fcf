import { groupAdvantages } from '../numeric/advantage.js';
import type { Random } from '../numeric/random.js';
import { actionFrom } from '../numeric/softmax.js';
import { ACTIONS, HORIZON, MEMBERS, placeOf, STATES, type TeamGame } from './game.js';
import {
  divergences,
  type Episodes,
  highQuantile,
  type Member,
  memberProbabilities,
  type UpdateRule,
  updateMember,
} from './member.js';

/** Plays `per_state` episodes from every state, and takes the advantages within each start state. */
export function playTeam(
  game: TeamGame,
  team: readonly Member[],
  { per_state, random }: { readonly per_state: number; readonly random: Random },
): Episodes & { readonly reward: number } {
  const count = per_state * STATES;
  const states = new Uint8Array(count * HORIZON);
  const actions = team.map(() => new Uint8Array(count * HORIZON));
  const advantages = new Float64Array(count);
  const p = team.map(memberProbabilities);
  let total = 0;
  for (let start = 0; start < STATES; start++) {
    const returns = new Float64Array(per_state);
    for (let k = 0; k < per_state; k++)
      returns[k] = playOne(
        { game, p, random, states, actions, at: (start * per_state + k) * HORIZON },
        start,
      );
    groupAdvantages(returns).forEach((advantage, k) => {
      advantages[start * per_state + k] = Math.min(5, Math.max(-5, advantage));
    });
    total += returns.reduce((sum, value) => sum + value, 0);
  }
  return { count, states, actions, advantages, reward: total / count / HORIZON };
}

interface Play {
  readonly game: TeamGame;
  readonly p: readonly Float64Array[];
  readonly random: Random;
  readonly states: Uint8Array;
  readonly actions: readonly Uint8Array[];
  readonly at: number;
}

function playOne({ game, p, random, states, actions, at }: Play, start: number): number {
  let state = start;
  let total = 0;
  for (let t = at; t < at + HORIZON; t++) {
    states[t] = state;
    let joint = 0;
    for (let m = 0; m < MEMBERS; m++) {
      const own = p[m] ?? new Float64Array(0);
      const action = actionFrom(own, { from: state * ACTIONS, n: ACTIONS, u: random.next() });
      joint = joint * ACTIONS + action;
      const list = actions[m];
      if (list !== undefined) list[t] = action;
    }
    const place = placeOf(state, joint);
    total += game.reward[place] ?? 0;
    state = game.successor[place] ?? 0;
  }
  return total;
}

/** The trust region of one member's update. */
export interface Monitor {
  /** Most divergence at the quantile, nats; infinite for no monitor. */
  readonly delta: number;
  readonly quantile: number;
  readonly retries: number;
}

/** How a monitored update went. */
export interface MonitoredUpdate {
  readonly accepted: boolean;
  readonly rejected: number;
  /** Divergence at the quantile of what was kept; 0 where nothing was. */
  readonly divergence: number;
  /** Weight of the penalty for the next update. */
  readonly beta: number;
}

/**
 * Updates one member and keeps the result only if the high quantile over states of KL(new‖old) is at most δ. Otherwise the
 * member is put back bit by bit, the penalty grows by half, the step shrinks to 0.6, and it is tried again; after the last
 * retry the old one stays.
 */
export function monitoredUpdate(
  member: Member,
  episodes: Episodes,
  options: { readonly index: number; readonly rule: UpdateRule; readonly monitor: Monitor },
): MonitoredUpdate {
  const { index, rule, monitor } = options;
  const kept = member.table.logits.slice();
  const before = memberProbabilities(member);
  let { lr, beta } = rule;
  for (let rejected = 0; rejected <= monitor.retries; rejected++) {
    updateMember(member, episodes, { index, rule: { ...rule, lr, beta } });
    const divergence = highQuantile(divergences(memberProbabilities(member), before), monitor.quantile);
    if (divergence <= monitor.delta) return { accepted: true, rejected, divergence, beta: beta / 1.2 };
    member.table.logits.set(kept);
    beta *= 1.5;
    lr *= 0.6;
  }
  return { accepted: false, rejected: monitor.retries + 1, divergence: 0, beta };
}
