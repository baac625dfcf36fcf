import {
  type CallRecord,
  type CallRequest,
  type CallRow,
  createRng,
  type Instant,
  type Item,
  type Outcome,
  seedFrom,
  type TextRow,
} from '@perwatt/core';
import { type BoundClients, clientFor } from './bound-clients.js';
import type { Cell } from './plan.js';
import { type Prefixes, promptText } from './prefixes.js';
import { callResult, callRow, type RowOwner, textRows } from './rows.js';
import { strategyContext } from './strategy-aids.js';

/** What of a cell its queries are asked with. */
export type AskingCell = Pick<
  Cell,
  'seed' | 'strategy' | 'params' | 'sampling' | 'grader' | 'mode' | 'max_tokens' | 'aids'
>;

export interface QueryContext extends RowOwner {
  /** What the endpoints of the strategy stand for. */
  readonly clients: BoundClients;
  readonly phase: 'warmup' | 'measure';
  readonly signal: AbortSignal;
  /** When the query was due; null or absent in a closed loop. */
  readonly sched_ns?: Instant | null;
  /** Readings of what a query spends while it goes on; absent where its strategy does not ask for them. */
  readonly live?: () => { readonly energy_j: () => number | null };
  /** Prompts sent before, by prefix; without it nothing is told of what prompts share. */
  readonly prefixes?: Prefixes;
  /** Order of dispatch, counted over the sitting. */
  readonly nextSeq: () => number;
  /** Takes each call's rows as it ends. */
  readonly onCall: (call: CallRow, texts: readonly TextRow[]) => void;
}

/**
 * Puts one item once through the cell's strategy. Null when the run was stopped meanwhile: such a query leaves call
 * rows at most, never an answer, and is asked anew by a resume.
 */
export async function runQuery(
  cell: AskingCell,
  { item, repeat }: { readonly item: Item; readonly repeat: number },
  context: QueryContext,
): Promise<Outcome | null> {
  const rng = createRng(seedFrom(cell.seed, item.id, repeat));
  const query = cell.strategy.run(
    item,
    cell.params,
    strategyContext(cell, item, { rng, ...context.live?.() }),
  );
  let step = await query.next();
  for (let round = 0; !step.done; round++) {
    const requests = step.value;
    const records = await Promise.all(
      requests.map((request) => send(cell, request, { ...context, round, repeat })),
    );
    if (context.signal.aborted) {
      await query.return({ status: 'failed', reason: 'stopped', candidates: [] });
      return null;
    }
    step = await query.next(requests.map((request, i) => callResult(request, at(records, i))));
  }
  return step.value;
}

async function send(
  cell: AskingCell,
  request: CallRequest,
  context: QueryContext & { readonly round: number; readonly repeat: number },
): Promise<CallRecord> {
  const seq = context.nextSeq();
  const shared_prefix = sharedPrefix(request, context);
  const sampling = { ...request.sampling, ...cell.sampling };
  const { client, model, request_model } = clientFor(context.clients, request.endpoint);
  const record = await client.call(
    { model: request_model, input: request.input, sampling },
    { signal: context.signal },
  );
  const sched_ns = context.round === 0 ? (context.sched_ns ?? null) : null;
  const row = callRow(request, record, { ...context, sched_ns, seq, model, shared_prefix });
  context.onCall(row, textRows(request, record, context));
  return record;
}

/** Share of a call's prompt that an earlier call of its prefix and repeat began with too. */
const sharedPrefix = (
  { prefix_key, input }: CallRequest,
  { prefixes, repeat }: Pick<QueryContext, 'prefixes'> & { readonly repeat: number },
): number =>
  prefix_key === undefined || prefixes === undefined
    ? 0
    : prefixes.share(`${repeat} ${prefix_key}`, promptText(input));

function at(records: readonly CallRecord[], index: number): CallRecord {
  const record = records[index];
  if (record === undefined) throw new RangeError(`no record for request ${index}`);
  return record;
}

/** The `answer` row that completes a query. Written after the rows of all its calls. */
export function answerRow(outcome: Outcome, owner: RowOwner): TextRow {
  const { run_id, cell_id, query_id, sitting } = owner;
  const { status, candidates } = outcome;
  const rest =
    outcome.status === 'answered'
      ? { call_id: outcome.call_id, decisions: outcome.decisions }
      : { reason: outcome.reason };
  return {
    run_id,
    cell_id,
    query_id,
    call_id: null,
    sitting,
    kind: 'answer',
    text: outcome.status === 'answered' ? outcome.answer : null,
    detail: JSON.stringify({ status, ...rest, candidates }),
  };
}
