import type { CallRow, Grade, GradeRow, Item, QueryRow, TextRow } from '@perwatt/core';
import { parseQueryId } from '@perwatt/records';
import type { QueryEnergy } from './energy.js';
import { detailOf, gradeAnswer, gradeRow, graderModes } from './grade-answer.js';
import { attemptRows } from './grade-attempts.js';
import type { Cell } from './plan.js';

export interface QueryRowInput {
  readonly cell: Cell;
  readonly run_id: string;
  /** The query's calls of the sitting that answered it. */
  readonly calls: readonly CallRow[];
  readonly energy: QueryEnergy | null;
  /** Completions of the query by call, for the grades of its attempts; without them only its answer is graded. */
  readonly texts?: ReadonlyMap<string, string | null>;
  /** The cell's items by id; looked up in its data set unless given. */
  readonly items?: ReadonlyMap<string, Item>;
}

/** What one answer gives: its row, graded in the cell's mode, and its grades in both. */
export interface GradedQuery {
  readonly row: QueryRow;
  readonly grades: readonly GradeRow[];
}

/** The rows of one answer: graded in both modes, with its tokens, times and energy. */
export function gradedQuery(answer: TextRow, input: QueryRowInput): GradedQuery {
  const { cell, run_id, calls, items } = input;
  const id = parseQueryId(answer.query_id);
  const item = items?.get(id?.item_id ?? '') ?? cell.dataset.items.find((i) => i.id === id?.item_id);
  if (id === null || item === undefined) {
    throw new RangeError(`data set ${cell.dataset.id} has no item for query ${answer.query_id}`);
  }
  const decisive = calls.find((c) => c.call_id === detailOf(answer).call_id);
  const { grader } = cell;
  const finish_reason = decisive?.finish_reason ?? null;
  const grades = graderModes.map((mode) => gradeAnswer(answer, { grader, mode, item, finish_reason }));
  const grade = grades[graderModes.indexOf(cell.mode)];
  if (grade === undefined) throw new RangeError(`no grade in mode ${cell.mode}`);
  const known_bad = cell.dataset.known_bad?.includes(item.id) ?? false;
  const owner = { run_id, cell_id: cell.id, item, pass: 0, grader, known_bad };
  const attempts = attemptRows(answer, { calls, texts: input.texts ?? new Map(), owner, modes: graderModes });
  return {
    row: rowOf(answer, { ...input, item, repeat: id.repeat, grade }),
    grades: [
      ...grades.map((own, i) => gradeRow(answer, { ...own, mode: graderModes[i] ?? own.mode }, owner)),
      ...attempts,
    ],
  };
}

interface RowInput extends QueryRowInput {
  readonly item: Item;
  readonly repeat: number;
  readonly grade: Grade;
}

function rowOf(answer: TextRow, { cell, run_id, calls, energy, item, repeat, grade }: RowInput): QueryRow {
  const sources = new Set(calls.map((c) => c.token_source));
  return {
    run_id,
    cell_id: cell.id,
    query_id: answer.query_id,
    item_id: item.id,
    repeat,
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
    status: detailOf(answer).status,
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
