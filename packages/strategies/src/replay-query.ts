import {
  type CallRequest,
  type CallResult,
  type Item,
  type Outcome,
  PerwattError,
  type Strategy,
  type StrategyContext,
} from '@perwatt/core';

/** One recorded call. */
export interface RecordedCall {
  readonly request: CallRequest;
  readonly result: CallResult;
}

/** What is put once through a strategy. */
export interface QueryPlace<P> {
  readonly item: Item;
  readonly params: P;
  readonly context: StrategyContext;
}

/**
 * Runs a query on its recorded answers, without sending anything. Throws `REPLAY_DIFFERS` at the first request that is not the
 * recorded one, and when the record lacks a call that the strategy makes.
 */
export async function replayQuery<P>(
  strategy: Strategy<P>,
  { item, params, context }: QueryPlace<P>,
  transcript: readonly RecordedCall[],
): Promise<Outcome> {
  const recorded = new Map(transcript.map((call) => [call.request.id, call]));
  const query = strategy.run(item, params, context);
  let step = await query.next();
  while (!step.done) step = await query.next(step.value.map((request) => resultOf(request, recorded)));
  return step.value;
}

function resultOf(request: CallRequest, recorded: ReadonlyMap<string, RecordedCall>): CallResult {
  const call = recorded.get(request.id);
  if (call === undefined) throw new PerwattError('REPLAY_DIFFERS', `the record has no call "${request.id}"`);
  const [now, then] = [JSON.stringify(request), JSON.stringify(call.request)];
  if (now !== then)
    throw new PerwattError('REPLAY_DIFFERS', `call "${request.id}" is not the recorded one`, {
      hint: `recorded: ${then.slice(0, 400)}\nnow: ${now.slice(0, 400)}`,
    });
  return call.result;
}
