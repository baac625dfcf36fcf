import type { CallRow, QueryRow, TextRow } from '@perwatt/core';

export interface SyntheticQuery {
  readonly run_id: string;
  readonly cell_id: string;
  readonly query_id: string;
  readonly item_id: string;
  readonly repeat: number;
  readonly point: Readonly<Record<'model' | 'accelerator' | 'dataset' | 'strategy', string>>;
  readonly start_ns: bigint;
  readonly end_ns: bigint;
  readonly calls: number;
  readonly tokens: number;
  readonly verdict: string;
  readonly energy_j: number | null;
  readonly method: string;
}

export const queryRow = (q: SyntheticQuery): QueryRow => ({
  run_id: q.run_id,
  cell_id: q.cell_id,
  query_id: q.query_id,
  item_id: q.item_id,
  repeat: q.repeat,
  sitting: 0,
  dataset: q.point.dataset,
  subject: null,
  strategy: q.point.strategy,
  model: q.point.model,
  accelerator: q.point.accelerator,
  scheduled_ns: null,
  start_ns: q.start_ns,
  end_ns: q.end_ns,
  calls: q.calls,
  rounds: 1,
  prompt_tokens: 40 * q.calls,
  completion_tokens: q.verdict === 'error' ? null : q.tokens * q.calls,
  cached_tokens: null,
  reasoning_tokens: null,
  sequential_tokens: q.tokens,
  token_source: 'server_usage',
  status: q.verdict === 'error' ? 'failed' : 'answered',
  error_code: q.verdict === 'error' ? 'timeout' : null,
  verdict: q.verdict,
  score: q.verdict === 'unscored' ? null : Number(q.verdict === 'correct'),
  extracted: q.verdict === 'unparsed' ? null : '12',
  rule: 'numeric.last',
  grader: 'numeric',
  grader_version: 1,
  energy_gross_j: q.energy_j,
  energy_net_j: null,
  energy_lo_j: null,
  energy_hi_j: null,
  energy_method: q.energy_j === null ? 'none' : q.method,
});

const outcomeOf = ({ verdict, tokens }: SyntheticQuery) =>
  verdict === 'error'
    ? {
        status: 'timeout',
        finish_reason: null,
        error_kind: 'idle_timeout',
        error_message: 'nothing came for 60 s',
        completion_tokens: null,
        token_source: null,
      }
    : {
        status: 'ok',
        finish_reason: 'stop',
        error_kind: null,
        error_message: null,
        completion_tokens: tokens,
        token_source: 'server_usage',
      };

/** The calls of a query, one after another; the first token of each after a twelfth of its time. */
export const callRows = (q: SyntheticQuery): CallRow[] =>
  Array.from({ length: q.calls }, (_, i): CallRow => {
    const length = (q.end_ns - q.start_ns) / BigInt(q.calls);
    const start = q.start_ns + BigInt(i) * length;
    const first = start + length / 12n;
    return {
      run_id: q.run_id,
      cell_id: q.cell_id,
      query_id: q.query_id,
      call_id: String(i),
      sitting: 0,
      phase: 'measure',
      seq: i,
      role: 'solver',
      endpoint: 'embedded',
      model: q.point.model,
      parent_ids: null,
      round: 0,
      branch: q.calls > 1 ? i : null,
      retry: 0,
      sched_ns: null,
      dispatch_ns: start,
      socket_ns: null,
      sent_ns: null,
      headers_ns: null,
      first_event_ns: first,
      first_any_ns: first,
      first_content_ns: first,
      last_content_ns: start + length,
      done_ns: null,
      end_ns: start + length,
      ...outcomeOf(q),
      http_status: null,
      max_tokens: 24,
      temperature: 0,
      top_p: 1,
      seed: null,
      prompt_tokens: 40,
      cached_tokens: null,
      reasoning_tokens: null,
      events: q.tokens,
      content_events: q.tokens,
      reads: q.tokens,
      bytes_in: 400n,
      bytes_out: 300n,
      conn_reused: null,
      icl_ns: [],
      event_tokens: null,
      prefix_key: null,
      shared_prefix_tokens: null,
    };
  });

export const textRows = (
  q: SyntheticQuery,
  texts: { readonly prompt: string; readonly completion: string },
) =>
  (['prompt', 'completion'] as const).map(
    (kind): TextRow => ({
      run_id: q.run_id,
      cell_id: q.cell_id,
      query_id: q.query_id,
      call_id: '0',
      sitting: 0,
      kind,
      text: texts[kind],
      detail: null,
    }),
  );
