import type { CallRecord, CallRequest, CallResult, CallRow, Instant, TextRow } from '@perwatt/core';

/** Who a row belongs to. */
export interface RowOwner {
  readonly run_id: string;
  readonly cell_id: string;
  readonly query_id: string;
  readonly sitting: number;
}

export interface CallContext extends RowOwner {
  readonly phase: 'warmup' | 'measure';
  readonly seq: number;
  readonly model: string;
  readonly round: number;
  /** When the call was due; null or absent in a closed loop, and for calls that follow others. */
  readonly sched_ns?: Instant | null;
  /** Share of the prompt, 0…1, that an earlier call of its prefix began with too; absent for none. */
  readonly shared_prefix?: number;
}

/** The `calls` row of one request and what came of it. */
export function callRow(request: CallRequest, record: CallRecord, context: CallContext): CallRow {
  const { stamps, usage } = record;
  return {
    run_id: context.run_id,
    cell_id: context.cell_id,
    query_id: context.query_id,
    call_id: request.id,
    sitting: context.sitting,
    phase: context.phase,
    seq: context.seq,
    role: request.role,
    endpoint: request.endpoint,
    model: context.model,
    parent_ids: request.parents.length === 0 ? null : request.parents.join(' '),
    round: context.round,
    branch: request.branch ?? null,
    retry: 0,
    sched_ns: context.sched_ns ?? null,
    dispatch_ns: stamps.dispatch_ns,
    socket_ns: stamps.socket_ns,
    sent_ns: stamps.sent_ns,
    headers_ns: stamps.headers_ns,
    first_event_ns: stamps.first_event_ns,
    first_any_ns: stamps.first_any_ns,
    first_content_ns: stamps.first_content_ns,
    last_content_ns: stamps.last_content_ns,
    done_ns: stamps.done_ns,
    end_ns: stamps.end_ns,
    status: record.status,
    http_status: record.http_status,
    finish_reason: record.finish_reason,
    error_kind: record.error_kind,
    error_message: record.error_message,
    max_tokens: request.sampling.max_tokens,
    temperature: request.sampling.temperature,
    top_p: request.sampling.top_p,
    seed: request.sampling.seed ?? null,
    prompt_tokens: usage?.prompt_tokens ?? null,
    completion_tokens: record.n_tokens,
    cached_tokens: usage?.cached_tokens ?? null,
    reasoning_tokens: usage?.reasoning_tokens ?? null,
    token_source: record.token_source,
    events: record.events,
    content_events: record.content_events,
    reads: record.reads,
    bytes_in: BigInt(record.bytes_in),
    bytes_out: BigInt(record.bytes_out),
    conn_reused: record.conn_reused,
    icl_ns: record.icl_ns.length === 0 ? null : record.icl_ns,
    event_tokens: record.event_tokens ?? null,
    prefix_key: request.prefix_key ?? null,
    shared_prefix_tokens:
      usage === null ? null : Math.round(usage.prompt_tokens * (context.shared_prefix ?? 0)),
  };
}

/** The `texts` rows of one call: its prompt, its completion and, where there was any, its reasoning. */
export function textRows(request: CallRequest, record: CallRecord, owner: RowOwner): TextRow[] {
  const { run_id, cell_id, query_id, sitting } = owner;
  const row = (kind: string, text: string): TextRow => ({
    run_id,
    cell_id,
    query_id,
    call_id: request.id,
    sitting,
    kind,
    text,
    detail: null,
  });
  const { input } = request;
  const prompt =
    input.kind === 'completion'
      ? input.prompt
      : input.messages.map((m) => (m.role === 'user' ? m.content : `[${m.role}] ${m.content}`)).join('\n\n');
  const reasoning = record.reasoning === '' ? [] : [row('reasoning', record.reasoning)];
  return [row('prompt', prompt), row('completion', record.content), ...reasoning];
}

/** A call as its strategy sees it. */
export function callResult(request: CallRequest, record: CallRecord): CallResult {
  const failed = record.status !== 'ok';
  return {
    id: request.id,
    text: record.content,
    finish: failed ? 'error' : finishOf(record.finish_reason),
    usage: record.usage,
    mean_logprob: record.mean_logprob ?? null,
    sent_ns: record.stamps.sent_ns ?? record.stamps.dispatch_ns,
    end_ns: record.stamps.end_ns,
    ...(record.reasoning === '' ? {} : { reasoning: record.reasoning }),
    ...(record.tool_calls.length === 0 ? {} : { tool_calls: record.tool_calls }),
    ...(failed ? { error_code: record.status } : {}),
  };
}

const finishOf = (reason: string | null): CallResult['finish'] =>
  reason === 'length' || reason === 'tool_calls' ? reason : 'stop';
