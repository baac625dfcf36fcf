import type { CallRequest, CallResult, Outcome, Strategy, StrategyContext } from '@perwatt/core';
import { issueText, issueWords, PerwattError } from '@perwatt/core';
import * as z from 'zod';

/** What one query may spend. What is left out is not limited. */
export const Budget = z.strictObject({
  calls: z.int().positive().optional().describe('Most calls'),
  tokens: z.int().positive().optional().describe('Most output tokens; calls are shortened to what is left'),
  seconds: z.number().positive().optional().describe('No call starts later than this after the first'),
  joules: z
    .number()
    .positive()
    .optional()
    .describe('No call starts after the query’s measured energy has reached this'),
});
/** A budget that was checked. */
export type Budget = z.infer<typeof Budget>;

/** Reads a budget. Throws `INPUT_INVALID` that names the strategy. */
export function parseBudget(strategy: string, input: unknown): Budget {
  const read = Budget.safeParse(input, { error: issueWords, reportInput: true });
  if (read.success) return read.data;
  const problems = read.error.issues.map((issue) => issueText(issue.path.join('.') || 'it', issue));
  throw new PerwattError('INPUT_INVALID', `strategy "${strategy}": budget: ${problems.join('; ')}`);
}

type Run = AsyncGenerator<readonly CallRequest[], Outcome, readonly CallResult[]>;

/**
 * The same strategy under a budget. Calls that it does not cover are not sent: the strategy gets a failed result for each
 * (`budget_calls`, `budget_tokens`, `budget_seconds`, `budget_joules`) and ends with what it has; a query that has nothing then
 * abstains. Decisions say how many calls were withheld.
 */
export function budgeted<P>(strategy: Strategy<P>, budget: Budget): Strategy<P> {
  return {
    ...strategy,
    calls: (params) => Math.min(strategy.calls(params), budget.calls ?? Number.POSITIVE_INFINITY),
    run: (item, params, context) => withinBudget(strategy.run(item, params, context), budget, context),
  };
}

interface Spent {
  calls: number;
  tokens: number;
  first_ns: bigint | null;
  last_ns: bigint | null;
  withheld: number;
  reason: string | null;
}

async function* withinBudget(run: Run, budget: Budget, context: StrategyContext): Run {
  const spent: Spent = { calls: 0, tokens: 0, first_ns: null, last_ns: null, withheld: 0, reason: null };
  let step = await run.next();
  while (!step.done) {
    const asked = step.value;
    const reason = exhausted(budget, spent, context);
    const room = reason === null ? Math.min(asked.length, (budget.calls ?? Infinity) - spent.calls) : 0;
    const covered = shortened(asked.slice(0, room), budget, spent);
    const results = covered.length === 0 ? [] : yield covered;
    for (const result of results) count(spent, result, covered);
    const missing = asked
      .slice(covered.length)
      .map((call) => withheld(call, spent, reason ?? 'budget_calls'));
    if (missing.length > 0) spent.reason ??= reason ?? 'budget_calls';
    step = await run.next([...results, ...missing]);
  }
  return closed(step.value, spent);
}

function exhausted(budget: Budget, spent: Spent, { energy_j }: StrategyContext): string | null {
  if (budget.calls !== undefined && spent.calls >= budget.calls) return 'budget_calls';
  if (budget.tokens !== undefined && spent.tokens >= budget.tokens) return 'budget_tokens';
  const passed_ns = spent.first_ns === null || spent.last_ns === null ? 0n : spent.last_ns - spent.first_ns;
  if (budget.seconds !== undefined && Number(passed_ns) / 1e9 >= budget.seconds) return 'budget_seconds';
  const joules = budget.joules === undefined ? null : (energy_j?.() ?? null);
  return budget.joules !== undefined && joules !== null && joules >= budget.joules ? 'budget_joules' : null;
}

/** Calls with no more tokens each than their equal share of what is left; those that would get none are left out. */
function shortened(calls: readonly CallRequest[], { tokens }: Budget, spent: Spent): CallRequest[] {
  if (tokens === undefined) return [...calls];
  const left = tokens - spent.tokens;
  const sent = calls.slice(0, left);
  return sent.map((call, i) => {
    const share = Math.floor(left / sent.length) + (i < left % sent.length ? 1 : 0);
    return { ...call, sampling: { ...call.sampling, max_tokens: Math.min(call.sampling.max_tokens, share) } };
  });
}

function count(spent: Spent, result: CallResult, covered: readonly CallRequest[]): void {
  const allowed = covered.find((call) => call.id === result.id)?.sampling.max_tokens ?? 0;
  spent.calls += 1;
  spent.tokens += result.usage?.completion_tokens ?? (result.finish === 'error' ? 0 : allowed);
  if (spent.first_ns === null || result.sent_ns < spent.first_ns) spent.first_ns = result.sent_ns;
  if (spent.last_ns === null || result.end_ns > spent.last_ns) spent.last_ns = result.end_ns;
}

function withheld({ id }: CallRequest, spent: Spent, error_code: string): CallResult {
  spent.withheld += 1;
  const at = (spent.last_ns ?? 0n) as CallResult['end_ns'];
  return { id, text: '', finish: 'error', error_code, usage: null, sent_ns: at, end_ns: at };
}

function closed(outcome: Outcome, { withheld: calls, reason }: Spent): Outcome {
  if (reason === null) return outcome;
  const said = `${reason}: ${calls} calls were not sent`;
  if (outcome.status === 'answered') return { ...outcome, decisions: [...outcome.decisions, said] };
  return { status: 'abstained', reason: `${said}; ${outcome.reason}`, candidates: outcome.candidates };
}
