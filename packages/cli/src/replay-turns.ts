import { type HistorySource, type LateParentPolicy, PerwattError } from '@perwatt/core';
import type { TurnPlay } from '@perwatt/harness';
import { parseDuration } from './duration.js';

/** Flags that say how conversations and texts of a trace are played. */
export interface TurnFlags {
  readonly prompts?: 'made-up' | 'trace';
  readonly lateParent?: LateParentPolicy;
  readonly think?: string;
  readonly history?: HistorySource;
  readonly shape?: string;
}

/** Answers whose tokens are counted on this side, spread over the replay. */
const MOST_ANSWERS = 256;

/** The late parent's policy; null where calls go out whatever they go on from. The server's answers have to be waited for. */
export const policyOf = ({ lateParent, history }: TurnFlags): LateParentPolicy | null =>
  lateParent ?? (history === 'server' ? 'wait' : null);

/** How conversations are played. Throws `USAGE` for flags that mean nothing. */
export function turnPlayOf(
  flags: TurnFlags,
  { rows, counted }: { readonly rows: number; readonly counted: boolean },
): TurnPlay {
  const policy = policyOf(flags);
  return {
    policy,
    think_ns: flags.think === undefined ? 0 : parseDuration(flags.think) * 1e6,
    history: flags.history ?? 'trace',
    answers_every: counted ? Math.max(1, Math.ceil(rows / MOST_ANSWERS)) : null,
  };
}

/** Throws `USAGE` for flags of conversations that do not go together. */
export function checkTurnFlags(flags: TurnFlags): void {
  const policy = policyOf(flags);
  const closed = flags.shape === 'closed' || flags.shape === 'single-stream';
  if (flags.think !== undefined && policy !== 'wait')
    throw new PerwattError('USAGE', '--think means nothing without --late-parent wait');
  if (closed && policy !== null && policy !== 'wait')
    throw new PerwattError('USAGE', `--late-parent ${policy} means nothing in a closed loop`);
  if (flags.history === 'server' && flags.prompts === 'made-up')
    throw new PerwattError('USAGE', '--history server means nothing with --prompts made-up');
}
