import type { CallRow, Grade, QueryRow, TextRow } from '@perwatt/core';
import { parseQueryId } from '@perwatt/records';
import type { QueryEnergy } from './energy.js';
import type { Cell } from './plan.js';

export interface QueryRowInput {
  readonly cell: Cell;
  readonly run_id: string;
  /** The query's calls of the sitting that answered it. */
  readonly calls: readonly CallRow[];
  readonly energy: QueryEnergy | null;
}

interface AnswerDetail {
  readonly status: 'answered' | 'abstained' | 'failed';
  readonly call_id?: string | null;
  readonly reason?: string;
}

/** The `queries` row of one answer: graded, with its tokens, times and energy. */
export function queryRow(answer: TextRow, { cell, run_id, calls, energy }: QueryRowInput): QueryRow {
  const id = parseQueryId(answer.query_id);
  const item = cell.dataset.items.find((i) => i.id === id?.item_id);
  if (id === null || item === undefined) {
    throw new RangeError(`data set ${cell.dataset.id} has no item for query ${answer.query_id}`);
  }
  const detail = JSON.parse(answer.detail ?? '{}') as AnswerDetail;
  const decisive = calls.find((c) => c.call_id === detail.call_id);
  const grade = gradeOf(answer, { cell, item, detail, finish_reason: decisive?.finish_reason ?? null });
  const sources = new Set(calls.map((c) => c.token_source));
  return {
    run_id,
    cell_id: cell.id,
    query_id: answer.query_id,
    item_id: item.id,
    repeat: id.repeat,
    sitting: answer.sitting,
    dataset: cell.point.dataset,
    subject: item.subject,
    strategy: cell.point.strategy,
    model: cell.point.model,
    accelerator: cell.point.accelerator,
    scheduled_ns: dueTime(calls),
    start_ns: least(calls.map((c) => c.dispatch_ns)),
    end_ns: greatest(calls.map((c) => c.end_ns)),
    calls: calls.length,
    rounds: new Set(calls.map((c) => c.round)).size,
    prompt_tokens: total(calls.map((c) => c.prompt_tokens)),
    completion_tokens: total(calls.map((c) => c.completion_tokens)),
    cached_tokens: total(calls.map((c) => c.cached_tokens)),
    reasoning_tokens: total(calls.map((c) => c.reasoning_tokens)),
    sequential_tokens: longestChain(calls),
    token_source: sources.size === 1 ? ([...sources][0] ?? null) : null,
    status: detail.status,
    error_code: calls.find((c) => c.status !== 'ok')?.status ?? null,
    verdict: grade.verdict,
    score: grade.score,
    extracted: grade.extracted,
    rule: grade.rule,
    grader: cell.grader.id,
    grader_version: cell.grader.version,
    energy_gross_j: energy?.gross_j ?? null,
    energy_net_j: energy?.net_j ?? null,
    energy_lo_j: energy?.lo_j ?? null,
    energy_hi_j: energy?.hi_j ?? null,
    energy_method: energy?.method ?? 'none',
  };
}

interface GradeContext {
  readonly cell: Cell;
  readonly item: Cell['dataset']['items'][number];
  readonly detail: AnswerDetail;
  readonly finish_reason: string | null;
}

type Judged = Pick<Grade, 'verdict' | 'score' | 'extracted' | 'rule'>;

function gradeOf(answer: TextRow, { cell, item, detail, finish_reason }: GradeContext): Judged {
  if (detail.status === 'abstained') return { verdict: 'unparsed', score: 0, extracted: null, rule: null };
  return cell.grader.grade({
    prediction: answer.text ?? '',
    gold: item.gold,
    options: item.options,
    ...(item.aliases === undefined ? {} : { aliases: item.aliases }),
    ...(item.data === undefined ? {} : { data: item.data }),
    finish_reason,
    failed: detail.status === 'failed',
  });
}

/** Null when one part is unknown: a sum over the rest would be too small. */
function total(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return sum;
}

/** Output tokens on the heaviest path from a call without parents to one without children. */
function longestChain(calls: readonly CallRow[]): number | null {
  const depth = new Map<string, number>();
  for (const call of calls.toSorted((a, b) => a.round - b.round)) {
    if (call.completion_tokens === null) return null;
    const parents = (call.parent_ids ?? '').split(' ').map((id) => depth.get(id) ?? 0);
    depth.set(call.call_id, Math.max(0, ...parents) + call.completion_tokens);
  }
  return Math.max(0, ...depth.values());
}

/** When the first call was due; null in a closed loop. */
const dueTime = (calls: readonly CallRow[]) => calls.find((c) => c.sched_ns !== null)?.sched_ns ?? null;

const least = (stamps: readonly bigint[]) => stamps.reduce((a, b) => (a < b ? a : b), stamps[0] ?? 0n);
const greatest = (stamps: readonly bigint[]) => stamps.reduce((a, b) => (a > b ? a : b), stamps[0] ?? 0n);
